// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Recovery} from "../../src/account/Recovery.sol";
import {Owners} from "../../src/account/Owners.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";

/// @notice `cancelRecovery` and `cancelRecoverySigned`.
contract CancelRecoveryTest is AccountFixture {
    bytes[] private newOwners;
    bytes private call;

    function setUp() public override {
        super.setUp();
        newOwners = _newOwners(_p256(THIRD_KEY));
        call = abi.encodeCall(VaultAccount.cancelRecovery, ());
        _makeGuardian();
        _startRecovery(GUARDIAN_KEY, newOwners);
    }

    function test_theAccountMay() public {
        vm.expectEmit(true, true, true, true, address(account));
        emit Recovery.RecoveryCancelled(1);
        vm.prank(EP08);
        account.cancelRecovery();
        _expectCancelled();
        vm.assertEq(_nonce(), 2);
    }

    function test_anyoneBringsAnOwnersSignature() public {
        bytes memory signature = _sign(KEY, _cancelDigest(address(account), 1));
        vm.prank(mallory);
        account.cancelRecoverySigned(signature);
        _expectCancelled();
    }

    function testFuzz_theSignatureHoldsOnEveryChain(uint64 chainId) public {
        vm.assume(chainId != 0);
        bytes memory signature = _sign(KEY, _cancelDigest(address(account), 1));
        vm.chainId(chainId);
        account.cancelRecoverySigned(signature);
    }

    function test_theSignatureCancelsOnce() public {
        bytes memory signature = _sign(KEY, _cancelDigest(address(account), 1));
        account.cancelRecoverySigned(signature);
        _startRecovery(GUARDIAN_KEY, newOwners);
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.cancelRecoverySigned(signature);
    }

    function test_oneOwnerSufficesWhereTwoMustSign() public {
        _make(_list(_add(_p256(SECOND_KEY)), _add(_wallet(WALLET_KEY)), _threshold(2)));
        vm.assertEq(_validate(call, _named(SECOND_KEY, OP_HASH), true, keccak256(_p256(SECOND_KEY))), 0);
        vm.assertEq(_validate(call, _named(KEY, OP_HASH), true, keccak256(_p256(KEY))), 0);
        vm.prank(vm.addr(WALLET_KEY));
        account.cancelRecovery();
        _expectCancelled();
        _startRecovery(GUARDIAN_KEY, newOwners);
        account.cancelRecoverySigned(_named(SECOND_KEY, _cancelDigest(address(account), _nonce())));
        _expectCancelled();
    }

    /// @notice A thief of one of two keys must not burn the account's coin as gas, nor use up the nonces of the owners.
    function test_thatOwnersOperationNeedsAPaymasterAndItsOwnNonces() public {
        _makeTwo();
        bytes32 id = keccak256(_p256(SECOND_KEY));
        vm.assertEq(_validate(call, _named(SECOND_KEY, OP_HASH), false, id), 1);
        vm.assertEq(_validate(call, _named(SECOND_KEY, OP_HASH), true), 1);
        vm.assertEq(_validate(call, _named(SECOND_KEY, OP_HASH), true, keccak256(_p256(KEY))), 1);
    }

    function test_nobodyElseMay() public {
        uint256[2] memory keys = [GUARDIAN_KEY, OTHER_KEY];
        for (uint256 i = 0; i < keys.length; ++i) {
            bytes memory signature = _named(keys[i], _cancelDigest(address(account), 1));
            vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
            account.cancelRecoverySigned(signature);
            vm.assertEq(_validate(call, _named(keys[i], OP_HASH), true, keccak256(_p256(keys[i]))), 1);
        }
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, mallory));
        vm.prank(mallory);
        account.cancelRecovery();
    }

    function test_anExpiredOwnerMayNot() public {
        _make(_change(Owners.ChangeKind.AddOwner, _wallet(WALLET_KEY), vm.getBlockTimestamp()));
        bytes32 digest = _cancelDigest(address(account), 1);
        bytes memory signature = _named(_wallet(WALLET_KEY), _walletSign(WALLET_KEY, digest));
        vm.warp(vm.getBlockTimestamp() + 1);
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.cancelRecoverySigned(signature);
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, vm.addr(WALLET_KEY)));
        vm.prank(vm.addr(WALLET_KEY));
        account.cancelRecovery();
    }

    function test_thereMustBeOne() public {
        vm.prank(EP07);
        account.cancelRecovery();
        vm.expectRevert(abi.encodeWithSelector(Recovery.NoRecovery.selector));
        vm.prank(EP07);
        account.cancelRecovery();
    }

    /// @notice Also what guardians signed but no one brought yet is void.
    function test_voidsWhatWasSignedForItsPlace() public {
        bytes memory signature = _named(GUARDIAN_KEY, _recoveryDigest(address(account), 1, newOwners));
        vm.prank(EP07);
        account.cancelRecovery();
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.startRecovery(newOwners, signature);
    }

    function _expectCancelled() private {
        (uint48 readyAt,,) = account.pendingRecovery();
        vm.assertEq(readyAt, 0);
        vm.warp(vm.getBlockTimestamp() + 4 days);
        vm.expectRevert(abi.encodeWithSelector(Recovery.NoRecovery.selector));
        account.finishRecovery(newOwners);
    }
}
