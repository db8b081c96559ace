// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title ERC-5192: minimal soulbound tokens
interface IERC5192 {
    /// @notice A token became bound to its holder.
    /// @param tokenId The token.
    event Locked(uint256 tokenId);

    /// @notice A token became transferable. The standard requires it; the tokens of this project never emit it.
    /// @param tokenId The token.
    event Unlocked(uint256 tokenId);

    /// @notice Whether a token is bound to its holder. Reverts for a token that does not exist.
    /// @param tokenId The token.
    /// @return bound True for every token of this project.
    function locked(uint256 tokenId) external view returns (bool bound);
}
