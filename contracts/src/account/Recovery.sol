// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Owners} from "./Owners.sol";
import {SettingsWord} from "./Settings.sol";
import {Signatures} from "./Signatures.sol";

/// @title Recovery by guardians
/// @notice A quorum of guardians names new owners. After the delay anyone can put them in the place of all present ones;
/// until then any single owner cancels it. What guardians and owners sign has no chain ID, and anyone may bring it.
/// @dev A recovery keeps the delay that held when it was started. It is replaced only by one that more guardians signed,
/// so guardians cannot hold up each other's without end, and a greater number overrules a smaller one. Owner changes
/// leave it standing: to be rid of guardians *and* of what they started, remove them and cancel.
abstract contract Recovery is Owners {
    using SettingsWord for uint256;

    /// @notice Too few guardians signed, or the account lets none recover it.
    /// @param given Guardians who signed.
    /// @param quorum Guardians who must sign; zero: none can.
    error NoQuorum(uint256 given, uint8 quorum);

    /// @notice A recovery that as many guardians signed, or more, is under way.
    /// @param supporters Guardians who signed it.
    error RecoveryUnderWay(uint8 supporters);

    /// @notice No recovery with these owners is under way.
    error NoRecovery();

    /// @notice The delay is not over.
    /// @param readyAt Unix time from which the recovery can be finished.
    error TooEarly(uint48 readyAt);

    /// @notice The list of new owners is empty, too long, or names one twice.
    error InvalidNewOwners();

    /// @notice Guardians started a recovery. An owner who did not ask for it must cancel it before `readyAt`.
    /// @param nonce Its number.
    /// @param readyAt Unix time from which it can be finished.
    /// @param newOwners The owners that the account would have.
    event RecoveryStarted(uint32 indexed nonce, uint48 readyAt, bytes[] newOwners);

    /// @notice An owner cancelled the recovery that was under way.
    /// @param nonce The number of the cancellation.
    event RecoveryCancelled(uint32 indexed nonce);

    /// @notice The account has new owners, announced after this event; all others, and all permissions, are gone.
    /// @param generation Recoveries finished so far.
    event RecoveryFinished(uint32 indexed generation);

    uint256 private constant MAX_NEW_OWNERS = 16;
    uint256 private constant SUPPORTERS_SHIFT = 48;
    uint256 private constant HASH_SHIFT = 56;
    bytes32 private constant RECOVERY_TYPEHASH = keccak256("Recovery(uint32 nonce,bytes[] newOwners)");
    bytes32 private constant CANCEL_TYPEHASH = keccak256("CancelRecovery(uint32 nonce)");

    /// @dev Hash of the new owners (its lowest 200 bits), guardians who signed, time. Zero: none.
    uint256 private _pending;

    /// @notice Starts a recovery, or replaces one that fewer guardians signed.
    /// @dev Guardians sign EIP-712 `Recovery(uint32 nonce,bytes[] newOwners)`, where `nonce` is
    /// `accountSettings().recoveryNonce`, in the account's domain without `chainId`.
    /// @param newOwners The signers who shall own the account; the first P-256 key becomes the primary key.
    /// @param signatures Named signatures of the guardians.
    function startRecovery(bytes[] calldata newOwners, bytes calldata signatures) external {
        uint256 settings = _settings;
        uint32 nonce = settings.recoveryNonce();
        bytes32 hash = _checkedHash(newOwners);
        uint256 supporters =
            _supporters(_digestEverywhere(keccak256(abi.encode(RECOVERY_TYPEHASH, nonce, hash))), signatures);
        uint8 quorum = settings.quorum();
        if (quorum == 0 || supporters < quorum) revert NoQuorum(supporters, quorum);
        // forge-lint: disable-next-line(unsafe-typecast)
        uint8 before = uint8(_pending >> SUPPORTERS_SHIFT);
        if (supporters <= before) revert RecoveryUnderWay(before);
        // forge-lint: disable-next-line(unsafe-typecast)
        uint48 readyAt = uint48(block.timestamp + settings.delay());
        _pending = uint256(hash) << HASH_SHIFT | supporters << SUPPORTERS_SHIFT | readyAt;
        emit RecoveryStarted(nonce, readyAt, newOwners);
        _store(settings.withNextRecoveryNonce());
    }

    /// @notice Cancels the recovery with the signature of a single owner. Anyone may bring it.
    /// @dev The owner signs EIP-712 `CancelRecovery(uint32 nonce)`, where `nonce` is `accountSettings().recoveryNonce`, in the
    /// account's domain without `chainId`.
    /// @param signature The owner's signature.
    function cancelRecoverySigned(bytes calldata signature) external {
        uint256 settings = _settings;
        bytes32 digest = _digestEverywhere(keccak256(abi.encode(CANCEL_TYPEHASH, settings.recoveryNonce())));
        if (_authorityNow(settings, digest, signature) < Authority.Owner) revert InvalidSignature();
        _cancel();
    }

    /// @notice Puts the new owners in the place of all present ones, after the delay. Anyone may call it. One signature
    /// suffices afterwards; guardians and their terms stay.
    /// @param newOwners The owners with which the recovery was started.
    function finishRecovery(bytes[] calldata newOwners) external {
        uint256 pending = _pending;
        // forge-lint: disable-next-line(unsafe-typecast)
        uint48 readyAt = uint48(pending);
        if (pending == 0 || pending >> HASH_SHIFT != uint200(uint256(_checkedHash(newOwners)))) revert NoRecovery();
        if (block.timestamp < readyAt) revert TooEarly(readyAt);
        _pending = 0;
        uint256 settings = _settings.withNextGeneration().withNextRecoveryNonce().withOwners(0).withThreshold(1);
        emit RecoveryFinished(settings.generation());
        bool vacant = true;
        for (uint256 i = 0; i < newOwners.length; ++i) {
            (settings, vacant) = _found(settings, newOwners[i], vacant);
        }
        if (vacant) settings = _setPrimary(settings, 0, 0);
        _store(settings);
    }

    /// @notice The recovery that is under way.
    /// @return readyAt Unix time from which it can be finished; zero: none is under way.
    /// @return supporters Guardians who signed it.
    /// @return newOwnersHash The lowest 200 bits of Keccak-256 over the IDs of the new owners.
    function pendingRecovery() external view returns (uint48 readyAt, uint8 supporters, uint200 newOwnersHash) {
        uint256 pending = _pending;
        // forge-lint: disable-next-line(unsafe-typecast)
        return (uint48(pending), uint8(pending >> SUPPORTERS_SHIFT), uint200(pending >> HASH_SHIFT));
    }

    /// @dev Cancels the recovery for a caller who may.
    function _cancel() internal {
        if (_pending == 0) revert NoRecovery();
        _pending = 0;
        uint256 settings = _settings;
        emit RecoveryCancelled(settings.recoveryNonce());
        _store(settings.withNextRecoveryNonce());
    }

    /// @dev The number of guardians who signed; reverts if one of the signatures is not a guardian's.
    function _supporters(bytes32 digest, bytes calldata signatures) private view returns (uint256 number) {
        number = Signatures.numberOf(signatures);
        bytes calldata rest = signatures[32:];
        bytes32 last;
        for (uint256 i = 0; i < number; ++i) {
            bytes32 keyId;
            (keyId, rest) = Signatures.first(digest, rest);
            if (keyId <= last || !_isGuardian(keyId)) revert InvalidSignature();
            last = keyId;
        }
    }

    /// @dev The list as EIP-712 hashes it; reverts unless it can be finished.
    function _checkedHash(bytes[] calldata newOwners) private view returns (bytes32) {
        if (newOwners.length == 0 || newOwners.length > MAX_NEW_OWNERS) revert InvalidNewOwners();
        bytes32[] memory keyIds = new bytes32[](newOwners.length);
        for (uint256 i = 0; i < keyIds.length; ++i) {
            Signatures.check(newOwners[i]);
            keyIds[i] = Signatures.idOf(newOwners[i]);
            for (uint256 k = 0; k < i; ++k) {
                if (keyIds[k] == keyIds[i]) revert InvalidNewOwners();
            }
        }
        return _hashOf(keyIds);
    }
}
