// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {SymbolicFixture} from "./SymbolicFixture.sol";

/// @notice What amounts to an account's full authority, seen in the validation of an operation without a paymaster.
contract ThresholdSymbolicTest is SymbolicFixture {
    function check_twoMustSign(bytes32 hash, bytes1 first, bytes1 second, bool firstSigned, bool secondSigned) public {
        _setThreshold(2);
        _twoMustSign(hash, first, second, firstSigned, secondSigned);
    }

    /// @dev Two names are two signatures, even where one would do.
    function check_bothNamedMustSign(bytes32 hash, bytes1 first, bytes1 second, bool firstSigned, bool secondSigned)
        public
    {
        _twoMustSign(hash, first, second, firstSigned, secondSigned);
    }

    function check_oneNeverSufficesForTwo(bytes32 hash, bytes1 key) public {
        _setThreshold(2);
        verifier.sign(key, hash, true);
        assert(!_isFull(hash, _named(key)));
    }

    function check_oneOwnerSufficesForOne(bytes32 hash, bytes1 key, bool signed) public {
        verifier.sign(key, hash, signed);
        assert(_isFull(hash, _named(key)) == (signed && _isOwner(key)));
    }

    /// @dev The primary key's, if that is the curve's generator. A number of one or two would announce names.
    function check_plainSignatureNeverSufficesForTwo(bytes32 hash, uint256 r, uint256 s) public {
        _addPrimary();
        _setThreshold(2);
        if (r > 2) assert(!_isFull(hash, abi.encode(r, s)));
    }

    function _twoMustSign(bytes32 hash, bytes1 first, bytes1 second, bool firstSigned, bool secondSigned) private {
        verifier.sign(first, hash, firstSigned);
        if (first != second) verifier.sign(second, hash, secondSigned);
        bool full = _isFull(hash, abi.encodePacked(uint256(2), _entry(first), _entry(second)));
        bool ascending = keccak256(_signer(first)) < keccak256(_signer(second));
        bool owners = _isOwner(first) && _isOwner(second);
        assert(full == (firstSigned && secondSigned && ascending && owners));
        if (full) assert(first != second);
    }

    function _isOwner(bytes1 key) private pure returns (bool) {
        return key == 0x01 || key == 0x02;
    }

    function _isFull(bytes32 hash, bytes memory signature) private returns (bool) {
        PackedUserOperation memory operation;
        operation.sender = address(account);
        operation.signature = signature;
        vm.prank(EP08);
        return account.validateUserOp(operation, hash, 0) == 0;
    }
}
