// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Settings, SettingsWord} from "./Settings.sol";
import {Signatures} from "./Signatures.sol";

/// @title Keys of an account
/// @notice Who owns the account, and what a signature amounts to. The primary key is an owner without an expiry: at first
/// the two words at the end of the clone's code, later two words of storage. Every other owner, and every guardian, has
/// one word.
abstract contract Keys {
    using SettingsWord for uint256;

    /// @notice What a signature amounts to.
    /// @dev None: it is not valid. Key: a key signed that owns nothing. Owner: one owner signed where two must. Full: as
    /// many owners signed as must.
    enum Authority {
        None,
        Key,
        Owner,
        Full
    }

    /// @notice The primary key is another one from now on, or none.
    /// @param pubKeyX X of the key, or zero.
    /// @param pubKeyY Y of the same key, or zero.
    event PublicKeyChanged(uint256 pubKeyX, uint256 pubKeyY);

    uint256 private constant MAX_NAMES = 2;
    /// @dev Length of X ‖ Y ‖ r ‖ s, which no assertion can have.
    uint256 private constant KEY_AND_PLAIN = 128;
    uint256 private constant OWNER = 1;
    uint256 private constant GUARDIAN = 2;
    uint256 private constant EXPIRY_SHIFT = 8;
    uint256 private constant GENERATION_SHIFT = 56;
    /// @dev Length of a clone's code (ERC-1167) before its arguments.
    uint256 private constant CLONE_LENGTH = 45;

    uint256 private _pubKeyX;
    uint256 private _pubKeyY;
    uint256 internal _settings;
    mapping(bytes32 keyId => uint256 word) private _keys;

    /// @notice The primary key: the key that the account was created with until an owner or a recovery replaces it.
    /// @return pubKeyX X of the key; zero if there is no primary key.
    /// @return pubKeyY Y of the same key.
    function publicKey() public view returns (uint256 pubKeyX, uint256 pubKeyY) {
        return _primaryKey(_settings);
    }

    /// @notice What a key is here.
    /// @param keyId Keccak-256 of the signer's bytes.
    /// @return isOwner Whether it is an owner; also if it has expired.
    /// @return expiry Unix time after which it is no longer one, or zero for never.
    /// @return isGuardian Whether it is a guardian.
    function keyState(bytes32 keyId) external view returns (bool isOwner, uint48 expiry, bool isGuardian) {
        (isOwner, expiry) = _ownership(keyId, _settings);
        isGuardian = _isGuardian(keyId);
    }

    /// @notice The account's settings.
    /// @return settings See `Settings`.
    function accountSettings() external view returns (Settings memory settings) {
        return _settings.unpack();
    }

    /// @dev What a signature over `digest` amounts to; if keys made it by name, the last of them; and the first expiry of
    /// the owners who signed, or zero. It reads neither time nor foreign storage (ERC-7562), so the caller compares.
    function _authority(uint256 settings, bytes32 digest, bytes calldata signature)
        internal
        view
        returns (Authority authority, bytes32 keyId, uint48 until)
    {
        uint256 number = Signatures.numberOf(signature);
        if (number <= MAX_NAMES) return _authorityByName(settings, digest, signature[32:], number);
        uint256 length = signature.length;
        if (length == KEY_AND_PLAIN || (length > KEY_AND_PLAIN && Signatures.isAfterKey(signature))) {
            return _authorityAfterKey(settings, digest, signature);
        }
        if (settings.needsTwo()) return (Authority.None, 0, 0);
        (uint256 x, uint256 y) = _primaryKey(settings);
        bool valid = Signatures.isP256(bytes32(x), bytes32(y), digest, signature);
        return (valid ? Authority.Full : Authority.None, 0, 0);
    }

    /// @dev Like `_authority` at the time of the block: an owner that has expired has no authority.
    function _authorityNow(uint256 settings, bytes32 digest, bytes calldata signature)
        internal
        view
        returns (Authority authority)
    {
        uint48 until;
        (authority,, until) = _authority(settings, digest, signature);
        if (_isOver(until)) return Authority.None;
    }

    /// @dev Whether an address is an owner at this moment, and whether it may act alone.
    function _ownerNow(address caller) internal view returns (bool owner, bool alone) {
        uint256 settings = _settings;
        uint48 expiry;
        (owner, expiry) = _ownership(Signatures.idOf(caller), settings);
        owner = owner && !_isOver(expiry);
        alone = owner && !settings.needsTwo();
    }

    function _isOver(uint48 time) internal view returns (bool) {
        return time != 0 && block.timestamp > time;
    }

    function _ownership(bytes32 keyId, uint256 settings) internal view returns (bool owner, uint48 expiry) {
        return _ownership(keyId, settings, _keys[keyId]);
    }

    function _isGuardian(bytes32 keyId) internal view returns (bool) {
        return _keys[keyId] & GUARDIAN != 0;
    }

    /// @dev ID of the primary key, or zero.
    function _primary(uint256 settings) internal view returns (bytes32 keyId) {
        (uint256 x, uint256 y) = _primaryKey(settings);
        if (y != 0) keyId = Signatures.idOf(bytes32(x), bytes32(y));
    }

    /// @dev Writes the primary key; 0, 0 for none. The caller stores the settings.
    function _writePrimary(uint256 settings, uint256 x, uint256 y) internal returns (uint256 changed) {
        (_pubKeyX, _pubKeyY) = (x, y);
        return settings.withStoredKey();
    }

    /// @dev Makes a key an owner, and returns whether it was one, and until when.
    function _writeOwner(bytes32 keyId, uint48 expiry, uint256 settings) internal returns (bool owner, uint48 before) {
        uint256 word = _keys[keyId];
        (owner, before) = _ownership(keyId, settings, word);
        _keys[keyId] = OWNER | uint256(expiry) << EXPIRY_SHIFT | uint256(settings.generation()) << GENERATION_SHIFT
            | word & GUARDIAN;
    }

    function _deleteOwner(bytes32 keyId) internal {
        _keys[keyId] &= GUARDIAN;
    }

    function _writeGuardian(bytes32 keyId, bool guardian) internal {
        uint256 word = _keys[keyId];
        _keys[keyId] = guardian ? word | GUARDIAN : word & ~GUARDIAN;
    }

    function _ownership(bytes32 keyId, uint256 settings, uint256 word)
        private
        view
        returns (bool owner, uint48 expiry)
    {
        if (word & OWNER != 0 && uint32(word >> GENERATION_SHIFT) == settings.generation()) {
            return (true, uint48(word >> EXPIRY_SHIFT));
        }
        return (keyId == _primary(settings), 0);
    }

    /// @dev The words at the end of the code cost less than words of storage, to write once and to read always.
    function _primaryKey(uint256 settings) private view returns (uint256 x, uint256 y) {
        if (settings.hasStoredKey()) return (_pubKeyX, _pubKeyY);
        assembly ("memory-safe") {
            extcodecopy(address(), 0x00, CLONE_LENGTH, 0x40)
            x := mload(0x00)
            y := mload(0x20)
        }
    }

    /// @dev What a signature amounts to that stands after the P-256 key that made it.
    function _authorityAfterKey(uint256 settings, bytes32 digest, bytes calldata signature)
        private
        view
        returns (Authority authority, bytes32 keyId, uint48 until)
    {
        (bytes32 x, bytes32 y) = abi.decode(signature, (bytes32, bytes32));
        bool valid = Signatures.isP256(x, y, digest, signature[Signatures.P256_LENGTH:]);
        if (!valid) return (Authority.None, 0, 0);
        keyId = Signatures.idOf(x, y);
        bool owner;
        (owner, until) = _ownership(keyId, settings, _keys[keyId]);
        if (!owner) return (Authority.Key, keyId, 0);
        authority = settings.needsTwo() ? Authority.Owner : Authority.Full;
    }

    function _authorityByName(uint256 settings, bytes32 digest, bytes calldata named, uint256 number)
        private
        view
        returns (Authority authority, bytes32 keyId, uint48 until)
    {
        uint256 owners;
        for (uint256 i = 0; i < number; ++i) {
            bytes32 last = keyId;
            (keyId, named) = Signatures.first(digest, named);
            if (keyId <= last) return (Authority.None, 0, 0);
            (bool owner, uint48 expiry) = _ownership(keyId, settings);
            if (owner) ++owners;
            if (expiry != 0 && (until == 0 || expiry < until)) until = expiry;
        }
        if (number == 0 || named.length != 0) return (Authority.None, 0, 0);
        if (owners < number) return (number == 1 ? Authority.Key : Authority.None, keyId, 0);
        return (number == 1 && settings.needsTwo() ? Authority.Owner : Authority.Full, keyId, until);
    }
}
