// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {Domain} from "./Domain.sol";
import {Keys} from "./Keys.sol";
import {SettingsWord} from "./Settings.sol";
import {Signatures} from "./Signatures.sol";

/// @title Changes of owners and guardians
/// @notice An owner signs a list of changes once, for every chain: the digest has no chain ID, and a separate sequence.
/// Anyone may bring it to a chain.
abstract contract Owners is Keys, Domain {
    using SettingsWord for uint256;

    /// @notice What a change does; `signer` and `value` of a change that does not mention them are ignored, but signed.
    /// @dev AddOwner: `signer` owns the account until `value` (Unix time, zero for always); an owner gets that expiry.
    /// RemoveOwner: `signer` owns it no longer; if it was the primary key, no key is primary until SetPrimary.
    /// SetPrimary: `signer`, a P-256 owner without expiry, is the primary key; the one before stays an owner.
    /// SetThreshold: `value` owners must sign, 1 or 2. AddGuardian, RemoveGuardian: `signer`. SetQuorum: `value` guardians
    /// must sign to start a recovery; zero: none can be started. SetDelay: a recovery takes `value` seconds.
    enum ChangeKind {
        AddOwner,
        RemoveOwner,
        SetPrimary,
        SetThreshold,
        AddGuardian,
        RemoveGuardian,
        SetQuorum,
        SetDelay
    }

    /// @notice One change.
    /// @param kind What it does.
    /// @param signer The owner or guardian whom it is about.
    /// @param value Expiry, number or seconds.
    struct Change {
        ChangeKind kind;
        bytes signer;
        uint256 value;
    }

    /// @notice Changes that were signed.
    /// @param changes The changes in their order.
    /// @param signature As many owners' as must sign, over `changesDigest`.
    struct SignedChanges {
        Change[] changes;
        bytes signature;
    }

    /// @notice The coordinates are not a point of P-256.
    /// @param pubKeyX X as given.
    /// @param pubKeyY Y as given.
    error InvalidPublicKey(uint256 pubKeyX, uint256 pubKeyY);

    /// @notice The signature is not that of the keys whose it must be.
    error InvalidSignature();

    /// @notice These changes were signed for another place in the sequence.
    /// @param expected The sequence of the next changes on this chain.
    /// @param given The sequence of these.
    error WrongSequence(uint64 expected, uint64 given);

    /// @notice The key is not an owner, or it cannot be primary: not a P-256 key, or with an expiry.
    /// @param keyId The key.
    error NotOwner(bytes32 keyId);

    /// @notice The primary key is an owner already, and has no expiry.
    /// @param keyId The key.
    error AlreadyPrimary(bytes32 keyId);

    /// @notice A guardian to add is one already, or one to remove is not a guardian.
    /// @param keyId The key.
    error GuardianUnchanged(bytes32 keyId);

    /// @notice A number is outside its bounds.
    /// @param kind The change.
    /// @param value The number.
    error InvalidValue(ChangeKind kind, uint256 value);

    /// @notice Too few owners without an expiry would remain.
    /// @param owners Owners without an expiry after the changes.
    /// @param threshold Owners who must sign after the changes.
    error InvalidOwners(uint16 owners, uint8 threshold);

    /// @notice Fewer guardians would remain than must sign.
    /// @param guardians Guardians after the changes.
    /// @param quorum Guardians who must sign after the changes.
    error InvalidQuorum(uint8 guardians, uint8 quorum);

    /// @notice A key owns the account from now on, or has another expiry.
    /// @param keyId Keccak-256 of the signer.
    /// @param signer The signer's bytes.
    /// @param expiry Unix time after which it is no longer an owner, or zero for never.
    event OwnerAdded(bytes32 indexed keyId, bytes signer, uint48 expiry);

    /// @notice A key owns the account no longer.
    /// @param keyId Keccak-256 of the signer.
    event OwnerRemoved(bytes32 indexed keyId);

    /// @notice Another number of owners must sign.
    /// @param threshold 1 or 2.
    event ThresholdChanged(uint8 threshold);

    /// @notice A key is a guardian from now on.
    /// @param keyId Keccak-256 of the signer.
    /// @param signer The signer's bytes.
    event GuardianAdded(bytes32 indexed keyId, bytes signer);

    /// @notice A key is a guardian no longer.
    /// @param keyId Keccak-256 of the signer.
    event GuardianRemoved(bytes32 indexed keyId);

    /// @notice Recovery has other terms from now on; a recovery that was started before keeps its own.
    /// @param quorum Guardians who must sign.
    /// @param delay Seconds from start to finish.
    event RecoveryTermsChanged(uint8 quorum, uint32 delay);

    uint256 private constant MAX_GUARDIANS = 32;
    uint256 private constant MIN_DELAY = 1 hours;
    uint256 private constant MAX_DELAY = 90 days;
    /// @dev EntryPoint v0.9 reads a validity with the highest bit as a range of blocks.
    uint256 internal constant MAX_TIME = type(uint48).max >> 1;
    bytes32 private constant CHANGE_TYPEHASH = keccak256("Change(uint8 kind,bytes signer,uint256 value)");
    bytes32 private constant CHANGES_TYPEHASH =
        keccak256("OwnerChanges(uint64 sequence,Change[] changes)Change(uint8 kind,bytes signer,uint256 value)");

    /// @notice Applies changes that as many owners signed as must. Anyone may call it, on every chain.
    /// @dev It asks for the time only if an owner who signed has an expiry, so a factory may call it while an operation is
    /// validated (ERC-7562). Its selector is the lowest of all functions, so it is found first.
    /// @param sequence The sequence for which they were signed: `accountSettings().sequence`.
    /// @param changes The changes in their order.
    /// @param signature The owners' signature over `changesDigest(sequence, changes)`.
    function applyChangesEverywhere(uint64 sequence, Change[] calldata changes, bytes calldata signature) external {
        uint256 settings = _settings;
        if (sequence != settings.sequence()) revert WrongSequence(settings.sequence(), sequence);
        bytes32 digest = changesDigest(sequence, changes);
        if (_authorityNow(settings, digest, signature) != Authority.Full) revert InvalidSignature();
        _apply(settings.withNextSequence(), changes);
    }

    /// @notice The digest that owners sign for `applyChangesEverywhere`: EIP-712
    /// `OwnerChanges(uint64 sequence,Change[] changes)` with `Change(uint8 kind,bytes signer,uint256 value)` in the
    /// account's domain without `chainId`.
    /// @param sequence The sequence.
    /// @param changes The changes in their order.
    /// @return digest The digest to sign.
    function changesDigest(uint64 sequence, Change[] calldata changes) public view returns (bytes32 digest) {
        bytes memory hashes;
        for (uint256 i = 0; i < changes.length; ++i) {
            Change calldata change = changes[i];
            bytes memory encoded =
                abi.encode(CHANGE_TYPEHASH, change.kind, Signatures.idOf(change.signer), change.value);
            hashes = bytes.concat(hashes, keccak256(encoded));
        }
        return _digestEverywhere(keccak256(abi.encode(CHANGES_TYPEHASH, sequence, keccak256(hashes))));
    }

    /// @dev Applies changes and stores the settings, unless the account would obey too few.
    function _apply(uint256 settings, Change[] calldata changes) internal {
        for (uint256 i = 0; i < changes.length; ++i) {
            settings = _applyOne(settings, changes[i]);
        }
        _store(settings);
    }

    /// @dev Stores the settings, if the account still has its owners.
    function _store(uint256 settings) internal {
        (uint16 owners, uint8 threshold) = (settings.owners(), settings.threshold());
        if (owners < threshold) revert InvalidOwners(owners, threshold);
        (uint8 guardians, uint8 quorum) = (settings.guardians(), settings.quorum());
        if (guardians < quorum) revert InvalidQuorum(guardians, quorum);
        _settings = settings;
    }

    /// @dev Replaces the primary key, which is then no longer an owner.
    function _replacePrimary(uint256 x, uint256 y) internal {
        if (!P256.isValidPublicKey(bytes32(x), bytes32(y))) revert InvalidPublicKey(x, y);
        uint256 settings = _settings;
        (bytes32 before, bytes32 next) = (_primary(settings), Signatures.idOf(bytes32(x), bytes32(y)));
        if (before == next) revert AlreadyPrimary(next);
        (bool owner, uint48 expiry) = _ownership(next, settings);
        if (!owner || expiry != 0) {
            settings = settings.withOwners(settings.owners() + 1);
            emit OwnerAdded(next, abi.encode(x, y), 0);
        }
        if (before != 0) {
            settings = settings.withOwners(settings.owners() - 1);
            emit OwnerRemoved(before);
        }
        _deleteOwner(next);
        _store(_setPrimary(settings, x, y));
    }

    /// @dev Adds an owner who is not one yet; the first P-256 key becomes primary if `vacant`.
    function _found(uint256 settings, bytes calldata signer, bool vacant)
        internal
        returns (uint256 changed, bool stillVacant)
    {
        Signatures.check(signer);
        bytes32 keyId = Signatures.idOf(signer);
        settings = settings.withOwners(settings.owners() + 1);
        emit OwnerAdded(keyId, signer, 0);
        if (!vacant || signer.length != Signatures.P256_LENGTH) {
            _writeOwner(keyId, 0, settings);
            return (settings, vacant);
        }
        return (_setPrimary(settings, uint256(bytes32(signer)), uint256(bytes32(signer[32:]))), false);
    }

    function _setPrimary(uint256 settings, uint256 x, uint256 y) internal returns (uint256 changed) {
        emit PublicKeyChanged(x, y);
        return _writePrimary(settings, x, y);
    }

    function _applyOne(uint256 settings, Change calldata change) private returns (uint256 changed) {
        ChangeKind kind = change.kind;
        if (kind == ChangeKind.AddOwner) return _addOwner(settings, change.signer, change.value);
        if (kind == ChangeKind.RemoveOwner) return _removeOwner(settings, Signatures.idOf(change.signer));
        if (kind == ChangeKind.SetPrimary) return _choosePrimary(settings, change.signer);
        if (kind == ChangeKind.SetThreshold) return _setThreshold(settings, change.value);
        if (kind == ChangeKind.AddGuardian) return _addGuardian(settings, change.signer);
        if (kind == ChangeKind.RemoveGuardian) return _removeGuardian(settings, Signatures.idOf(change.signer));
        return _setTerms(settings, kind, change.value);
    }

    function _addOwner(uint256 settings, bytes calldata signer, uint256 expiry) private returns (uint256 changed) {
        Signatures.check(signer);
        if (expiry > MAX_TIME) revert InvalidValue(ChangeKind.AddOwner, expiry);
        bytes32 keyId = Signatures.idOf(signer);
        // forge-lint: disable-next-line(unsafe-typecast)
        (bool owner, uint48 before) = _writeOwner(keyId, uint48(expiry), settings);
        uint16 owners = settings.owners();
        if (owner && before == 0) {
            if (keyId == _primary(settings)) revert AlreadyPrimary(keyId);
            --owners;
        }
        if (expiry == 0) ++owners;
        // forge-lint: disable-next-line(unsafe-typecast)
        emit OwnerAdded(keyId, signer, uint48(expiry));
        return settings.withOwners(owners);
    }

    function _removeOwner(uint256 settings, bytes32 keyId) private returns (uint256 changed) {
        (bool owner, uint48 expiry) = _ownership(keyId, settings);
        if (!owner) revert NotOwner(keyId);
        if (expiry == 0) settings = settings.withOwners(settings.owners() - 1);
        emit OwnerRemoved(keyId);
        if (keyId == _primary(settings)) return _setPrimary(settings, 0, 0);
        _deleteOwner(keyId);
        return settings;
    }

    function _choosePrimary(uint256 settings, bytes calldata signer) private returns (uint256 changed) {
        (bytes32 before, bytes32 next) = (_primary(settings), Signatures.idOf(signer));
        if (before == next) revert AlreadyPrimary(next);
        (bool owner, uint48 expiry) = _ownership(next, settings);
        if (!owner || expiry != 0 || signer.length != Signatures.P256_LENGTH) revert NotOwner(next);
        if (before != 0) _writeOwner(before, 0, settings);
        _deleteOwner(next);
        return _setPrimary(settings, uint256(bytes32(signer)), uint256(bytes32(signer[32:])));
    }

    function _setThreshold(uint256 settings, uint256 threshold) private returns (uint256 changed) {
        if (threshold != 1 && threshold != 2) revert InvalidValue(ChangeKind.SetThreshold, threshold);
        // forge-lint: disable-next-line(unsafe-typecast)
        emit ThresholdChanged(uint8(threshold));
        // forge-lint: disable-next-line(unsafe-typecast)
        return settings.withThreshold(uint8(threshold));
    }

    function _addGuardian(uint256 settings, bytes calldata signer) private returns (uint256 changed) {
        Signatures.check(signer);
        bytes32 keyId = Signatures.idOf(signer);
        if (_isGuardian(keyId)) revert GuardianUnchanged(keyId);
        uint8 guardians = settings.guardians();
        if (guardians == MAX_GUARDIANS) revert InvalidValue(ChangeKind.AddGuardian, MAX_GUARDIANS + 1);
        _writeGuardian(keyId, true);
        emit GuardianAdded(keyId, signer);
        return settings.withGuardians(guardians + 1);
    }

    function _removeGuardian(uint256 settings, bytes32 keyId) private returns (uint256 changed) {
        if (!_isGuardian(keyId)) revert GuardianUnchanged(keyId);
        _writeGuardian(keyId, false);
        emit GuardianRemoved(keyId);
        return settings.withGuardians(settings.guardians() - 1);
    }

    function _setTerms(uint256 settings, ChangeKind kind, uint256 value) private returns (uint256 changed) {
        bool quorum = kind == ChangeKind.SetQuorum;
        bool bad = quorum ? value > MAX_GUARDIANS : value < MIN_DELAY || value > MAX_DELAY;
        if (bad) revert InvalidValue(kind, value);
        // forge-lint: disable-next-line(unsafe-typecast)
        changed = quorum ? settings.withQuorum(uint8(value)) : settings.withDelay(uint32(value));
        emit RecoveryTermsChanged(changed.quorum(), changed.delay());
    }
}
