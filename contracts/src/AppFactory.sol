// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {VaultAccount} from "./VaultAccount.sol";
import {Owners} from "./account/Owners.sol";

/// @title Factory of vault accounts
/// @notice An account's address follows from its first key and a salt, before and after it is created.
contract AppFactory {
    /// @notice The code that every account runs.
    address public immutable implementation;

    /// @notice An account was created.
    /// @param account Its address.
    /// @param owner Address derived from its first key: the last 20 bytes of Keccak-256(X ‖ Y).
    /// @param pubKeyX X of its first key.
    /// @param pubKeyY Y of the same key.
    /// @param salt Distinguishes accounts of the same key.
    event AccountCreated(
        address indexed account, address indexed owner, uint256 pubKeyX, uint256 pubKeyY, uint256 salt
    );

    /// @param accountImplementation The code that every account runs.
    constructor(address accountImplementation) {
        implementation = accountImplementation;
    }

    /// @notice Creates the account of a key and salt, or returns the existing one.
    /// @dev Reverts with `InvalidPublicKey` if the coordinates are not a point of P-256.
    /// @param pubKeyX X of its first key.
    /// @param pubKeyY Y of the same key.
    /// @param salt Distinguishes accounts of the same key.
    /// @return account Its address.
    function createAccount(uint256 pubKeyX, uint256 pubKeyY, uint256 salt) public returns (address account) {
        account = getAddress(pubKeyX, pubKeyY, salt);
        if (account.code.length != 0) return account;
        if (!P256.isValidPublicKey(bytes32(pubKeyX), bytes32(pubKeyY))) {
            revert Owners.InvalidPublicKey(pubKeyX, pubKeyY);
        }
        Clones.cloneDeterministicWithImmutableArgs(implementation, abi.encode(pubKeyX, pubKeyY), bytes32(salt));
        emit AccountCreated(account, _ownerOf(pubKeyX, pubKeyY), pubKeyX, pubKeyY, salt);
    }

    /// @notice Creates the account of a key and salt, and brings its owners up to date. If it exists, only those of the
    /// changes are applied that are new to it, so that no one prevents this by creating it first.
    /// @param pubKeyX X of its first key.
    /// @param pubKeyY Y of the same key.
    /// @param salt Distinguishes accounts of the same key.
    /// @param history All changes that its owners have signed, from sequence zero on.
    /// @return account Its address.
    function createAccountWith(uint256 pubKeyX, uint256 pubKeyY, uint256 salt, Owners.SignedChanges[] calldata history)
        external
        returns (address account)
    {
        account = createAccount(pubKeyX, pubKeyY, salt);
        uint64 sequence = VaultAccount(payable(account)).accountSettings().sequence;
        for (; sequence < history.length; ++sequence) {
            VaultAccount(payable(account))
                .applyChangesEverywhere(sequence, history[sequence].changes, history[sequence].signature);
        }
    }

    /// @notice Address of the account of a key and salt, created or not. Answers for any coordinates.
    /// @param pubKeyX X of its first key.
    /// @param pubKeyY Y of the same key.
    /// @param salt Distinguishes accounts of the same key.
    /// @return account Its address.
    function getAddress(uint256 pubKeyX, uint256 pubKeyY, uint256 salt) public view returns (address account) {
        bytes memory key = abi.encode(pubKeyX, pubKeyY);
        return Clones.predictDeterministicAddressWithImmutableArgs(implementation, key, bytes32(salt));
    }

    function _ownerOf(uint256 pubKeyX, uint256 pubKeyY) private pure returns (address) {
        return address(uint160(uint256(keccak256(abi.encode(pubKeyX, pubKeyY)))));
    }
}
