// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IAccount, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";
import {ERC721Holder} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Holder.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ERC4337Utils} from "@openzeppelin/contracts/account/utils/ERC4337Utils.sol";
import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {WebAuthn} from "@openzeppelin/contracts/utils/cryptography/WebAuthn.sol";

/// @title Smart account of one P-256 key
/// @notice Executes operations that EntryPoint v0.7, v0.8 or v0.9 (at their canonical addresses) has verified.
/// It has no owner and no upgrade, and nothing else can make it act. ERC-1167 clones use its code.
/// @dev A signature is either the 64 bytes r ‖ s over the digest itself, or a WebAuthn assertion whose challenge is the
/// digest: `abi.encode(r, s, challengeIndex, typeIndex, authenticatorData, clientDataJSON)`, with or without the
/// leading offset word that encoding them as one struct writes. Both need the low s; an assertion also needs
/// user verification. Verification asks the precompile at 0x100 first and computes in Solidity if it is absent.
contract VaultAccount is IAccount, IERC1271, ERC721Holder, ERC1155Holder {
    /// @notice One call of a batch.
    /// @param target The address to call.
    /// @param value Wei to send with the call.
    /// @param data Call data.
    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    /// @notice Only an entry point may ask for validation.
    /// @param caller The address that called.
    error NotEntryPoint(address caller);

    /// @notice Only an entry point, or the account through an entry point, may do this.
    /// @param caller The address that called.
    error NotEntryPointOrSelf(address caller);

    /// @notice The account has its key already.
    error AlreadyInitialized();

    /// @notice The coordinates are not a point of P-256.
    /// @param pubKeyX X as given.
    /// @param pubKeyY Y as given.
    error InvalidPublicKey(uint256 pubKeyX, uint256 pubKeyY);

    /// @notice A call of a batch failed, so the whole batch was reverted.
    /// @param index Its place in the batch, from zero.
    /// @param reason The data that it reverted with.
    error CallFailed(uint256 index, bytes reason);

    /// @notice The account has another key from now on.
    /// @param pubKeyX X of the new key.
    /// @param pubKeyY Y of the new key.
    event PublicKeyChanged(uint256 pubKeyX, uint256 pubKeyY);

    bytes4 private constant ERC1271_REFUSAL = 0xffffffff;
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant MESSAGE_TYPEHASH = keccak256("VaultAccountMessage(bytes32 hash)");
    bytes32 private constant NAME_HASH = keccak256("Holdfast VaultAccount");
    bytes32 private constant VERSION_HASH = keccak256("1");

    uint256 private _pubKeyX;
    /// @dev Never zero once initialized: the curve has no point with y = 0.
    uint256 private _pubKeyY;

    /// @dev Locks the implementation itself: only its clones can get a key.
    constructor() {
        _pubKeyY = 1;
    }

    /// @notice Accepts wei.
    receive() external payable {}

    modifier onlyEntryPointOrSelf() {
        if (msg.sender != address(this) && !_isEntryPoint(msg.sender)) revert NotEntryPointOrSelf(msg.sender);
        _;
    }

    /// @notice Gives a new clone its key, once. The factory calls it in the transaction that creates the clone.
    /// @param pubKeyX X of a point of P-256.
    /// @param pubKeyY Y of the same key.
    function initialize(uint256 pubKeyX, uint256 pubKeyY) external {
        if (_pubKeyY != 0) revert AlreadyInitialized();
        _setPublicKey(pubKeyX, pubKeyY);
    }

    /// @inheritdoc IAccount
    /// @notice Tells the entry point whether the account's key signed the operation, and pays the missing funds.
    /// @param userOp The operation.
    /// @param userOpHash Its hash, as the entry point computes it.
    /// @param missingAccountFunds Wei that the account owes the entry point before it executes.
    /// @return validationData 0 for a good signature, 1 for a bad one.
    function validateUserOp(PackedUserOperation calldata userOp, bytes32 userOpHash, uint256 missingAccountFunds)
        external
        returns (uint256 validationData)
    {
        if (!_isEntryPoint(msg.sender)) revert NotEntryPoint(msg.sender);
        validationData = _isSigned(userOpHash, userOp.signature)
            ? ERC4337Utils.SIG_VALIDATION_SUCCESS
            : ERC4337Utils.SIG_VALIDATION_FAILED;
        // The entry point checks its balance itself, so a failed payment needs no answer here.
        if (missingAccountFunds != 0) LowLevelCall.callNoReturn(msg.sender, missingAccountFunds, "");
    }

    /// @notice Makes one call in the account's name; reverts with the callee's data.
    /// @param target The address to call.
    /// @param value Wei to send with the call.
    /// @param data Call data.
    function execute(address target, uint256 value, bytes calldata data) external onlyEntryPointOrSelf {
        (bool success, bytes memory reason) = target.call{value: value}(data);
        if (!success) LowLevelCall.bubbleRevert(reason);
    }

    /// @notice Makes several calls in the account's name, all or none.
    /// @param calls The calls in their order.
    function executeBatch(Call[] calldata calls) external onlyEntryPointOrSelf {
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool success, bytes memory reason) = calls[i].target.call{value: calls[i].value}(calls[i].data);
            if (!success) revert CallFailed(i, reason);
        }
    }

    /// @notice Replaces the account's key; its address stays.
    /// @param pubKeyX X of a point of P-256.
    /// @param pubKeyY Y of the same key.
    function setPublicKey(uint256 pubKeyX, uint256 pubKeyY) external onlyEntryPointOrSelf {
        _setPublicKey(pubKeyX, pubKeyY);
        emit PublicKeyChanged(pubKeyX, pubKeyY);
    }

    /// @notice The account's key.
    /// @return pubKeyX X of the key.
    /// @return pubKeyY Y of the same key.
    function publicKey() external view returns (uint256 pubKeyX, uint256 pubKeyY) {
        return (_pubKeyX, _pubKeyY);
    }

    /// @notice Whether the account's key signed a message: over `messageDigest(hash)`, never over `hash` itself, so that
    /// no signature is valid for a second account of the same key, or for an operation.
    /// @param hash Hash of the message.
    /// @param signature 64 bytes or a WebAuthn assertion.
    /// @return magicValue 0x1626ba7e for yes, 0xffffffff for no.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4 magicValue) {
        return _isSigned(messageDigest(hash), signature) ? IERC1271.isValidSignature.selector : ERC1271_REFUSAL;
    }

    /// @notice The EIP-712 domain of `messageDigest`, for readers of ERC-5267.
    /// @return fields Which of the following are used (0x0f: name, version, chainId, verifyingContract).
    /// @return name Name of the signing domain.
    /// @return version Its version.
    /// @return chainId This chain.
    /// @return verifyingContract This account.
    /// @return salt Unused.
    /// @return extensions None.
    function eip712Domain()
        external
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

    /// @notice The digest that the key signs for `isValidSignature`: EIP-712 `VaultAccountMessage(bytes32 hash)` in this
    /// account's domain.
    /// @param hash Hash of the message.
    /// @return digest The digest to sign.
    function messageDigest(bytes32 hash) public view returns (bytes32 digest) {
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPEHASH, NAME_HASH, VERSION_HASH, block.chainid, address(this)));
        return keccak256(abi.encodePacked(hex"1901", domain, keccak256(abi.encode(MESSAGE_TYPEHASH, hash))));
    }

    /// @notice ERC-165: account, ERC-1271, and receiver of ERC-721 and ERC-1155 tokens.
    /// @param interfaceId An interface.
    /// @return supported Whether it is one of them.
    function supportsInterface(bytes4 interfaceId) public view override returns (bool supported) {
        return interfaceId == type(IAccount).interfaceId || interfaceId == type(IERC1271).interfaceId
            || interfaceId == type(IERC721Receiver).interfaceId || super.supportsInterface(interfaceId);
    }

    function _setPublicKey(uint256 pubKeyX, uint256 pubKeyY) private {
        if (!P256.isValidPublicKey(bytes32(pubKeyX), bytes32(pubKeyY))) revert InvalidPublicKey(pubKeyX, pubKeyY);
        _pubKeyX = pubKeyX;
        _pubKeyY = pubKeyY;
    }

    function _isSigned(bytes32 digest, bytes calldata signature) private view returns (bool) {
        bytes32 x = bytes32(_pubKeyX);
        bytes32 y = bytes32(_pubKeyY);
        if (signature.length == 64) {
            return P256.verify(digest, bytes32(signature[:32]), bytes32(signature[32:]), x, y);
        }
        // A signature with r = 32 cannot be found by chance, so the first word distinguishes the two encodings.
        if (signature.length > 64 && uint256(bytes32(signature[:32])) == 32) signature = signature[32:];
        (bool decoded, WebAuthn.WebAuthnAuth calldata assertion) = WebAuthn.tryDecodeAuth(signature);
        return decoded && WebAuthn.verify(abi.encodePacked(digest), assertion, x, y);
    }

    function _isEntryPoint(address caller) private pure returns (bool) {
        return caller == address(ERC4337Utils.ENTRYPOINT_V07) || caller == address(ERC4337Utils.ENTRYPOINT_V08)
            || caller == address(ERC4337Utils.ENTRYPOINT_V09);
    }
}
