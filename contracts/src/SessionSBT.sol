// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {IERC5192} from "./interfaces/IERC5192.sol";

/// @title Session tokens
/// @notice A holder issues a token to itself for a session with an expiry. The token cannot be moved, only revoked.
/// A service that accepts the session calls `isValid`.
contract SessionSBT is ERC721, IERC5192 {
    /// @notice The session's hash is zero.
    error ZeroHash();

    /// @notice The expiry is not in the future.
    /// @param expiresAt The given Unix time.
    /// @param timestamp Unix time of this block.
    error AlreadyExpired(uint64 expiresAt, uint256 timestamp);

    /// @notice The holder issued a token for this session before. If it was revoked, it stays revoked.
    /// @param tokenId The token.
    error AlreadyIssued(uint256 tokenId);

    /// @notice Only the token's holder may revoke it.
    /// @param tokenId The token.
    /// @param caller The address that called.
    /// @param holder The token's holder.
    error NotHolder(uint256 tokenId, address caller, address holder);

    /// @notice The token is bound to its holder, so nothing can be approved or moved.
    error Soulbound();

    /// @notice A session began.
    /// @param tokenId Its token.
    /// @param holder The holder, who issued it.
    /// @param sessionHash Hash of the session.
    /// @param expiresAt Unix time of its end.
    event SessionIssued(uint256 indexed tokenId, address indexed holder, bytes32 indexed sessionHash, uint64 expiresAt);

    /// @notice A session was ended by its holder.
    /// @param tokenId Its token.
    /// @param holder Its holder.
    event SessionRevoked(uint256 indexed tokenId, address indexed holder);

    /// @notice Unix time at which a session ends; stays after a revocation, zero for a session that never began.
    mapping(uint256 tokenId => uint64 expiresAt) public expiryOf;

    constructor() ERC721("Holdfast Session", "HFS") {}

    /// @notice Begins a session of the caller.
    /// @param sessionHash Hash of the session.
    /// @param expiresAt Unix time of its end.
    /// @return tokenId Its token.
    function issue(bytes32 sessionHash, uint64 expiresAt) external returns (uint256 tokenId) {
        if (sessionHash == 0) revert ZeroHash();
        if (expiresAt <= block.timestamp) revert AlreadyExpired(expiresAt, block.timestamp);
        tokenId = tokenIdOf(msg.sender, sessionHash);
        if (expiryOf[tokenId] != 0) revert AlreadyIssued(tokenId);
        expiryOf[tokenId] = expiresAt;
        _mint(msg.sender, tokenId);
        emit Locked(tokenId);
        emit SessionIssued(tokenId, msg.sender, sessionHash, expiresAt);
    }

    /// @notice Ends a session of the caller for good and burns its token.
    /// @param tokenId The token.
    function revoke(uint256 tokenId) external {
        address holder = _requireOwned(tokenId);
        if (msg.sender != holder) revert NotHolder(tokenId, msg.sender, holder);
        _burn(tokenId);
        emit SessionRevoked(tokenId, holder);
    }

    /// @notice Whether a session is valid: issued, not revoked, not expired.
    /// @param tokenId The token.
    /// @return valid True while it is valid.
    function isValid(uint256 tokenId) external view returns (bool valid) {
        return _ownerOf(tokenId) != address(0) && block.timestamp < expiryOf[tokenId];
    }

    /// @inheritdoc IERC5192
    function locked(uint256 tokenId) external view returns (bool) {
        _requireOwned(tokenId);
        return true;
    }

    /// @notice The token of a session.
    /// @param holder The holder that issues it.
    /// @param sessionHash Hash of the session.
    /// @return tokenId Keccak-256 of both.
    function tokenIdOf(address holder, bytes32 sessionHash) public pure returns (uint256 tokenId) {
        return uint256(keccak256(abi.encode(holder, sessionHash)));
    }

    /// @notice Always reverts.
    function approve(address, uint256) public pure override {
        revert Soulbound();
    }

    /// @notice Always reverts.
    function setApprovalForAll(address, bool) public pure override {
        revert Soulbound();
    }

    /// @notice ERC-165: ERC-721 and ERC-5192.
    /// @param interfaceId An interface.
    /// @return supported Whether it is one of them.
    function supportsInterface(bytes4 interfaceId) public view override returns (bool supported) {
        return interfaceId == type(IERC5192).interfaceId || super.supportsInterface(interfaceId);
    }

    /// @dev Every mint, burn and transfer calls this; only a transfer has both a sender and a receiver.
    function _update(address to, uint256 tokenId, address auth) internal override returns (address from) {
        from = super._update(to, tokenId, auth);
        if (from != address(0) && to != address(0)) revert Soulbound();
    }
}
