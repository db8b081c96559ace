// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IDIDRegistry} from "./interfaces/IDIDRegistry.sol";
import {AppFactory} from "./AppFactory.sol";
import {KeyDid} from "./KeyDid.sol";

/// @title Registry of decentralized identifiers and their aliases
/// @notice Has no owner, no upgrade and no fee. Its code and its address are the same on every chain.
contract DIDRegistry is IDIDRegistry {
    /// @inheritdoc IDIDRegistry
    address public immutable factory;

    /// @notice Longest metadata CID in bytes; the longest usual CID has about 110.
    uint256 public constant MAX_METADATA_LENGTH = 256;

    /// @notice Seconds after which a commitment expires, so that claims cannot be hoarded for years.
    uint256 public constant MAX_COMMITMENT_AGE = 1 days;

    struct DidRecord {
        address controller;
        bool active;
        string metadataCid;
    }

    struct AliasRecord {
        bytes32 didHash;
        bool active;
    }

    struct Moment {
        uint64 blockNumber;
        uint64 timestamp;
    }

    mapping(bytes32 didHash => DidRecord) private _dids;
    mapping(bytes32 aliasHash => AliasRecord) private _aliases;
    mapping(bytes32 commitment => Moment) private _commitments;

    /// @inheritdoc IDIDRegistry
    mapping(address controller => bytes32 didHash) public didOf;

    /// @inheritdoc IDIDRegistry
    mapping(bytes32 didHash => address proposed) public proposedController;

    /// @param accountFactory The `AppFactory` whose accounts may register the DIDs of their keys.
    constructor(address accountFactory) {
        factory = accountFactory;
    }

    /// @inheritdoc IDIDRegistry
    function commit(bytes32 commitment) external {
        Moment storage moment = _commitments[commitment];
        if (moment.blockNumber != 0 && block.timestamp <= _expiry(moment)) return;
        moment.blockNumber = uint64(block.number);
        moment.timestamp = uint64(block.timestamp);
        emit Committed(commitment);
    }

    /// @inheritdoc IDIDRegistry
    function register(
        uint256 pubKeyX,
        uint256 pubKeyY,
        uint256 salt,
        bytes32 aliasHash,
        bytes32 secret,
        string calldata metadataCid
    ) external {
        address expected = AppFactory(factory).getAddress(pubKeyX, pubKeyY, salt);
        if (msg.sender != expected) revert NotTheKeysAccount(msg.sender, expected);
        bytes32 didHash = KeyDid.hashOf(pubKeyX, pubKeyY);
        _createDid(didHash, metadataCid);
        if (aliasHash == 0) return;
        _open(commitmentOf(didHash, aliasHash, msg.sender, secret));
        _claimAlias(aliasHash, didHash);
    }

    /// @inheritdoc IDIDRegistry
    function registerForeign(string calldata did, bytes32 aliasHash, bytes32 secret, string calldata metadataCid)
        external
    {
        if (!KeyDid.isDid(did)) revert NotADid();
        if (KeyDid.isOfAKey(did)) revert ForeignDidOnly();
        bytes32 didHash = keccak256(bytes(did));
        _createDid(didHash, metadataCid);
        _open(commitmentOf(didHash, aliasHash, msg.sender, secret));
        if (aliasHash != 0) _claimAlias(aliasHash, didHash);
    }

    /// @inheritdoc IDIDRegistry
    function registerAlias(bytes32 aliasHash, bytes32 didHash, bytes32 secret) external {
        if (aliasHash == 0) revert ZeroHash();
        _requireController(didHash);
        _requireActive(didHash);
        _open(commitmentOf(didHash, aliasHash, msg.sender, secret));
        _claimAlias(aliasHash, didHash);
    }

    /// @inheritdoc IDIDRegistry
    function setMetadata(bytes32 didHash, string calldata metadataCid) external {
        _requireController(didHash);
        _requireActive(didHash);
        _requireShort(metadataCid);
        _dids[didHash].metadataCid = metadataCid;
        emit DidMetadataUpdated(didHash, metadataCid);
    }

    /// @inheritdoc IDIDRegistry
    function setDidActive(bytes32 didHash, bool active) external {
        _requireController(didHash);
        _dids[didHash].active = active;
        emit DidStatusChanged(didHash, active);
    }

    /// @inheritdoc IDIDRegistry
    function setAliasActive(bytes32 aliasHash, bool active) external {
        bytes32 didHash = _aliases[aliasHash].didHash;
        if (didHash == 0) revert AliasNotFound(aliasHash);
        _requireController(didHash);
        _requireActive(didHash);
        _aliases[aliasHash].active = active;
        emit AliasStatusChanged(aliasHash, active);
    }

    /// @inheritdoc IDIDRegistry
    function changeController(bytes32 didHash, address newController) external {
        _requireController(didHash);
        _requireActive(didHash);
        proposedController[didHash] = newController;
        emit DidControllerProposed(didHash, msg.sender, newController);
    }

    /// @inheritdoc IDIDRegistry
    function acceptController(bytes32 didHash) external {
        address proposed = proposedController[didHash];
        if (msg.sender != proposed) revert NotProposedController(didHash, msg.sender, proposed);
        _requireActive(didHash);
        _requireFree(msg.sender);
        address previous = _dids[didHash].controller;
        delete proposedController[didHash];
        delete didOf[previous];
        didOf[msg.sender] = didHash;
        _dids[didHash].controller = msg.sender;
        emit DidControllerChanged(didHash, previous, msg.sender);
    }

    /// @inheritdoc IDIDRegistry
    function getDid(bytes32 didHash) external view returns (address, bool, string memory) {
        DidRecord storage record = _dids[didHash];
        return (record.controller, record.active, record.metadataCid);
    }

    /// @inheritdoc IDIDRegistry
    function getAlias(bytes32 aliasHash) external view returns (bytes32, address, bool) {
        AliasRecord storage record = _aliases[aliasHash];
        return (record.didHash, _dids[record.didHash].controller, record.active);
    }

    /// @inheritdoc IDIDRegistry
    function isDidActive(bytes32 didHash) external view returns (bool) {
        return _dids[didHash].active;
    }

    /// @inheritdoc IDIDRegistry
    function isAliasAvailable(bytes32 aliasHash) external view returns (bool) {
        return aliasHash != 0 && _aliases[aliasHash].didHash == 0;
    }

    /// @inheritdoc IDIDRegistry
    function committedAt(bytes32 commitment) external view returns (uint256, uint256) {
        Moment storage moment = _commitments[commitment];
        return (moment.blockNumber, moment.timestamp);
    }

    /// @inheritdoc IDIDRegistry
    function didHashOf(uint256 pubKeyX, uint256 pubKeyY) external pure returns (bytes32) {
        return KeyDid.hashOf(pubKeyX, pubKeyY);
    }

    /// @inheritdoc IDIDRegistry
    function commitmentOf(bytes32 didHash, bytes32 aliasHash, address controller, bytes32 secret)
        public
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(didHash, aliasHash, controller, secret));
    }

    /// @dev Gives the caller a DID that has no controller yet, or reverts.
    function _createDid(bytes32 didHash, string calldata metadataCid) private {
        _requireShort(metadataCid);
        DidRecord storage record = _dids[didHash];
        if (record.controller != address(0)) revert DidAlreadyRegistered(didHash, record.controller);
        _requireFree(msg.sender);
        record.controller = msg.sender;
        record.active = true;
        record.metadataCid = metadataCid;
        didOf[msg.sender] = didHash;
        emit DidRegistered(didHash, msg.sender, metadataCid);
    }

    function _claimAlias(bytes32 aliasHash, bytes32 didHash) private {
        AliasRecord storage record = _aliases[aliasHash];
        if (record.didHash != 0) revert AliasTaken(aliasHash, record.didHash);
        record.didHash = didHash;
        record.active = true;
        emit AliasRegistered(aliasHash, didHash, msg.sender);
    }

    /// @dev Consumes a commitment. It must be of an earlier block and not expired.
    function _open(bytes32 commitment) private {
        Moment memory moment = _commitments[commitment];
        if (moment.blockNumber == 0) revert NotCommitted(commitment);
        if (moment.blockNumber >= block.number) revert CommitmentTooNew(commitment, moment.blockNumber);
        uint256 expiry = _expiry(moment);
        if (block.timestamp > expiry) revert CommitmentExpired(commitment, expiry);
        delete _commitments[commitment];
    }

    function _expiry(Moment memory moment) private pure returns (uint256) {
        return uint256(moment.timestamp) + MAX_COMMITMENT_AGE;
    }

    function _requireController(bytes32 didHash) private view {
        address controller = _dids[didHash].controller;
        if (controller == address(0)) revert DidNotFound(didHash);
        if (msg.sender != controller) revert NotController(didHash, msg.sender, controller);
    }

    function _requireActive(bytes32 didHash) private view {
        if (!_dids[didHash].active) revert DidNotActive(didHash);
    }

    function _requireFree(address controller) private view {
        bytes32 didHash = didOf[controller];
        if (didHash != 0) revert ControllerAlreadyHasDid(controller, didHash);
    }

    function _requireShort(string calldata metadataCid) private pure {
        uint256 length = bytes(metadataCid).length;
        if (length > MAX_METADATA_LENGTH) revert MetadataTooLong(length, MAX_METADATA_LENGTH);
    }
}
