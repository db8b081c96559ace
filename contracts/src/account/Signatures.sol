// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC7913SignatureVerifier} from "@openzeppelin/contracts/interfaces/IERC7913.sol";
import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {Assertions} from "./Assertions.sol";

/// @title Signers and their signatures
/// @notice A signer is a P-256 key (64 bytes: X ‖ Y), an address (20 bytes: its ECDSA key, or ERC-1271), or an ERC-7913
/// signer (verifier's address ‖ key, of any other length). Its ID is Keccak-256 of these bytes: for a P-256 key, the
/// number in its `did:new`.
/// @dev A P-256 key that signs alone may stand before its signature: X ‖ Y, then r ‖ s or the assertion. Else a list names
/// who signed: a word with their number, then for each: two bytes length of the signer, two bytes length of the
/// signature, signer, signature. The IDs of the signers ascend, so that no signer counts twice.
library Signatures {
    /// @notice These bytes name no signer: no P-256 point, no address, or none who could ever sign.
    /// @param signer The bytes as given.
    error InvalidSigner(bytes signer);

    /// @dev Length of a P-256 signer, and of its plain signature.
    uint256 internal constant P256_LENGTH = 64;
    uint256 private constant ADDRESS_LENGTH = 20;
    uint256 private constant WORD = 32;
    uint256 private constant HEAD = 4;

    /// @notice The ID of an address as a signer.
    /// @param signer Any address.
    /// @return keyId Keccak-256 of its 20 bytes.
    function idOf(address signer) internal pure returns (bytes32 keyId) {
        return keccak256(abi.encodePacked(signer));
    }

    /// @notice The ID of a P-256 key as a signer.
    /// @param x X of the key.
    /// @param y Y of the same key.
    /// @return keyId Keccak-256 of both.
    function idOf(bytes32 x, bytes32 y) internal pure returns (bytes32 keyId) {
        return Hashes.efficientKeccak256(x, y);
    }

    /// @notice The ID of any signer.
    /// @param signer The signer's bytes.
    /// @return keyId Keccak-256 of them.
    function idOf(bytes calldata signer) internal pure returns (bytes32 keyId) {
        if (signer.length != P256_LENGTH) return keccak256(signer);
        (bytes32 x, bytes32 y) = abi.decode(signer, (bytes32, bytes32));
        return idOf(x, y);
    }

    /// @notice The number of named signatures: the first word, which no plain signature can have as its r by chance.
    /// @param signature Any signature.
    /// @return number The word, or the greatest if the signature is shorter.
    function numberOf(bytes calldata signature) internal pure returns (uint256 number) {
        return signature.length < WORD ? type(uint256).max : abi.decode(signature, (uint256));
    }

    /// @notice Whether an assertion stands after the P-256 key that made it. Where an assertion
    /// alone has a small index, this form has r, which cannot be small by chance. A struct has its s there, but begins
    /// with 32.
    /// @param signature A signature of more than three words that is not a list.
    /// @return yes Whether it does.
    function isAfterKey(bytes calldata signature) internal pure returns (bool yes) {
        (uint256 one,, uint256 three) = abi.decode(signature, (uint256, uint256, uint256));
        return three > type(uint128).max && one != WORD;
    }

    /// @notice Verifies the first of the named signatures.
    /// @param digest The digest that was signed.
    /// @param named The list, from its first signature on.
    /// @return keyId ID of the signer, or zero if the signature is not valid.
    /// @return rest The list after this signature.
    function first(bytes32 digest, bytes calldata named) internal view returns (bytes32 keyId, bytes calldata rest) {
        uint256 lengths = uint32(bytes4(named));
        uint256 middle = HEAD + (lengths >> 16);
        uint256 end = middle + uint16(lengths);
        if (named.length < end) return (0, named);
        bytes calldata signer = named[HEAD:middle];
        if (isValid(signer, digest, named[middle:end])) keyId = idOf(signer);
        rest = named[end:];
    }

    /// @notice Whether a signer signed a digest.
    /// @param signer Any signer.
    /// @param digest The digest.
    /// @param signature Its signature.
    /// @return valid Whether it is one.
    function isValid(bytes calldata signer, bytes32 digest, bytes calldata signature)
        internal
        view
        returns (bool valid)
    {
        if (signer.length == P256_LENGTH) {
            return isP256(bytes32(signer), bytes32(signer[WORD:]), digest, signature);
        }
        if (signer.length == ADDRESS_LENGTH) return _isOfAddress(address(bytes20(signer)), digest, signature);
        return _isOfVerifier(signer, digest, signature);
    }

    /// @notice Whether a P-256 key signed a digest, plainly or by a WebAuthn assertion.
    /// @param x X of the key.
    /// @param y Y of the same key. Nothing is valid for what is not a point.
    /// @param digest The digest.
    /// @param signature r ‖ s, or the encoded assertion.
    /// @return valid Whether it is one.
    function isP256(bytes32 x, bytes32 y, bytes32 digest, bytes calldata signature) internal view returns (bool valid) {
        if (signature.length == P256_LENGTH) {
            (bytes32 r, bytes32 s) = abi.decode(signature, (bytes32, bytes32));
            return P256.verify(digest, r, s, x, y);
        }
        // A signature with r = 32 cannot be found by chance, so the first word distinguishes the two encodings.
        if (signature.length > P256_LENGTH && abi.decode(signature, (uint256)) == WORD) signature = signature[WORD:];
        return Assertions.isValid(x, y, digest, signature);
    }

    /// @notice Reverts unless the bytes name a signer that can sign for this account.
    /// @param signer The bytes.
    function check(bytes calldata signer) internal view {
        if (!_canSign(signer)) revert InvalidSigner(signer);
    }

    function _canSign(bytes calldata signer) private view returns (bool) {
        if (signer.length == P256_LENGTH) {
            (bytes32 x, bytes32 y) = abi.decode(signer, (bytes32, bytes32));
            return P256.isValidPublicKey(x, y);
        }
        return signer.length >= ADDRESS_LENGTH && bytes20(signer) != 0 && bytes20(signer) != bytes20(address(this));
    }

    /// @dev Like OpenZeppelin's checker, without copying signer and signature first.
    function _isOfVerifier(bytes calldata signer, bytes32 digest, bytes calldata signature)
        private
        view
        returns (bool)
    {
        if (signer.length < ADDRESS_LENGTH) return false;
        bytes4 yes = IERC7913SignatureVerifier.verify.selector;
        (bool success, bytes32 answer,) = LowLevelCall.staticcallReturn64Bytes(
            address(bytes20(signer)), abi.encodeWithSelector(yes, signer[ADDRESS_LENGTH:], digest, signature)
        );
        return success && LowLevelCall.returnDataSize() >= WORD && answer == yes;
    }

    /// @dev ECDSA comes first, unlike in OpenZeppelin's checker: ERC-7562 (OP-041) forbids an operation's validation to
    /// ask for the code of an address that has none. An address with a private key and code (EIP-7702) obeys that key.
    function _isOfAddress(address signer, bytes32 digest, bytes calldata signature) private view returns (bool) {
        (address recovered, ECDSA.RecoverError failure,) = ECDSA.tryRecoverCalldata(digest, signature);
        if (failure == ECDSA.RecoverError.NoError && recovered == signer) return true;
        return signer.code.length != 0 && SignatureChecker.isValidERC1271SignatureNowCalldata(signer, digest, signature);
    }
}
