// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Registry of decentralized identifiers and their aliases
/// @notice Stores DIDs and aliases only as their Keccak-256 hashes. A DID has one controller, a controller has one
/// DID, and an alias belongs to one DID for good.
/// @dev A DID of the method `did:new` is the hash of a P-256 key. It is registered by an account whose address follows
/// from that key (CREATE2), so no other caller can take it, and no commitment is needed. An alias, and a DID of another
/// method, belongs to the first claim: it must have been committed to in an earlier block. A reader of a
/// pending claim has no commitment of that age, so copying the claim gains nothing. Anyone may post a commitment for
/// anyone: an account without balance, or not yet deployed, still claims its alias in one operation.
interface IDIDRegistry {
    /// @notice A hash argument is zero although it must identify something.
    error ZeroHash();

    /// @notice Only the account of a key and salt may register the key's DID.
    /// @param caller The address that called.
    /// @param expected The account of the key and salt that were given.
    error NotTheKeysAccount(address caller, address expected);

    /// @notice The text does not begin with `did:`.
    error NotADid();

    /// @notice A DID of the method `did:new` is registered by the account of its key, with `register`.
    error ForeignDidOnly();

    /// @notice The metadata CID is longer than the registry stores.
    /// @param length Its length in bytes.
    /// @param max The allowed length in bytes.
    error MetadataTooLong(uint256 length, uint256 max);

    /// @notice The DID is taken.
    /// @param didHash Keccak-256 of the DID.
    /// @param controller Its controller.
    error DidAlreadyRegistered(bytes32 didHash, address controller);

    /// @notice The controller has a DID already.
    /// @param controller The address that tried to take a second one.
    /// @param didHash The DID that it has.
    error ControllerAlreadyHasDid(address controller, bytes32 didHash);

    /// @notice No such DID.
    /// @param didHash Keccak-256 of the DID.
    error DidNotFound(bytes32 didHash);

    /// @notice The DID is deactivated: it can only be reactivated.
    /// @param didHash Keccak-256 of the DID.
    error DidNotActive(bytes32 didHash);

    /// @notice The alias is taken, active or not.
    /// @param aliasHash Keccak-256 of the lower-cased alias.
    /// @param didHash The DID that holds it.
    error AliasTaken(bytes32 aliasHash, bytes32 didHash);

    /// @notice No such alias.
    /// @param aliasHash Keccak-256 of the lower-cased alias.
    error AliasNotFound(bytes32 aliasHash);

    /// @notice Only the DID's controller may do this.
    /// @param didHash Keccak-256 of the DID.
    /// @param caller The address that called.
    /// @param controller The DID's controller.
    error NotController(bytes32 didHash, address caller, address controller);

    /// @notice Only the address that the controller named may accept the DID.
    /// @param didHash Keccak-256 of the DID.
    /// @param caller The address that called.
    /// @param proposed The named address; zero if none is named.
    error NotProposedController(bytes32 didHash, address caller, address proposed);

    /// @notice There is no commitment to this claim.
    /// @param commitment What `commitmentOf` gives for this claim.
    error NotCommitted(bytes32 commitment);

    /// @notice The commitment was made in this block; the claim must be made in a later one.
    /// @param commitment The commitment.
    /// @param blockNumber The block of the commitment.
    error CommitmentTooNew(bytes32 commitment, uint256 blockNumber);

    /// @notice The commitment is older than `MAX_COMMITMENT_AGE`.
    /// @param commitment The commitment.
    /// @param expiredAt Unix time at which it expired.
    error CommitmentExpired(bytes32 commitment, uint256 expiredAt);

    /// @notice A commitment was posted, or renewed after its expiry.
    /// @param commitment What `commitmentOf` gives for the claim that will follow.
    event Committed(bytes32 indexed commitment);

    /// @notice A DID was registered; it is active.
    /// @param didHash Keccak-256 of the DID.
    /// @param controller Its controller.
    /// @param metadataCid IPFS CID of its metadata, or empty.
    event DidRegistered(bytes32 indexed didHash, address indexed controller, string metadataCid);

    /// @notice A DID's metadata changed.
    /// @param didHash Keccak-256 of the DID.
    /// @param metadataCid The new CID, or empty.
    event DidMetadataUpdated(bytes32 indexed didHash, string metadataCid);

    /// @notice A DID was deactivated or reactivated.
    /// @param didHash Keccak-256 of the DID.
    /// @param active The new state.
    event DidStatusChanged(bytes32 indexed didHash, bool active);

    /// @notice A controller named a successor, or withdrew the name (zero). The controller has not changed yet.
    /// @param didHash Keccak-256 of the DID.
    /// @param controller Its controller.
    /// @param proposed The address that may accept it.
    event DidControllerProposed(bytes32 indexed didHash, address indexed controller, address indexed proposed);

    /// @notice A DID has a new controller, and with it all of its aliases.
    /// @param didHash Keccak-256 of the DID.
    /// @param previousController Its controller until now.
    /// @param controller Its controller from now on.
    event DidControllerChanged(bytes32 indexed didHash, address indexed previousController, address indexed controller);

    /// @notice An alias was registered; it is active.
    /// @param aliasHash Keccak-256 of the lower-cased alias.
    /// @param didHash The DID that holds it.
    /// @param controller The DID's controller at that moment.
    event AliasRegistered(bytes32 indexed aliasHash, bytes32 indexed didHash, address indexed controller);

    /// @notice An alias was deactivated or reactivated; it stays taken either way.
    /// @param aliasHash Keccak-256 of the lower-cased alias.
    /// @param active The new state.
    event AliasStatusChanged(bytes32 indexed aliasHash, bool active);

    /// @notice Announces a claim without revealing it. Anyone may post it for anyone. Posting it again before it
    /// expires changes nothing, so that no one can make another's commitment younger.
    /// @param commitment What `commitmentOf` gives.
    function commit(bytes32 commitment) external;

    /// @notice Registers the `did:new` of a key and, unless `aliasHash` is zero, its first alias. The caller must be
    /// `factory.getAddress(pubKeyX, pubKeyY, salt)`: the account's first key and salt, also after `setPublicKey`, since
    /// the address stays. Without an alias no commitment is needed.
    /// @param pubKeyX X of the key that the account was created with.
    /// @param pubKeyY Y of the same key.
    /// @param salt The salt that it was created with.
    /// @param aliasHash Keccak-256 of the lower-cased alias, or zero for none.
    /// @param secret The random 32 bytes that went into the commitment to the alias; ignored without one.
    /// @param metadataCid IPFS CID of the DID's metadata, or empty.
    function register(
        uint256 pubKeyX,
        uint256 pubKeyY,
        uint256 salt,
        bytes32 aliasHash,
        bytes32 secret,
        string calldata metadataCid
    ) external;

    /// @notice Registers a DID of another method than `did:new` for the caller, and unless `aliasHash` is zero a first
    /// alias. It needs an earlier commitment. The registry cannot know whether the caller controls that DID: a reader must
    /// ask the DID's own method.
    /// @param did The DID.
    /// @param aliasHash Keccak-256 of the lower-cased alias, or zero for none.
    /// @param secret The random 32 bytes that went into the commitment.
    /// @param metadataCid IPFS CID of the DID's metadata, or empty.
    function registerForeign(string calldata did, bytes32 aliasHash, bytes32 secret, string calldata metadataCid)
        external;

    /// @notice Gives the caller's DID a further alias.
    /// @param aliasHash Keccak-256 of the lower-cased alias.
    /// @param didHash Keccak-256 of the caller's DID.
    /// @param secret The random 32 bytes that went into the commitment: the DID is public, so it needs one.
    function registerAlias(bytes32 aliasHash, bytes32 didHash, bytes32 secret) external;

    /// @notice Replaces the metadata CID of the caller's DID.
    /// @param didHash Keccak-256 of the DID.
    /// @param metadataCid The new CID, or empty.
    function setMetadata(bytes32 didHash, string calldata metadataCid) external;

    /// @notice Deactivates or reactivates the caller's DID.
    /// @param didHash Keccak-256 of the DID.
    /// @param active The new state.
    function setDidActive(bytes32 didHash, bool active) external;

    /// @notice Deactivates or reactivates an alias of the caller's DID. It stays taken either way.
    /// @param aliasHash Keccak-256 of the lower-cased alias.
    /// @param active The new state.
    function setAliasActive(bytes32 aliasHash, bool active) external;

    /// @notice Names the address that may take over the caller's DID. Nothing changes until that address calls
    /// `acceptController`: otherwise anyone could give another address, which can control only one DID, a worthless one.
    /// @param didHash Keccak-256 of the DID.
    /// @param newController The address that may accept it.
    function changeController(bytes32 didHash, address newController) external;

    /// @notice Takes over a DID whose controller named the caller.
    /// @param didHash Keccak-256 of the DID.
    function acceptController(bytes32 didHash) external;

    /// @notice The factory whose accounts may register the DIDs of their keys.
    /// @return factory The factory of accounts.
    function factory() external view returns (address factory);

    /// @notice Keccak-256 of the `did:new` of a key. Answers for any coordinates.
    /// @param pubKeyX X of the key.
    /// @param pubKeyY Y of the same key.
    /// @return didHash The hash by which the registry identifies the DID.
    function didHashOf(uint256 pubKeyX, uint256 pubKeyY) external pure returns (bytes32 didHash);

    /// @notice A DID's record; all zero if it does not exist.
    /// @param didHash Keccak-256 of the DID.
    /// @return controller Its controller.
    /// @return active Whether it is active.
    /// @return metadataCid IPFS CID of its metadata, or empty.
    function getDid(bytes32 didHash) external view returns (address controller, bool active, string memory metadataCid);

    /// @notice An alias's record; all zero if it does not exist.
    /// @param aliasHash Keccak-256 of the lower-cased alias.
    /// @return didHash The DID that holds it.
    /// @return controller The DID's controller.
    /// @return active Whether the alias is active; it resolves only while the DID is active too.
    function getAlias(bytes32 aliasHash) external view returns (bytes32 didHash, address controller, bool active);

    /// @notice The DID of a controller.
    /// @param controller Any address.
    /// @return didHash Its DID, or zero.
    function didOf(address controller) external view returns (bytes32 didHash);

    /// @notice The address that may accept a DID.
    /// @param didHash Keccak-256 of the DID.
    /// @return proposed The address that its controller named, or zero.
    function proposedController(bytes32 didHash) external view returns (address proposed);

    /// @notice Whether a DID is registered and active.
    /// @param didHash Keccak-256 of the DID.
    /// @return active True for a registered, active DID.
    function isDidActive(bytes32 didHash) external view returns (bool active);

    /// @notice Whether an alias can still be registered.
    /// @param aliasHash Keccak-256 of the lower-cased alias.
    /// @return available False for a taken alias, and for zero, which is not an alias.
    function isAliasAvailable(bytes32 aliasHash) external view returns (bool available);

    /// @notice The block and time of a commitment.
    /// @param commitment What `commitmentOf` gives.
    /// @return blockNumber Block of the commitment, zero if none exists.
    /// @return timestamp Unix time of that block.
    function committedAt(bytes32 commitment) external view returns (uint256 blockNumber, uint256 timestamp);

    /// @notice The commitment that a claim needs.
    /// @param didHash Keccak-256 of the DID.
    /// @param aliasHash Keccak-256 of the lower-cased alias, or zero for none.
    /// @param controller The address that will claim.
    /// @param secret 32 bytes that keep the commitment from being guessed: random, or zero where the controller's
    /// address is still secret.
    /// @return commitment Keccak-256 of the four words.
    function commitmentOf(bytes32 didHash, bytes32 aliasHash, address controller, bytes32 secret)
        external
        pure
        returns (bytes32 commitment);
}
