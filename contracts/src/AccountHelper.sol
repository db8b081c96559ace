// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IEntryPointNonces} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {ERC4337Utils} from "@openzeppelin/contracts/account/utils/ERC4337Utils.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {IDIDRegistry} from "./interfaces/IDIDRegistry.sol";
import {Keys} from "./account/Keys.sol";
import {SafeRead} from "./SafeRead.sol";

/// @title State of an account in one call
/// @notice Never reverts: it also answers for an address without code, with other code, or with hostile code.
contract AccountHelper {
    /// @notice The registry that names the account's DID.
    address public immutable registry;

    /// @param didRegistry The registry that names the account's DID.
    constructor(address didRegistry) {
        registry = didRegistry;
    }

    /// @notice State of an account as EntryPoint v0.7 counts its operations: exactly five 32-byte words.
    /// @param account Any address.
    /// @return nonce Next nonce of key zero; zero if there is no entry point.
    /// @return did Keccak-256 of the account's DID, or zero.
    /// @return isActive Whether that DID is registered and active.
    /// @return pubKeyX X of the account's P-256 key; zero unless the account names a point of the curve.
    /// @return pubKeyY Y of the same key.
    function getAccountState(address account)
        external
        view
        returns (uint256 nonce, bytes32 did, bool isActive, uint256 pubKeyX, uint256 pubKeyY)
    {
        return _state(account, address(ERC4337Utils.ENTRYPOINT_V07));
    }

    /// @notice As `getAccountState`, with the nonce of another entry point.
    /// @param account Any address.
    /// @param entryPoint The entry point whose nonce is read; any address.
    /// @return nonce Next nonce of key zero; zero if there is no entry point.
    /// @return did Keccak-256 of the account's DID, or zero.
    /// @return isActive Whether that DID is registered and active.
    /// @return pubKeyX X of the account's P-256 key; zero unless the account names a point of the curve.
    /// @return pubKeyY Y of the same key.
    function getAccountStateAt(address account, address entryPoint)
        external
        view
        returns (uint256 nonce, bytes32 did, bool isActive, uint256 pubKeyX, uint256 pubKeyY)
    {
        return _state(account, entryPoint);
    }

    function _state(address account, address entryPoint)
        private
        view
        returns (uint256 nonce, bytes32 did, bool isActive, uint256 pubKeyX, uint256 pubKeyY)
    {
        nonce = SafeRead.word(entryPoint, abi.encodeCall(IEntryPointNonces.getNonce, (account, 0)));
        did = bytes32(SafeRead.word(registry, abi.encodeCall(IDIDRegistry.didOf, (account))));
        isActive = SafeRead.word(registry, abi.encodeCall(IDIDRegistry.isDidActive, (did))) == 1;
        (pubKeyX, pubKeyY) = SafeRead.twoWords(account, abi.encodeCall(Keys.publicKey, ()));
        if (!P256.isValidPublicKey(bytes32(pubKeyX), bytes32(pubKeyY))) (pubKeyX, pubKeyY) = (0, 0);
    }
}
