// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Keys} from "../../src/account/Keys.sol";
import {Owners} from "../../src/account/Owners.sol";
import {Fixture} from "../utils/Fixture.sol";

import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";

contract SetPublicKeyTest is Fixture {
    uint256 private newX;
    uint256 private newY;

    function setUp() public override {
        super.setUp();
        (newX, newY) = vm.publicKeyP256(OTHER_KEY);
    }

    function test_handsTheAccountOver() public {
        bytes32 hash = keccak256("an operation");
        vm.expectEmit(true, true, true, true, address(account));
        emit Keys.PublicKeyChanged(newX, newY);
        vm.prank(EP07);
        account.execute(address(account), 0, abi.encodeCall(VaultAccount.setPublicKey, (newX, newY)));
        (uint256 x, uint256 y) = account.publicKey();
        vm.assertTrue(x == newX && y == newY);
        PackedUserOperation memory op;
        op.signature = _sign(KEY, hash);
        vm.prank(EP07);
        vm.assertEq(account.validateUserOp(op, hash, 0), 1);
        op.signature = _sign(OTHER_KEY, hash);
        vm.prank(EP07);
        vm.assertEq(account.validateUserOp(op, hash, 0), 0);
    }

    function test_refusesWhatIsNotOnTheCurve() public {
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidPublicKey.selector, newX, newY + 1));
        vm.prank(address(account));
        account.setPublicKey(newX, newY + 1);
    }

    function testFuzz_neverTakesYZero(uint256 x) public {
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidPublicKey.selector, x, 0));
        vm.prank(address(account));
        account.setPublicKey(x, 0);
    }

    function testFuzz_refusesEveryoneElse(address caller) public {
        vm.assume(caller != EP07 && caller != EP08 && caller != EP09 && caller != address(account));
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, caller));
        vm.prank(caller);
        account.setPublicKey(newX, newY);
    }
}
