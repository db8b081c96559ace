// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Execution} from "@openzeppelin/contracts/interfaces/draft-IERC7579.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {Fixture} from "../utils/Fixture.sol";

import {Target} from "../utils/Targets.sol";

contract ExecuteBatchTest is Fixture {
    Target private target;

    function setUp() public override {
        super.setUp();
        target = new Target();
        vm.deal(address(account), 1 ether);
    }

    function testFuzz_makesEveryCall(uint8 count) public {
        Execution[] memory calls = new Execution[](count % 16);
        for (uint256 i = 0; i < calls.length; ++i) {
            calls[i] = _call(i, abi.encodeCall(Target.record, ()));
        }
        vm.prank(EP08);
        account.executeBatch(calls);
        vm.assertEq(target.calls(), calls.length);
        if (calls.length > 0) {
            vm.assertEq(target.value(), calls.length - 1);
            vm.assertEq(target.caller(), address(account));
        }
    }

    function test_isAllOrNothingAndNamesTheCall() public {
        Execution[] memory calls = new Execution[](3);
        calls[0] = _call(1, abi.encodeCall(Target.record, ()));
        calls[1] = _call(0, abi.encodeCall(Target.refuse, (7)));
        calls[2] = _call(1, abi.encodeCall(Target.record, ()));
        bytes memory reason = abi.encodeWithSelector(Target.Refused.selector, 7);
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.CallFailed.selector, 1, reason));
        vm.prank(EP07);
        account.executeBatch(calls);
        vm.assertEq(target.calls(), 0);
        vm.assertEq(address(account).balance, 1 ether);
    }

    function test_theAccountItselfMay() public {
        vm.prank(address(account));
        account.executeBatch(new Execution[](0));
    }

    function testFuzz_refusesEveryoneElse(address caller) public {
        vm.assume(caller != EP07 && caller != EP08 && caller != EP09 && caller != address(account));
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, caller));
        vm.prank(caller);
        account.executeBatch(new Execution[](0));
    }

    function _call(uint256 value, bytes memory data) private view returns (Execution memory) {
        return Execution({target: address(target), value: value, callData: data});
    }
}
