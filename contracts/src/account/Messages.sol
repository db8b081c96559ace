// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ERC7739Utils} from "@openzeppelin/contracts/utils/cryptography/draft-ERC7739Utils.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {Domain} from "./Domain.sol";
import {Keys} from "./Keys.sol";

/// @title Signed messages
/// @notice ERC-1271 with ERC-7739: owners sign a message together with the account, so that no signature is valid for a
/// second account of the same key, or for an operation; and a wallet can still show what is signed.
/// @dev Like OpenZeppelin's `ERC7739`, on its library, with our `Domain`.
abstract contract Messages is IERC1271, Keys, Domain {
    using MessageHashUtils for bytes32;

    bytes4 private constant REFUSAL = 0xffffffff;
    bytes32 private constant DETECTION_HASH = 0x7739773977397739773977397739773977397739773977397739773977397739;
    bytes4 private constant DETECTION_ANSWER = 0x77390001;

    /// @inheritdoc IERC1271
    /// @notice Whether as many owners as must sign signed a message: typed data (`TypedDataSign` of ERC-7739), or a personal
    /// message (`PersonalSign`).
    /// @param hash Hash of the message, as the asking contract knows it.
    /// @param signature A signature over the nested struct; for typed data followed by the app's domain separator, the
    /// hash and the type of the contents, and the length of that type (two bytes).
    /// @return magicValue 0x1626ba7e for yes, 0xffffffff for no. 0x77390001 for the empty signature by which ERC-7739 is
    /// detected.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4 magicValue) {
        if (_isTypedData(hash, signature) || _isPersonal(hash, signature)) return IERC1271.isValidSignature.selector;
        return hash == DETECTION_HASH && signature.length == 0 ? DETECTION_ANSWER : REFUSAL;
    }

    function _isPersonal(bytes32 hash, bytes calldata signature) private view returns (bool) {
        bytes32 digest = _digestHere(ERC7739Utils.personalSignStructHash(hash));
        return _authorityNow(_settings, digest, signature) == Authority.Full;
    }

    function _isTypedData(bytes32 hash, bytes calldata encoded) private view returns (bool) {
        (bytes calldata signature, bytes32 separator, bytes32 contents, string calldata description) =
            ERC7739Utils.decodeTypedDataSig(encoded);
        if (hash != separator.toTypedDataHash(contents)) return false;
        (string calldata name, string calldata contentsType) = ERC7739Utils.decodeContentsDescr(description);
        if (bytes(name).length == 0) return false;
        bytes32 nested = ERC7739Utils.typedDataSignStructHash(name, contentsType, contents, _domainFields());
        return _authorityNow(_settings, separator.toTypedDataHash(nested), signature) == Authority.Full;
    }
}
