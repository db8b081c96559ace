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
        (isOwner, expiry) = _ownership(keyId, _settings.generation());
        isGuardian = _isGuardian(keyId);
    }

    /// @notice The account's settings.
    /// @return settings See `Settings`.
    function accountSettings() external view returns (Settings memory settings) {
        return _settings.unpack();
    }

    /// @dev What a signature over `digest` amounts to; if keys made it by name, the last of them; and the first expiry of
    /// the owners who signed, or zero. It reads neither time nor foreign storage (ERC-7562), so the caller compares.
    function _authority(bytes32 digest, bytes calldata signature)
        internal
        view
        returns (Authority authority, bytes32 keyId, uint48 until)
    {
        uint256 number = Signatures.numberOf(signature);
        if (number == 1 || number == 2) return _authorityByName(digest, signature[32:], number);
        uint256 settings = _settings;
        if (settings.needsTwo()) return (Authority.None, 0, 0);
        (uint256 x, uint256 y) = _primaryKey(settings);
        bool valid = Signatures.isP256(bytes32(x), bytes32(y), digest, signature);
        return (valid ? Authority.Full : Authority.None, 0, 0);
    }

    /// @dev As `_authority`, at this moment: an owner that has expired amounts to nothing.
    function _authorityNow(bytes32 digest, bytes calldata signature) internal view returns (Authority authority) {
        uint48 until;
        (authority,, until) = _authority(digest, signature);
        if (_isOver(until)) return Authority.None;
    }

    /// @dev Whether an address is an owner at this moment, and whether it may act alone.
    function _ownerNow(address caller) internal view returns (bool owner, bool alone) {
        uint256 settings = _settings;
        uint48 expiry;
        (owner, expiry) = _ownership(Signatures.idOf(caller), settings.generation());
        owner = owner && !_isOver(expiry);
        alone = owner && !settings.needsTwo();
    }

    function _isOver(uint48 time) internal view returns (bool) {
        return time != 0 && block.timestamp > time;
    }

    function _ownership(bytes32 keyId, uint32 generation) internal view returns (bool owner, uint48 expiry) {
        uint256 word = _keys[keyId];
        if (word & OWNER != 0 && uint32(word >> GENERATION_SHIFT) == generation) {
            return (true, uint48(word >> EXPIRY_SHIFT));
        }
        return (keyId == _primary(), 0);
    }

    function _isGuardian(bytes32 keyId) internal view returns (bool) {
        return _keys[keyId] & GUARDIAN != 0;
    }

    /// @dev ID of the primary key, or zero.
    function _primary() internal view returns (bytes32 keyId) {
        (uint256 x, uint256 y) = publicKey();
        if (y != 0) keyId = keccak256(abi.encode(x, y));
    }

    /// @dev Writes the primary key; 0, 0 for none.
    function _writePrimary(uint256 x, uint256 y) internal {
        (_pubKeyX, _pubKeyY) = (x, y);
        _settings = _settings.withStoredKey();
    }

    function _writeOwner(bytes32 keyId, uint48 expiry, uint32 generation) internal {
        uint256 word = OWNER | uint256(expiry) << EXPIRY_SHIFT | uint256(generation) << GENERATION_SHIFT;
        _keys[keyId] = word | _keys[keyId] & GUARDIAN;
    }

    function _deleteOwner(bytes32 keyId) internal {
        _keys[keyId] &= GUARDIAN;
    }

    function _writeGuardian(bytes32 keyId, bool guardian) internal {
        uint256 word = _keys[keyId];
        _keys[keyId] = guardian ? word | GUARDIAN : word & ~GUARDIAN;
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

    function _authorityByName(bytes32 digest, bytes calldata named, uint256 number)
        private
        view
        returns (Authority authority, bytes32 keyId, uint48 until)
    {
        uint256 settings = _settings;
        uint256 owners;
        for (uint256 i = 0; i < number; ++i) {
            bytes32 last = keyId;
            (keyId, named) = Signatures.first(digest, named);
            if (keyId <= last) return (Authority.None, 0, 0);
            (bool owner, uint48 expiry) = _ownership(keyId, settings.generation());
            if (owner) ++owners;
            if (expiry != 0 && (until == 0 || expiry < until)) until = expiry;
        }
        if (named.length != 0) return (Authority.None, 0, 0);
        if (owners < number) return (number == 1 ? Authority.Key : Authority.None, keyId, 0);
        return (number == 1 && settings.needsTwo() ? Authority.Owner : Authority.Full, keyId, until);
    }
}
