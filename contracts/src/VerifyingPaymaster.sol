// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IEntryPoint, IPaymaster, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {ERC4337Utils} from "@openzeppelin/contracts/account/utils/ERC4337Utils.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

/// @title Paymaster of one service
/// @notice Pays for every operation that the service's key has signed. Anyone may deploy one for any key: its address
/// follows from the key's. Serves EntryPoint v0.7, v0.8 and v0.9 from a deposit with each.
/// @dev Paymaster data: validUntil (6 bytes) ‖ validAfter (6 bytes) ‖ secp256k1 signature r ‖ s ‖ v (65 bytes) over
/// `getHash` as an EIP-191 personal message.
contract VerifyingPaymaster is IPaymaster {
    /// @notice Only an entry point may ask for sponsorship.
    /// @param caller The address that called.
    error NotEntryPoint(address caller);

    /// @notice Only the sponsor may take the deposit back.
    /// @param caller The address that called.
    error NotSponsor(address caller);

    /// @notice The paymaster data has another length than 77 bytes.
    /// @param length Bytes that were given.
    error InvalidPaymasterData(uint256 length);

    uint256 private constant DATA_OFFSET = 52;
    uint256 private constant DATA_LENGTH = 77;

    /// @notice The address whose signature sponsors an operation.
    address public immutable sponsor;

    /// @param sponsorAddress The address whose signature sponsors an operation.
    constructor(address sponsorAddress) {
        sponsor = sponsorAddress;
    }

    /// @inheritdoc IPaymaster
    /// @notice Tells the entry point whether the sponsor signed the operation, and for which period.
    /// @param userOp The operation.
    /// @return context Empty: nothing is left to do afterwards.
    /// @return validationData Whether the signature is valid, and the period, packed as ERC-4337 says.
    function validatePaymasterUserOp(PackedUserOperation calldata userOp, bytes32, uint256)
        external
        view
        returns (bytes memory context, uint256 validationData)
    {
        if (!_isEntryPoint(msg.sender)) revert NotEntryPoint(msg.sender);
        (uint48 validUntil, uint48 validAfter, bytes calldata signature) = _parse(userOp.paymasterAndData);
        bytes32 digest = MessageHashUtils.toEthSignedMessageHash(getHash(userOp, msg.sender, validUntil, validAfter));
        (address signer, ECDSA.RecoverError failure,) = ECDSA.tryRecover(digest, signature);
        bool signed = failure == ECDSA.RecoverError.NoError && signer == sponsor;
        uint256 verdict = signed ? ERC4337Utils.SIG_VALIDATION_SUCCESS : ERC4337Utils.SIG_VALIDATION_FAILED;
        return ("", uint256(validAfter) << 208 | uint256(validUntil) << 160 | verdict);
    }

    /// @inheritdoc IPaymaster
    /// @notice Never called, as `validatePaymasterUserOp` returns no context; reverts.
    function postOp(PostOpMode, bytes calldata, uint256, uint256) external view {
        revert NotEntryPoint(msg.sender);
    }

    /// @notice Adds wei to the deposit with an entry point.
    /// @param entryPoint EntryPoint v0.7, v0.8 or v0.9.
    function deposit(address entryPoint) external payable {
        if (!_isEntryPoint(entryPoint)) revert NotEntryPoint(entryPoint);
        IEntryPoint(entryPoint).depositTo{value: msg.value}(address(this));
    }

    /// @notice Takes wei of a deposit back.
    /// @param entryPoint EntryPoint v0.7, v0.8 or v0.9.
    /// @param to The address that receives them.
    /// @param amount Amount in wei.
    function withdraw(address entryPoint, address payable to, uint256 amount) external {
        if (msg.sender != sponsor) revert NotSponsor(msg.sender);
        IEntryPoint(entryPoint).withdrawTo(to, amount);
    }

    /// @notice The hash that the sponsor signs (as an EIP-191 personal message): the operation without signatures.
    /// @param userOp The operation; of its paymaster data only the two gas limits are hashed.
    /// @param entryPoint The entry point that will execute the operation.
    /// @param validUntil Unix time after which the sponsorship is over, or zero for no end.
    /// @param validAfter Unix time before which it is not valid.
    /// @return hash The hash to sign.
    function getHash(PackedUserOperation calldata userOp, address entryPoint, uint48 validUntil, uint48 validAfter)
        public
        view
        returns (bytes32 hash)
    {
        bytes32 operation = keccak256(
            abi.encode(
                userOp.sender,
                userOp.nonce,
                keccak256(userOp.initCode),
                keccak256(userOp.callData),
                userOp.accountGasLimits,
                bytes32(userOp.paymasterAndData[20:DATA_OFFSET]),
                userOp.preVerificationGas,
                userOp.gasFees
            )
        );
        return keccak256(abi.encode(operation, block.chainid, entryPoint, address(this), validUntil, validAfter));
    }

    function _parse(bytes calldata paymasterAndData) private pure returns (uint48, uint48, bytes calldata) {
        uint256 length = paymasterAndData.length - DATA_OFFSET;
        if (length != DATA_LENGTH) revert InvalidPaymasterData(length);
        bytes calldata data = paymasterAndData[DATA_OFFSET:];
        return (uint48(bytes6(data[:6])), uint48(bytes6(data[6:12])), data[12:]);
    }

    function _isEntryPoint(address caller) private pure returns (bool) {
        return caller == address(ERC4337Utils.ENTRYPOINT_V07) || caller == address(ERC4337Utils.ENTRYPOINT_V08)
            || caller == address(ERC4337Utils.ENTRYPOINT_V09);
    }
}
