// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Keys} from "../../src/account/Keys.sol";
import {Owners} from "../../src/account/Owners.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";

import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";

contract SetPublicKeyTest is AccountFixture {
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

    function test_refusesThePrimaryKey() public {
        vm.expectRevert(abi.encodeWithSelector(Owners.AlreadyPrimary.selector, keccak256(_p256(KEY))));
        _set(KEY);
    }

    /// @notice Whatever the key was before, it is one owner while it is primary, and none once another replaces it.
    function test_anOwnerBecomesPrimary() public {
        uint256[2] memory expiries = [uint256(0), vm.getBlockTimestamp() + 9];
        for (uint256 i = 0; i < expiries.length; ++i) {
            _make(_change(Owners.ChangeKind.AddOwner, _p256(SECOND_KEY), expiries[i]));
            _set(SECOND_KEY);
            (bool owner, uint48 expiry,) = account.keyState(keccak256(_p256(SECOND_KEY)));
            vm.assertTrue(owner && expiry == 0);
            vm.assertEq(account.accountSettings().owners, 1);
            _set(KEY);
            vm.assertFalse(_isOwner(_p256(SECOND_KEY)));
            vm.assertEq(account.accountSettings().owners, 1);
        }
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

    function _set(uint256 key) private {
        (uint256 x, uint256 y) = vm.publicKeyP256(key);
        vm.prank(address(account));
        account.setPublicKey(x, y);
    }
}
