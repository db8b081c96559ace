// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Reads that cannot revert
/// @notice Calls a view function of an address that may have no code, the wrong code, or code that reverts, loops
/// or returns megabytes. An answer counts only when it has exactly the expected length.
library SafeRead {
    /// @dev Gas for one read: far more than the reads of this project need, far less than what would exhaust the caller.
    uint256 internal constant GAS_LIMIT = 100_000;

    /// @notice Reads one word.
    /// @param target Any address.
    /// @param data Selector and arguments.
    /// @return value The answer, or zero if it did not have 32 bytes.
    function word(address target, bytes memory data) internal view returns (uint256 value) {
        (value,) = _read(target, data, 32);
    }

    /// @notice Reads two words.
    /// @param target Any address.
    /// @param data Selector and arguments.
    /// @return first The first word of the answer, or zero if it did not have 64 bytes.
    /// @return second The second word, likewise.
    function twoWords(address target, bytes memory data) internal view returns (uint256 first, uint256 second) {
        return _read(target, data, 64);
    }

    /// @dev Copies at most 64 bytes, into scratch space, so that a huge answer costs only the contract that sends it.
    function _read(address target, bytes memory data, uint256 size)
        private
        view
        returns (uint256 first, uint256 second)
    {
        uint256 gasLimit = GAS_LIMIT;
        assembly ("memory-safe") {
            let ok := staticcall(gasLimit, target, add(data, 0x20), mload(data), 0x00, size)
            if and(ok, eq(returndatasize(), size)) {
                first := mload(0x00)
                if eq(size, 64) { second := mload(0x20) }
            }
        }
    }
}
