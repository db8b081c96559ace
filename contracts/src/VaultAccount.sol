// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IAccount, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";
import {IERC7821} from "@openzeppelin/contracts/interfaces/draft-IERC7821.sol";
import {ERC7579Utils, Execution} from "@openzeppelin/contracts/account/utils/draft-ERC7579Utils.sol";
import {ERC4337Utils} from "@openzeppelin/contracts/account/utils/ERC4337Utils.sol";
import {ERC721Holder} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Holder.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";
import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";
import {Messages} from "./account/Messages.sol";
import {Permission, Permissions} from "./account/Permissions.sol";
import {Recovery} from "./account/Recovery.sol";
import {SettingsWord} from "./account/Settings.sol";
import {Signatures} from "./account/Signatures.sol";

/// @title Smart account of one or several keys
/// @notice Executes operations that EntryPoint v0.7, v0.8 or v0.9 (at their canonical addresses) has verified, and calls of
/// owners that are addresses. Nothing else can make it act, and it has no upgrade. ERC-1167 clones with their
/// first key as an immutable argument use its code.
/// @dev A signature by the primary key is the 64 bytes r ‖ s over the digest itself, or a WebAuthn assertion whose challenge
/// is the digest: `abi.encode(r, s, challengeIndex, typeIndex, authenticatorData, clientDataJSON)`, with or without the
/// leading offset word that encoding them as one struct writes. Both need the low s; an assertion also needs user
/// verification. Verification asks the precompile at 0x100 first and computes in Solidity if it is absent. Another owner
/// that is a P-256 key puts X ‖ Y before either (without the offset word); all others are named in a list: see `Signatures`.
contract VaultAccount is IAccount, Recovery, Permissions, Messages, IERC7821, ERC721Holder, ERC1155Holder {
    using SettingsWord for uint256;

    /// @notice Only an entry point may ask for validation.
    /// @param caller The address that called.
    error NotEntryPoint(address caller);

    /// @notice Only an entry point, the account itself, or an owner that suffices alone may do this.
    /// @param caller The address that called.
    error NotAuthorized(address caller);

    /// @notice A call of a batch failed, so the whole batch was reverted.
    /// @param index Its place in the batch, from zero.
    /// @param reason The data that it reverted with.
    error CallFailed(uint256 index, bytes reason);

    /// @notice `execute` does not know this mode.
    error UnsupportedExecutionMode();

    bytes32 private constant BATCH_MODE = bytes32(uint256(1) << 248);
    bytes32 private constant MODE_MASK = bytes32(hex"ffff00000000ffffffff");
    /// @dev Where the permission ends in the call data of `spend`.
    uint256 private constant PERMISSION_END = 4 + 9 * 32;

    /// @dev The implementation itself has no key: only clones have one at the end of their code.
    constructor() {
        _settings = _writePrimary(0, 0, 0);
    }

    /// @notice Accepts wei.
    receive() external payable {}

    modifier onlyAuthorized() {
        _requireAuthorized();
        _;
    }

    /// @inheritdoc IAccount
    /// @notice Tells the entry point whether enough owners signed the operation, and pays the missing funds. A single owner
    /// where two must sign, and any key with a permission, can sign what is theirs to do if a paymaster pays for it. The
    /// key of its nonce is then the first 24 bytes of the owner's or the permission's ID.
    /// @param userOp The operation.
    /// @param userOpHash Its hash, as the entry point computes it.
    /// @param missingAccountFunds Wei that the account owes the entry point before it executes.
    /// @return validationData 0 for a good signature, 1 for a bad one; with the time for which it is good.
    function validateUserOp(PackedUserOperation calldata userOp, bytes32 userOpHash, uint256 missingAccountFunds)
        external
        returns (uint256 validationData)
    {
        if (!_isEntryPoint(msg.sender)) revert NotEntryPoint(msg.sender);
        (Authority authority, bytes32 keyId, uint48 until) = _authority(_settings, userOpHash, userOp.signature);
        validationData =
            authority == Authority.Full ? uint256(until) << 160 : _validateAlone(userOp, authority, keyId, until);
        // The entry point checks its balance itself, so a failed payment needs no answer here.
        if (missingAccountFunds != 0) LowLevelCall.callNoReturn(msg.sender, missingAccountFunds, "");
    }

    /// @notice Makes one call in the account's name; reverts with the callee's data.
    /// @param target The address to call.
    /// @param value Wei to send with the call.
    /// @param data Call data.
    function execute(address target, uint256 value, bytes calldata data) external onlyAuthorized {
        _call(target, value, data);
    }

    /// @notice Makes several calls in the account's name, all or none.
    /// @param calls Target, wei and call data of each, in their order.
    function executeBatch(Execution[] calldata calls) external onlyAuthorized {
        _executeBatch(calls);
    }

    /// @inheritdoc IERC7821
    /// @notice Makes several calls in the account's name, all or none (ERC-7821). A target of zero is the account itself.
    /// @param mode A mode for which `supportsExecutionMode` answers yes.
    /// @param executionData `abi.encode` of the calls, as for `executeBatch`.
    function execute(bytes32 mode, bytes calldata executionData) external payable onlyAuthorized {
        if (!supportsExecutionMode(mode)) revert UnsupportedExecutionMode();
        _executeBatch(ERC7579Utils.decodeBatch(executionData));
    }

    /// @notice Replaces the primary key, which is then no longer an owner; the account's address stays.
    /// @param pubKeyX X of a point of P-256.
    /// @param pubKeyY Y of the same key.
    function setPublicKey(uint256 pubKeyX, uint256 pubKeyY) external onlyAuthorized {
        _replacePrimary(pubKeyX, pubKeyY);
    }

    /// @notice Applies changes of owners and guardians on this chain only; the sequence of signed changes stays.
    /// @param changes The changes in their order.
    function changeOwners(Change[] calldata changes) external onlyAuthorized {
        _apply(_settings, changes);
    }

    /// @notice Cancels the recovery that is under way. Any single owner may.
    function cancelRecovery() external {
        _requireOwner();
        _cancel();
    }

    /// @notice Grants a permission.
    /// @param permission The permission.
    function grantPermission(Permission memory permission) external onlyAuthorized {
        _grant(permission);
    }

    /// @notice Revokes a permission. Any single owner may.
    /// @param id The permission's ID.
    function revokePermission(bytes32 id) external {
        _requireOwner();
        _revoke(id);
    }

    /// @notice Spends by a permission: transfers, or calls the permission's function with the money (a token is approved for
    /// exactly this call). The spender calls it, if its key is an address, or by an operation.
    /// @param permission The permission.
    /// @param to The receiver, or the contract to call.
    /// @param amount In the token's units.
    /// @param data Call data, or empty for a transfer.
    function spend(Permission memory permission, address to, uint256 amount, bytes calldata data) external {
        bool authorized = _isEntryPoint(msg.sender) || Signatures.idOf(msg.sender) == permission.keyId;
        if (!authorized) revert NotAuthorized(msg.sender);
        _spend(permission, to, amount, data);
    }

    /// @notice ERC-165: account, ERC-1271, ERC-5267, ERC-7821, and receiver of ERC-721 and ERC-1155 tokens.
    /// @param interfaceId An interface.
    /// @return supported Whether it is one of them.
    function supportsInterface(bytes4 interfaceId) public view override returns (bool supported) {
        return interfaceId == type(IAccount).interfaceId || interfaceId == type(IERC1271).interfaceId
            || interfaceId == type(IERC5267).interfaceId || interfaceId == type(IERC7821).interfaceId
            || interfaceId == type(IERC721Receiver).interfaceId || super.supportsInterface(interfaceId);
    }

    /// @inheritdoc IERC7821
    /// @notice Whether `execute` knows a mode of ERC-7821: a batch that reverts as a whole, without further data.
    /// @param mode The mode.
    /// @return result Whether it begins with 0x01000000000000000000, whose bytes 3 to 6 may differ.
    function supportsExecutionMode(bytes32 mode) public pure returns (bool result) {
        return mode & MODE_MASK == BATCH_MODE;
    }

    function _executeBatch(Execution[] calldata calls) private {
        for (uint256 i = 0; i < calls.length; ++i) {
            Execution calldata call = calls[i];
            address target = call.target == address(0) ? address(this) : call.target;
            (bool success, bytes memory reason) = target.call{value: call.value}(call.callData);
            if (!success) revert CallFailed(i, reason);
        }
    }

    /// @dev Validation data of an operation that less than full authority signed. Without a paymaster, anyone who stole the
    /// key could burn the account's coin as gas. With the nonces of all owners, it could use up each before they do.
    function _validateAlone(PackedUserOperation calldata userOp, Authority authority, bytes32 keyId, uint48 until)
        private
        view
        returns (uint256)
    {
        bytes calldata data = userOp.callData;
        bytes4 selector = bytes4(data);
        if (authority == Authority.None || ERC4337Utils.paymaster(userOp) == address(0)) {
            return ERC4337Utils.SIG_VALIDATION_FAILED;
        }
        bool own = selector == this.cancelRecovery.selector || selector == this.revokePermission.selector;
        if (own && authority == Authority.Owner && _isNonceOf(keyId, userOp.nonce)) return uint256(until) << 160;
        if (selector != this.spend.selector || data.length < PERMISSION_END) return ERC4337Utils.SIG_VALIDATION_FAILED;
        Permission memory permission = abi.decode(data[4:], (Permission));
        bytes32 id = _idOf(permission);
        if (permission.keyId != keyId || !_isGranted(id) || !_isNonceOf(id, userOp.nonce)) {
            return ERC4337Utils.SIG_VALIDATION_FAILED;
        }
        return uint256(permission.start) << 208 | uint256(permission.until) << 160;
    }

    /// @dev Whether a nonce's key (ERC-4337) is the first 24 bytes of an ID.
    function _isNonceOf(bytes32 id, uint256 nonce) private pure returns (bool) {
        return nonce >> 64 == uint256(id) >> 64;
    }

    function _requireAuthorized() private view {
        if (msg.sender == address(this) || _isEntryPoint(msg.sender)) return;
        (, bool alone) = _ownerNow(msg.sender);
        if (!alone) revert NotAuthorized(msg.sender);
    }

    function _requireOwner() private view {
        if (msg.sender == address(this) || _isEntryPoint(msg.sender)) return;
        (bool owner,) = _ownerNow(msg.sender);
        if (!owner) revert NotAuthorized(msg.sender);
    }
}
