// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Keys} from "../../src/account/Keys.sol";
import {Owners} from "../../src/account/Owners.sol";
import {Signatures} from "../../src/account/Signatures.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";

contract ChangeOwnersTest is AccountFixture {
    function testFuzz_refusesEveryoneElse(address caller) public {
        vm.assume(caller != EP07 && caller != EP08 && caller != EP09 && caller != address(account));
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, caller));
        vm.prank(caller);
        account.changeOwners(_list(_add(_p256(SECOND_KEY))));
    }

    function test_leavesTheSequenceOfSignedChanges() public {
        _make(_add(_p256(SECOND_KEY)));
        vm.assertEq(account.accountSettings().sequence, 0);
    }

    function test_refusesToRemoveTheLastOwner() public {
        _refuse(_list(_remove(_p256(KEY))), abi.encodeWithSelector(Owners.InvalidOwners.selector, 0, 1));
    }

    /// @notice Nobody may be locked out by the passing of time.
    function test_anOwnerWithAnExpiryDoesNotCount() public {
        Owners.Change memory temporary =
            _change(Owners.ChangeKind.AddOwner, _p256(SECOND_KEY), vm.getBlockTimestamp() + 9);
        bytes memory none = abi.encodeWithSelector(Owners.InvalidOwners.selector, 0, 1);
        _refuse(_list(temporary, _remove(_p256(KEY))), none);
        bytes memory one = abi.encodeWithSelector(Owners.InvalidOwners.selector, 1, 2);
        _refuse(_list(temporary, _threshold(2)), one);
    }

    function test_anOwnerWithAnExpiryGoesWithoutTheCount() public {
        _make(_change(Owners.ChangeKind.AddOwner, _p256(SECOND_KEY), vm.getBlockTimestamp() + 9));
        _make(_remove(_p256(SECOND_KEY)));
        vm.assertFalse(_isOwner(_p256(SECOND_KEY)));
        vm.assertEq(account.accountSettings().owners, 1);
    }

    /// @notice Later times are ranges of blocks for EntryPoint v0.9.
    function test_anExpiryHas47Bits() public {
        uint256 latest = 2 ** 47 - 1;
        _make(_change(Owners.ChangeKind.AddOwner, _p256(SECOND_KEY), latest));
        Owners.ChangeKind kind = Owners.ChangeKind.AddOwner;
        bytes memory reason = abi.encodeWithSelector(Owners.InvalidValue.selector, kind, latest + 1);
        _refuse(_list(_change(kind, _p256(SECOND_KEY), latest + 1)), reason);
    }

    function test_anOwnerMayGetAndLoseAnExpiry() public {
        _make(_add(_p256(SECOND_KEY)));
        _make(_change(Owners.ChangeKind.AddOwner, _p256(SECOND_KEY), 77));
        vm.assertEq(account.accountSettings().owners, 1);
        (bool owner, uint48 expiry,) = account.keyState(keccak256(_p256(SECOND_KEY)));
        vm.assertTrue(owner && expiry == 77);
        _make(_add(_p256(SECOND_KEY)));
        vm.assertEq(account.accountSettings().owners, 2);
        _make(_add(_p256(SECOND_KEY)));
        vm.assertEq(account.accountSettings().owners, 2);
    }

    function test_thePrimaryKeyHasNoExpiry() public {
        bytes memory reason = abi.encodeWithSelector(Owners.AlreadyPrimary.selector, keccak256(_p256(KEY)));
        _refuse(_list(_change(Owners.ChangeKind.AddOwner, _p256(KEY), 77)), reason);
        _refuse(_list(_add(_p256(KEY))), reason);
        _refuse(_list(_primary(_p256(KEY))), reason);
    }

    function test_refusesToLowerTheOwnersBelowTheThreshold() public {
        _makeTwo();
        bytes memory reason = abi.encodeWithSelector(Owners.InvalidOwners.selector, 1, 2);
        _refuse(_list(_remove(_p256(SECOND_KEY))), reason);
        _refuse(_list(_remove(_p256(KEY))), reason);
        _make(_list(_threshold(1), _remove(_p256(SECOND_KEY))));
    }

    function test_aThresholdIsOneOrTwo() public {
        uint256[3] memory bad = [uint256(0), 3, 258];
        for (uint256 i = 0; i < bad.length; ++i) {
            Owners.ChangeKind kind = Owners.ChangeKind.SetThreshold;
            _refuse(_list(_threshold(bad[i])), abi.encodeWithSelector(Owners.InvalidValue.selector, kind, bad[i]));
        }
        _refuse(_list(_threshold(2)), abi.encodeWithSelector(Owners.InvalidOwners.selector, 1, 2));
    }

    function test_refusesToRemoveWhomItDoesNotKnow() public {
        bytes32 keyId = keccak256(_p256(OTHER_KEY));
        _refuse(_list(_remove(_p256(OTHER_KEY))), abi.encodeWithSelector(Owners.NotOwner.selector, keyId));
    }

    function test_removesAnOwner() public {
        _make(_add(_p256(SECOND_KEY)));
        vm.expectEmit(true, true, true, true, address(account));
        emit Owners.OwnerRemoved(keccak256(_p256(SECOND_KEY)));
        _make(_remove(_p256(SECOND_KEY)));
        vm.assertFalse(_isOwner(_p256(SECOND_KEY)));
        vm.assertEq(_validate(_named(SECOND_KEY, OP_HASH)), 1);
    }

    function test_theOldPrimaryKeyStaysAnOwner() public {
        _make(_list(_add(_p256(SECOND_KEY)), _primary(_p256(SECOND_KEY))));
        _expectPrimary(SECOND_KEY);
        vm.assertEq(_validate(_sign(SECOND_KEY, OP_HASH)), 0);
        vm.assertEq(_validate(_sign(KEY, OP_HASH)), 1);
        vm.assertEq(_validate(_named(KEY, OP_HASH)), 0);
        vm.assertEq(_validate(_named(SECOND_KEY, OP_HASH)), 0);
        vm.assertEq(account.accountSettings().owners, 2);
    }

    function test_aRemovedPrimaryKeyLeavesItsPlace() public {
        (uint256 x, uint256 y) = vm.publicKeyP256(SECOND_KEY);
        vm.expectEmit(true, true, true, true, address(account));
        emit Keys.PublicKeyChanged(x, y);
        _make(_list(_add(_p256(SECOND_KEY)), _primary(_p256(SECOND_KEY)), _remove(_p256(KEY))));
        _expectPrimary(SECOND_KEY);
        vm.assertEq(_validate(_named(KEY, OP_HASH)), 1);
    }

    function test_withoutAPrimaryKeyThereAreZeros() public {
        vm.expectEmit(true, true, true, true, address(account));
        emit Keys.PublicKeyChanged(0, 0);
        _make(_list(_add(_wallet(WALLET_KEY)), _remove(_p256(KEY))));
        (uint256 x, uint256 y) = account.publicKey();
        vm.assertTrue(x == 0 && y == 0);
        vm.assertEq(_validate(_sign(KEY, OP_HASH)), 1);
        vm.assertEq(_validate(_named(KEY, OP_HASH)), 1);
        _make(_list(_add(_p256(SECOND_KEY)), _primary(_p256(SECOND_KEY))));
        _expectPrimary(SECOND_KEY);
    }

    function test_onlyAnOwnerOfP256CanBePrimary() public {
        bytes32 stranger = keccak256(_p256(OTHER_KEY));
        _refuse(_list(_primary(_p256(OTHER_KEY))), abi.encodeWithSelector(Owners.NotOwner.selector, stranger));
        bytes memory wallet = _wallet(WALLET_KEY);
        bytes memory reason = abi.encodeWithSelector(Owners.NotOwner.selector, keccak256(wallet));
        _refuse(_list(_add(wallet), _primary(wallet)), reason);
        Owners.Change memory temporary = _change(Owners.ChangeKind.AddOwner, _p256(OTHER_KEY), 99);
        reason = abi.encodeWithSelector(Owners.NotOwner.selector, stranger);
        _refuse(_list(temporary, _primary(_p256(OTHER_KEY))), reason);
    }

    function test_refusesWhoCanNeverSign() public {
        (uint256 x, uint256 y) = vm.publicKeyP256(OTHER_KEY);
        bytes[6] memory bad = [
            bytes(""),
            hex"aabbcc",
            abi.encodePacked(address(0)),
            abi.encodePacked(address(account)),
            abi.encode(x, y ^ 1),
            abi.encodePacked(address(0), "a key")
        ];
        for (uint256 i = 0; i < bad.length; ++i) {
            bytes memory reason = abi.encodeWithSelector(Signatures.InvalidSigner.selector, bad[i]);
            _refuse(_list(_add(bad[i])), reason);
            _refuse(_list(_guardian(bad[i])), reason);
        }
    }

    function test_guardiansComeAndGo() public {
        bytes memory guardian = _wallet(WALLET_KEY);
        vm.expectEmit(true, true, true, true, address(account));
        emit Owners.GuardianAdded(keccak256(guardian), guardian);
        _make(_guardian(guardian));
        vm.assertTrue(_isGuardianNow(guardian) && !_isOwner(guardian));
        bytes memory again = abi.encodeWithSelector(Owners.GuardianUnchanged.selector, keccak256(guardian));
        _refuse(_list(_guardian(guardian)), again);
        _make(_change(Owners.ChangeKind.RemoveGuardian, guardian, 0));
        vm.assertFalse(_isGuardianNow(guardian));
        _refuse(_list(_change(Owners.ChangeKind.RemoveGuardian, guardian, 0)), again);
        vm.assertEq(account.accountSettings().guardians, 0);
    }

    function test_aKeyMayBeOwnerAndGuardian() public {
        bytes memory both = _p256(SECOND_KEY);
        _make(_list(_guardian(both), _add(both)));
        _make(_remove(both));
        vm.assertTrue(_isGuardianNow(both) && !_isOwner(both));
        _make(_list(_add(both), _change(Owners.ChangeKind.RemoveGuardian, both, 0)));
        vm.assertTrue(!_isGuardianNow(both) && _isOwner(both));
    }

    function test_aQuorumNeedsItsGuardians() public {
        _refuse(_list(_quorum(1)), abi.encodeWithSelector(Owners.InvalidQuorum.selector, 0, 1));
        _make(_list(_guardian(_wallet(WALLET_KEY)), _quorum(1)));
        Owners.Change memory removal = _change(Owners.ChangeKind.RemoveGuardian, _wallet(WALLET_KEY), 0);
        _refuse(_list(removal), abi.encodeWithSelector(Owners.InvalidQuorum.selector, 0, 1));
        _make(_list(removal, _quorum(0)));
    }

    function test_thereAreAtMost32Guardians() public {
        Owners.Change[] memory changes = new Owners.Change[](32);
        for (uint256 i = 0; i < 32; ++i) {
            changes[i] = _guardian(abi.encodePacked(address(uint160(100 + i))));
        }
        _make(changes);
        _make(_quorum(32));
        Owners.ChangeKind kind = Owners.ChangeKind.SetQuorum;
        _refuse(_list(_quorum(33)), abi.encodeWithSelector(Owners.InvalidValue.selector, kind, 33));
        kind = Owners.ChangeKind.AddGuardian;
        bytes memory reason = abi.encodeWithSelector(Owners.InvalidValue.selector, kind, 33);
        _refuse(_list(_guardian(_wallet(WALLET_KEY))), reason);
    }

    function testFuzz_theDelayIsBetweenAnHourAndNinetyDays(uint256 delay) public {
        _setDelay(delay % (100 days));
        _setDelay(1 hours - 1);
        _setDelay(1 hours);
        _setDelay(90 days);
        _setDelay(90 days + 1);
    }

    function _setDelay(uint256 delay) private {
        Owners.ChangeKind kind = Owners.ChangeKind.SetDelay;
        Owners.Change[] memory changes = _list(_change(kind, "", delay));
        bool bad = delay < 1 hours || delay > 90 days;
        if (bad) return _refuse(changes, abi.encodeWithSelector(Owners.InvalidValue.selector, kind, delay));
        _make(changes);
        vm.assertEq(account.accountSettings().delay, delay);
    }

    function test_theDelayIsThreeDaysAtFirst() public {
        vm.assertEq(account.accountSettings().delay, 3 days);
        vm.expectEmit(true, true, true, true, address(account));
        emit Owners.RecoveryTermsChanged(0, 1 days);
        _make(_change(Owners.ChangeKind.SetDelay, "", 1 days));
        _make(_change(Owners.ChangeKind.SetDelay, "", 3 days));
        vm.assertEq(account.accountSettings().delay, 3 days);
    }

    /// @notice What is stored while two must sign is never a point, so no plain signature can count.
    function testFuzz_theComplementIsNeverAPoint(uint256 key) public {
        key = key % (P256_N - 1) + 1;
        vm.assume(key != SECOND_KEY);
        (uint256 x, uint256 y) = vm.publicKeyP256(key);
        account = VaultAccount(payable(factory.createAccount(x, y, 7)));
        _makeTwo();
        _expectPrimary(key);
        vm.assertEq(_validate(_sign(key, OP_HASH)), 1);
        vm.assertEq(_validate(_namedTwo(key, SECOND_KEY, OP_HASH)), 0);
        _make(_threshold(1));
        vm.assertEq(_validate(_sign(key, OP_HASH)), 0);
    }

    function _expectPrimary(uint256 key) private view {
        (uint256 x, uint256 y) = account.publicKey();
        vm.assertEq(abi.encode(x, y), _p256(key));
    }

    function _refuse(Owners.Change[] memory changes, bytes memory reason) private {
        vm.expectRevert(reason);
        vm.prank(address(account));
        account.changeOwners(changes);
    }
}
