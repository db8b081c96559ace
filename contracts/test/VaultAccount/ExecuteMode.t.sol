// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";
import {Execution} from "@openzeppelin/contracts/interfaces/draft-IERC7579.sol";
import {Target} from "../utils/Targets.sol";

/// @notice ERC-7821.
contract ExecuteModeTest is AccountFixture {
    bytes32 private constant BATCH = bytes32(hex"01000000000000000000");
    bytes32 private constant WITH_DATA = bytes32(hex"01000000000078210001");
    Target private target;

    function setUp() public override {
        super.setUp();
        target = new Target();
        vm.deal(address(account), 1 ether);
    }

    function test_makesEveryCall() public {
        Execution[] memory calls = new Execution[](2);
        calls[0] = Execution(address(target), 3, abi.encodeCall(Target.record, ()));
        calls[1] = Execution(bob, 4, "");
        vm.prank(EP07);
        account.execute(BATCH, abi.encode(calls));
        vm.assertEq(target.value(), 3);
        vm.assertEq(target.caller(), address(account));
        vm.assertEq(bob.balance, 4);
    }

    function test_zeroIsTheAccountItself() public {
        Execution[] memory calls = new Execution[](1);
        calls[0] = Execution(address(0), 0, abi.encodeCall(VaultAccount.changeOwners, (_list(_add(_p256(SECOND_KEY))))));
        vm.prank(EP07);
        account.execute(BATCH, abi.encode(calls));
        vm.assertTrue(_isOwner(_p256(SECOND_KEY)));
    }

    function test_isAllOrNothing() public {
        Execution[] memory calls = new Execution[](2);
        calls[0] = Execution(bob, 4, "");
        calls[1] = Execution(address(target), 0, abi.encodeCall(Target.refuse, (7)));
        bytes memory reason = abi.encodeWithSelector(Target.Refused.selector, 7);
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.CallFailed.selector, 1, reason));
        vm.prank(EP07);
        account.execute(BATCH, abi.encode(calls));
        vm.assertEq(bob.balance, 0);
    }

    function testFuzz_knowsOneMode(bytes32 mode) public {
        vm.assertTrue(account.supportsExecutionMode(BATCH));
        vm.assertFalse(account.supportsExecutionMode(WITH_DATA));
        vm.assume(bytes2(mode) != 0x0100);
        vm.assertFalse(account.supportsExecutionMode(mode));
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.UnsupportedExecutionMode.selector));
        vm.prank(EP07);
        account.execute(mode, abi.encode(new Execution[](0)));
    }

    function testFuzz_refusesEveryoneElse(address caller) public {
        vm.assume(caller != EP07 && caller != EP08 && caller != EP09 && caller != address(account));
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, caller));
        vm.prank(caller);
        account.execute(BATCH, abi.encode(new Execution[](0)));
    }
}
