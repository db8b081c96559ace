// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {WebAuthn} from "@openzeppelin/contracts/utils/cryptography/WebAuthn.sol";

/// @title WebAuthn assertions
/// @notice The checks of OpenZeppelin's `WebAuthn.verify`, made where the assertion lies in the call data.
library Assertions {
    bytes1 private constant PRESENT_AND_VERIFIED = 0x05;
    bytes1 private constant BACKUP = 0x18;
    bytes1 private constant BACKED_UP_BUT_NOT_ELIGIBLE = 0x10;
    uint256 private constant FLAGS = 32;
    uint256 private constant LEAST_DATA = 37;
    bytes21 private constant TYPE = '"type":"webauthn.get"';
    bytes13 private constant CHALLENGE = '"challenge":"';
    uint256 private constant CHALLENGE_END = 13 + 43 + 1;
    /// @dev One in each byte: times a number below 256, that number in each.
    uint256 private constant EACH = type(uint256).max / 255;

    /// @notice Whether a key made an assertion whose challenge is a digest, of a person who was present and verified.
    /// @param x X of the key.
    /// @param y Y of the same key.
    /// @param digest The digest.
    /// @param encoded `abi.encode(r, s, challengeIndex, typeIndex, authenticatorData, clientDataJSON)`.
    /// @return valid Whether it is one.
    function isValid(bytes32 x, bytes32 y, bytes32 digest, bytes calldata encoded) internal view returns (bool valid) {
        (bool decoded, WebAuthn.WebAuthnAuth calldata assertion) = WebAuthn.tryDecodeAuth(encoded);
        if (!decoded) return false;
        bytes calldata data = assertion.authenticatorData;
        bytes calldata client = bytes(assertion.clientDataJSON);
        if (!_isVerified(data) || !_isFor(digest, client, assertion.typeIndex, assertion.challengeIndex)) return false;
        return P256.verify(sha256(abi.encodePacked(data, sha256(client))), assertion.r, assertion.s, x, y);
    }

    function _isVerified(bytes calldata data) private pure returns (bool) {
        if (data.length < LEAST_DATA) return false;
        bytes1 flags = data[FLAGS];
        return flags & PRESENT_AND_VERIFIED == PRESENT_AND_VERIFIED && flags & BACKUP != BACKED_UP_BUT_NOT_ELIGIBLE;
    }

    function _isFor(bytes32 digest, bytes calldata client, uint256 typeIndex, uint256 index)
        private
        pure
        returns (bool)
    {
        if (typeIndex > client.length || bytes21(client[typeIndex:]) != TYPE) return false;
        if (client.length < CHALLENGE_END || index > client.length - CHALLENGE_END) return false;
        client = client[index:];
        uint256 bits = uint256(digest);
        bytes32 last = _base64url(uint256(uint64(bits)) << 128);
        return bytes13(client) == CHALLENGE && abi.decode(client[13:], (bytes32)) == _base64url(bits >> 64)
            && bytes11(client[45:]) == bytes11(last) && client[56] == '"';
    }

    /// @dev The 32 digits of the lower 192 bits. In each step the upper half of what belongs together moves up by a third,
    /// until every byte has six bits. No sum or difference leaves its byte, so all bytes become digits at once.
    function _base64url(uint256 bits) private pure returns (bytes32 digits) {
        unchecked {
            bits += (bits & (uint256(type(uint96).max) << 96)) * (2 ** 32 - 1);
            bits += (bits & ((type(uint256).max / type(uint128).max) * type(uint48).max << 48)) * (2 ** 16 - 1);
            bits += (bits & ((type(uint256).max / type(uint64).max) * type(uint24).max << 24)) * (2 ** 8 - 1);
            bits += (bits & ((type(uint256).max / type(uint32).max) * 0xfff000)) * (2 ** 4 - 1);
            bits += (bits & ((type(uint256).max / type(uint16).max) * 0xfc0)) * (2 ** 2 - 1);
            uint256 ascii = bits + EACH * 65 + _from(26, bits) * 6;
            return bytes32(ascii - _from(52, bits) * 75 - _from(62, bits) * 13 + _from(63, bits) * 49);
        }
    }

    /// @dev One in each byte whose six bits are at least `first`.
    function _from(uint256 first, uint256 bits) private pure returns (uint256) {
        unchecked {
            return (bits + EACH * (128 - first)) >> 7 & EACH;
        }
    }
}
