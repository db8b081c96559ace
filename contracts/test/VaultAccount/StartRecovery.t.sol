// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Recovery} from "../../src/account/Recovery.sol";
import {Owners} from "../../src/account/Owners.sol";
import {Signatures} from "../../src/account/Signatures.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";

contract StartRecoveryTest is AccountFixture {
    bytes[] private newOwners;

    function setUp() public override {
        super.setUp();
        newOwners = _newOwners(_p256(THIRD_KEY));
    }

    function test_anyoneBringsWhatTheGuardiansSigned() public {
        _makeGuardian();
        uint48 readyAt = uint48(vm.getBlockTimestamp() + 3 days);
        vm.expectEmit(true, true, true, true, address(account));
        emit Recovery.RecoveryStarted(0, readyAt, newOwners);
        _startRecovery(GUARDIAN_KEY, newOwners);
        (uint48 ready, uint8 supporters, uint200 hash) = account.pendingRecovery();
        vm.assertTrue(ready == readyAt && supporters == 1);
        vm.assertEq(hash, uint200(uint256(keccak256(abi.encodePacked(keccak256(newOwners[0]))))));
        vm.assertEq(_nonce(), 1);
        vm.assertFalse(_isOwner(_p256(THIRD_KEY)));
    }

    function testFuzz_holdsOnEveryChain(uint64 chainId) public {
        vm.assume(chainId != 0);
        _makeGuardian();
        bytes memory signature = _named(GUARDIAN_KEY, _recoveryDigest(address(account), 0, newOwners));
        vm.chainId(chainId);
        account.startRecovery(newOwners, signature);
    }

    function test_needsTheQuorum() public {
        _makeTwoGuardians(2);
        bytes32 digest = _recoveryDigest(address(account), 0, newOwners);
        vm.expectRevert(abi.encodeWithSelector(Recovery.NoQuorum.selector, 1, 2));
        account.startRecovery(newOwners, _named(GUARDIAN_KEY, digest));
        bytes memory entry = _entry(_p256(GUARDIAN_KEY), _sign(GUARDIAN_KEY, digest));
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.startRecovery(newOwners, abi.encodePacked(uint256(2), entry, entry));
        account.startRecovery(newOwners, _namedTwo(GUARDIAN_KEY, SECOND_GUARDIAN_KEY, digest));
    }

    function test_thereIsNoneWithoutGuardians() public {
        vm.expectRevert(abi.encodeWithSelector(Recovery.NoQuorum.selector, 0, 0));
        account.startRecovery(newOwners, abi.encode(0));
        _make(_guardian(_p256(GUARDIAN_KEY)));
        bytes memory signature = _named(GUARDIAN_KEY, _recoveryDigest(address(account), 0, newOwners));
        vm.expectRevert(abi.encodeWithSelector(Recovery.NoQuorum.selector, 1, 0));
        account.startRecovery(newOwners, signature);
        vm.expectRevert();
        account.startRecovery(newOwners, "");
    }

    function test_refusesWhoIsNoGuardian() public {
        _makeGuardian();
        bytes32 digest = _recoveryDigest(address(account), 0, newOwners);
        uint256[2] memory keys = [OTHER_KEY, KEY];
        for (uint256 i = 0; i < keys.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
            account.startRecovery(newOwners, _named(keys[i], digest));
        }
    }

    function test_refusesOtherOwnersThanTheSigned() public {
        _makeGuardian();
        bytes memory signature = _named(GUARDIAN_KEY, _recoveryDigest(address(account), 0, newOwners));
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.startRecovery(_newOwners(_p256(OTHER_KEY)), signature);
    }

    function test_refusesAListThatCannotBeFinished() public {
        _makeGuardian();
        bytes[] memory twice = new bytes[](2);
        (twice[0], twice[1]) = (newOwners[0], newOwners[0]);
        _refuse(twice, abi.encodeWithSelector(Recovery.InvalidNewOwners.selector));
        _refuse(new bytes[](0), abi.encodeWithSelector(Recovery.InvalidNewOwners.selector));
        _refuse(new bytes[](17), abi.encodeWithSelector(Recovery.InvalidNewOwners.selector));
        _refuse(_newOwners("short"), abi.encodeWithSelector(Signatures.InvalidSigner.selector, bytes("short")));
    }

    function test_theSignatureStartsItOnce() public {
        _makeGuardian();
        bytes memory signature = _named(GUARDIAN_KEY, _recoveryDigest(address(account), 0, newOwners));
        account.startRecovery(newOwners, signature);
        vm.warp(vm.getBlockTimestamp() + 1 days);
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.startRecovery(newOwners, signature);
    }

    function test_moreGuardiansReplaceIt() public {
        _makeTwoGuardians(1);
        _startRecovery(GUARDIAN_KEY, newOwners);
        vm.warp(vm.getBlockTimestamp() + 1 days);
        bytes[] memory other = _newOwners(_p256(OTHER_KEY));
        bytes32 digest = _recoveryDigest(address(account), 1, other);
        account.startRecovery(other, _namedTwo(GUARDIAN_KEY, SECOND_GUARDIAN_KEY, digest));
        (uint48 readyAt,, uint200 hash) = account.pendingRecovery();
        vm.assertEq(readyAt, vm.getBlockTimestamp() + 3 days);
        vm.assertEq(hash, uint200(uint256(keccak256(abi.encodePacked(keccak256(other[0]))))));
    }

    /// @notice A stolen guardian must not replace what the others started.
    function test_fewerGuardiansDoNot() public {
        _makeTwoGuardians(1);
        bytes32 digest = _recoveryDigest(address(account), 0, newOwners);
        account.startRecovery(newOwners, _namedTwo(GUARDIAN_KEY, SECOND_GUARDIAN_KEY, digest));
        _refuseAnother(GUARDIAN_KEY, 2);
    }

    /// @notice Else two guardians, each of them a quorum, could replace each other's recovery without end.
    function test_asManyGuardiansDoNot() public {
        _makeTwoGuardians(1);
        _startRecovery(GUARDIAN_KEY, newOwners);
        _refuseAnother(SECOND_GUARDIAN_KEY, 1);
        _refuseAnother(GUARDIAN_KEY, 1);
        vm.warp(vm.getBlockTimestamp() + 3 days);
        _refuseAnother(SECOND_GUARDIAN_KEY, 1);
        account.finishRecovery(newOwners);
        _startRecovery(SECOND_GUARDIAN_KEY, _newOwners(_p256(OTHER_KEY)));
    }

    function _refuseAnother(uint256 guardian, uint8 supporters) private {
        bytes[] memory other = _newOwners(_p256(OTHER_KEY));
        bytes memory signature = _named(guardian, _recoveryDigest(address(account), 1, other));
        vm.expectRevert(abi.encodeWithSelector(Recovery.RecoveryUnderWay.selector, supporters));
        account.startRecovery(other, signature);
    }

    function test_aGuardianMayBeAnAddress() public {
        _make(_list(_guardian(_wallet(WALLET_KEY)), _quorum(1)));
        bytes32 digest = _recoveryDigest(address(account), 0, newOwners);
        account.startRecovery(newOwners, _named(_wallet(WALLET_KEY), _walletSign(WALLET_KEY, digest)));
    }

    function _makeTwoGuardians(uint256 quorum) private {
        _make(_list(_guardian(_p256(GUARDIAN_KEY)), _guardian(_p256(SECOND_GUARDIAN_KEY)), _quorum(quorum)));
    }

    function _refuse(bytes[] memory list, bytes memory reason) private {
        vm.expectRevert(reason);
        account.startRecovery(list, "");
    }
}
