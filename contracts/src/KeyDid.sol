// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title DIDs of the method `did:new`, which follow from a P-256 key
/// @notice `did:new:0x` and the 64 lower-case hexadecimal digits of Keccak-256(X ‖ Y).
library KeyDid {
    bytes10 private constant HEAD = "did:new:0x";
    bytes8 private constant METHOD = "did:new:";
    bytes4 private constant SCHEME = "did:";

    uint256 private constant ZEROS = 0x3030303030303030303030303030303030303030303030303030303030303030;
    uint256 private constant ONES = 0x0101010101010101010101010101010101010101010101010101010101010101;
    /// @dev Distance from the character after "9" to "a".
    uint256 private constant GAP = 0x27;

    /// @notice Keccak-256 of the DID of a key.
    /// @param pubKeyX X of the key.
    /// @param pubKeyY Y of the same key.
    /// @return didHash The hash by which the registry identifies the DID.
    function hashOf(uint256 pubKeyX, uint256 pubKeyY) internal pure returns (bytes32 didHash) {
        uint256 key = uint256(keccak256(abi.encode(pubKeyX, pubKeyY)));
        return keccak256(abi.encodePacked(HEAD, _digits(key >> 128), _digits(key & type(uint128).max)));
    }

    /// @notice Whether a text has the form of a DID: it begins with `did:`.
    /// @param text Any text.
    /// @return yes True for a DID of any method.
    function isDid(string calldata text) internal pure returns (bool yes) {
        return bytes4(bytes(text)) == SCHEME;
    }

    /// @notice Whether a text begins with `did:new:`.
    /// @param text Any text.
    /// @return yes True for a DID that only its key can prove.
    function isOfAKey(string calldata text) internal pure returns (bool yes) {
        return bytes8(bytes(text)) == METHOD;
    }

    /// @dev Converts 128 bits to 32 digits at once: the halves move apart until each byte contains four bits, then each
    /// byte becomes a character. A loop over the digits would cost about ten times the gas.
    function _digits(uint256 value) private pure returns (bytes32) {
        value = (value | value << 64) & 0x0000000000000000ffffffffffffffff0000000000000000ffffffffffffffff;
        value = (value | value << 32) & 0x00000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffff;
        value = (value | value << 16) & 0x0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff;
        value = (value | value << 8) & 0x00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff;
        value = (value | value << 4) & 0x0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f;
        // Six more than the four bits reaches 16 for the digits from "a" on, and for those only.
        uint256 letters = ((value + 6 * ONES) >> 4) & ONES;
        return bytes32(value + ZEROS + letters * GAP);
    }
}
