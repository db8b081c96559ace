// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

/// @title The account's two EIP-712 domains
/// @notice One with the chain, for messages; and one without, for what is signed once and holds on every chain.
/// @dev OpenZeppelin's EIP712 keeps chain and address in immutables: its code would differ from chain to chain, and these
/// contracts are compared with their release byte by byte.
abstract contract Domain is IERC5267 {
    bytes32 private constant NAME_HASH = keccak256("Holdfast VaultAccount");
    bytes32 private constant VERSION_HASH = keccak256("1");
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant CHAINLESS_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,address verifyingContract)");

    /// @inheritdoc IERC5267
    /// @notice The EIP-712 domain of messages (ERC-5267).
    /// @return fields Which of the following are used (0x0f: name, version, chainId, verifyingContract).
    /// @return name Name of the signing domain.
    /// @return version Its version.
    /// @return chainId This chain.
    /// @return verifyingContract This account.
    /// @return salt Unused.
    /// @return extensions None.
    function eip712Domain()
        public
        view
        returns (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        )
    {
        return (0x0f, "Holdfast VaultAccount", "1", block.chainid, address(this), 0, new uint256[](0));
    }

    /// @dev The digest of a struct in the domain with this chain.
    function _digestHere(bytes32 structHash) internal view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPEHASH, NAME_HASH, VERSION_HASH, block.chainid, address(this)));
        return MessageHashUtils.toTypedDataHash(domain, structHash);
    }

    /// @dev The digest of a struct in the domain without a chain.
    function _digestEverywhere(bytes32 structHash) internal view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(CHAINLESS_TYPEHASH, NAME_HASH, VERSION_HASH, address(this)));
        return MessageHashUtils.toTypedDataHash(domain, structHash);
    }

    /// @dev The hash of an array in EIP-712.
    function _hashOf(bytes32[] memory hashes) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(hashes));
    }

    /// @dev The domain's fields as a `TypedDataSign` of ERC-7739 contains them.
    function _domainFields() internal view returns (bytes memory) {
        return abi.encode(NAME_HASH, VERSION_HASH, block.chainid, address(this), bytes32(0));
    }
}
