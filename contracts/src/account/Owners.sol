// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {Domain} from "./Domain.sol";
import {Keys} from "./Keys.sol";
import {Settings, SettingsWord} from "./Settings.sol";
import {Signatures} from "./Signatures.sol";

/// @title Changes of owners and guardians
/// @notice An owner signs a list of changes once, for every chain: the digest has no chain ID, and a separate sequence.
/// Anyone may bring it to a chain.
abstract contract Owners is Keys, Domain {
    using SettingsWord for uint256;
    using SettingsWord for Settings;

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
    /// validated (ERC-7562).
    /// @param sequence The sequence for which they were signed: `accountSettings().sequence`.
    /// @param changes The changes in their order.
    /// @param signature The owners' signature over `changesDigest(sequence, changes)`.
    function applyChanges(uint64 sequence, Change[] calldata changes, bytes calldata signature) external {
        Settings memory settings = _settings.unpack();
        if (sequence != settings.sequence) revert WrongSequence(settings.sequence, sequence);
        if (_authorityNow(changesDigest(sequence, changes), signature) != Authority.Full) revert InvalidSignature();
        ++settings.sequence;
        _apply(settings, changes);
    }

    /// @notice The digest that owners sign for `applyChanges`: EIP-712 `OwnerChanges(uint64 sequence,Change[] changes)` with
    /// `Change(uint8 kind,bytes signer,uint256 value)` in the account's domain without `chainId`.
    /// @param sequence The sequence.
    /// @param changes The changes in their order.
    /// @return digest The digest to sign.
    function changesDigest(uint64 sequence, Change[] calldata changes) public view returns (bytes32 digest) {
        bytes32[] memory hashes = new bytes32[](changes.length);
        for (uint256 i = 0; i < hashes.length; ++i) {
            Change calldata change = changes[i];
            hashes[i] = keccak256(abi.encode(CHANGE_TYPEHASH, change.kind, keccak256(change.signer), change.value));
        }
        return _digestEverywhere(keccak256(abi.encode(CHANGES_TYPEHASH, sequence, _hashOf(hashes))));
    }

    /// @dev Applies changes and stores the settings, unless the account would obey too few.
    function _apply(Settings memory settings, Change[] calldata changes) internal {
        for (uint256 i = 0; i < changes.length; ++i) {
            _applyOne(settings, changes[i]);
        }
        _store(settings);
    }

    /// @dev Stores the settings, if the account still has its owners.
    function _store(Settings memory settings) internal {
        if (settings.owners < settings.threshold) revert InvalidOwners(settings.owners, settings.threshold);
        if (settings.guardians < settings.quorum) revert InvalidQuorum(settings.guardians, settings.quorum);
        uint256 before = _settings;
        uint256 word = settings.pack(before);
        if (word != before) _settings = word;
    }

    /// @dev Replaces the primary key, which is then no longer an owner.
    function _replacePrimary(uint256 x, uint256 y) internal {
        if (!P256.isValidPublicKey(bytes32(x), bytes32(y))) revert InvalidPublicKey(x, y);
        Settings memory settings = _settings.unpack();
        (bytes32 before, bytes32 next) = (_primary(), keccak256(abi.encode(x, y)));
        if (before == next) revert AlreadyPrimary(next);
        (bool owner, uint48 expiry) = _ownership(next, settings.generation);
        if (!owner || expiry != 0) {
            ++settings.owners;
            emit OwnerAdded(next, abi.encode(x, y), 0);
        }
        if (before != 0) {
            --settings.owners;
            emit OwnerRemoved(before);
        }
        _deleteOwner(next);
        _setPrimary(x, y);
        _store(settings);
    }

    /// @dev Adds an owner who is not one yet; the first P-256 key becomes primary if `vacant`.
    function _found(Settings memory settings, bytes calldata signer, bool vacant) internal returns (bool stillVacant) {
        Signatures.check(signer);
        bytes32 keyId = keccak256(signer);
        ++settings.owners;
        emit OwnerAdded(keyId, signer, 0);
        if (!vacant || signer.length != Signatures.P256_LENGTH) {
            _writeOwner(keyId, 0, settings.generation);
            return vacant;
        }
        _setPrimary(uint256(bytes32(signer)), uint256(bytes32(signer[32:])));
    }

    function _setPrimary(uint256 x, uint256 y) internal {
        _writePrimary(x, y);
        emit PublicKeyChanged(x, y);
    }

    function _applyOne(Settings memory settings, Change calldata change) private {
        ChangeKind kind = change.kind;
        if (kind == ChangeKind.AddOwner) return _addOwner(settings, change.signer, change.value);
        if (kind == ChangeKind.RemoveOwner) return _removeOwner(settings, keccak256(change.signer));
        if (kind == ChangeKind.SetPrimary) return _choosePrimary(settings, change.signer);
        if (kind == ChangeKind.SetThreshold) return _setThreshold(settings, change.value);
        if (kind == ChangeKind.AddGuardian) return _addGuardian(settings, change.signer);
        if (kind == ChangeKind.RemoveGuardian) return _removeGuardian(settings, keccak256(change.signer));
        _setTerms(settings, kind, change.value);
    }

    function _addOwner(Settings memory settings, bytes calldata signer, uint256 expiry) private {
        Signatures.check(signer);
        if (expiry > MAX_TIME) revert InvalidValue(ChangeKind.AddOwner, expiry);
        bytes32 keyId = keccak256(signer);
        (bool owner, uint48 before) = _ownership(keyId, settings.generation);
        if (owner && before == 0) {
            if (keyId == _primary()) revert AlreadyPrimary(keyId);
            --settings.owners;
        }
        if (expiry == 0) ++settings.owners;
        // forge-lint: disable-next-line(unsafe-typecast)
        _writeOwner(keyId, uint48(expiry), settings.generation);
        // forge-lint: disable-next-line(unsafe-typecast)
        emit OwnerAdded(keyId, signer, uint48(expiry));
    }

    function _removeOwner(Settings memory settings, bytes32 keyId) private {
        (bool owner, uint48 expiry) = _ownership(keyId, settings.generation);
        if (!owner) revert NotOwner(keyId);
        if (expiry == 0) --settings.owners;
        emit OwnerRemoved(keyId);
        if (keyId == _primary()) _setPrimary(0, 0);
        else _deleteOwner(keyId);
    }

    function _choosePrimary(Settings memory settings, bytes calldata signer) private {
        (bytes32 before, bytes32 next) = (_primary(), keccak256(signer));
        if (before == next) revert AlreadyPrimary(next);
        (bool owner, uint48 expiry) = _ownership(next, settings.generation);
        if (!owner || expiry != 0 || signer.length != Signatures.P256_LENGTH) revert NotOwner(next);
        if (before != 0) _writeOwner(before, 0, settings.generation);
        _deleteOwner(next);
        _setPrimary(uint256(bytes32(signer)), uint256(bytes32(signer[32:])));
    }

    function _setThreshold(Settings memory settings, uint256 threshold) private {
        if (threshold != 1 && threshold != 2) revert InvalidValue(ChangeKind.SetThreshold, threshold);
        // forge-lint: disable-next-line(unsafe-typecast)
        settings.threshold = uint8(threshold);
        emit ThresholdChanged(settings.threshold);
    }

    function _addGuardian(Settings memory settings, bytes calldata signer) private {
        Signatures.check(signer);
        bytes32 keyId = keccak256(signer);
        if (_isGuardian(keyId)) revert GuardianUnchanged(keyId);
        if (settings.guardians == MAX_GUARDIANS) revert InvalidValue(ChangeKind.AddGuardian, MAX_GUARDIANS + 1);
        ++settings.guardians;
        _writeGuardian(keyId, true);
        emit GuardianAdded(keyId, signer);
    }

    function _removeGuardian(Settings memory settings, bytes32 keyId) private {
        if (!_isGuardian(keyId)) revert GuardianUnchanged(keyId);
        --settings.guardians;
        _writeGuardian(keyId, false);
        emit GuardianRemoved(keyId);
    }

    function _setTerms(Settings memory settings, ChangeKind kind, uint256 value) private {
        bool quorum = kind == ChangeKind.SetQuorum;
        bool bad = quorum ? value > MAX_GUARDIANS : value < MIN_DELAY || value > MAX_DELAY;
        if (bad) revert InvalidValue(kind, value);
        // forge-lint: disable-next-line(unsafe-typecast)
        if (quorum) settings.quorum = uint8(value);
        // forge-lint: disable-next-line(unsafe-typecast)
        else settings.delay = uint32(value);
        emit RecoveryTermsChanged(settings.quorum, settings.delay);
    }
}
