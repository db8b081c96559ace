// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Owners} from "../../src/account/Owners.sol";
import {SymbolicFixture} from "./SymbolicFixture.sol";

/// @notice The digest of signed changes: whatever differs in account, sequence or changes differs in the digest.
contract DigestSymbolicTest is SymbolicFixture {
    function check_bindsSequenceAndChange(
        uint64 sequence,
        uint64 otherSequence,
        Owners.Change calldata change,
        Owners.Change calldata otherChange
    ) public view {
        bytes32 digest = account.changesDigest(sequence, _list(change));
        if (digest != account.changesDigest(otherSequence, _list(otherChange))) return;
        assert(sequence == otherSequence && _equal(change, otherChange));
    }

    /// @custom:halmos --default-bytes-lengths 20,21
    function check_bindsTwoChangesInTheirOrder(
        Owners.Change calldata first,
        Owners.Change calldata second,
        Owners.Change calldata otherFirst,
        Owners.Change calldata otherSecond
    ) public view {
        bytes32 digest = account.changesDigest(0, _pair(first, second));
        assert(digest != account.changesDigest(0, _list(otherFirst)));
        if (digest != account.changesDigest(0, _pair(otherFirst, otherSecond))) return;
        assert(_equal(first, otherFirst) && _equal(second, otherSecond));
    }

    function check_bindsAccount(
        uint64 sequence,
        uint64 otherSequence,
        Owners.Change calldata change,
        Owners.Change calldata otherChange
    ) public view {
        bytes32 digest = account.changesDigest(sequence, _list(change));
        assert(digest != other.changesDigest(otherSequence, _list(otherChange)));
    }

    function check_isTheSameOnEveryChain(uint64 chain, uint64 sequence, Owners.Change calldata change) public {
        bytes32 digest = account.changesDigest(sequence, _list(change));
        vm.chainId(chain);
        assert(digest == account.changesDigest(sequence, _list(change)));
    }

    function _equal(Owners.Change calldata one, Owners.Change calldata two) private pure returns (bool) {
        return one.kind == two.kind && keccak256(one.signer) == keccak256(two.signer) && one.value == two.value;
    }

    function _list(Owners.Change calldata change) private pure returns (Owners.Change[] memory changes) {
        changes = new Owners.Change[](1);
        changes[0] = change;
    }

    function _pair(Owners.Change calldata first, Owners.Change calldata second)
        private
        pure
        returns (Owners.Change[] memory changes)
    {
        changes = new Owners.Change[](2);
        (changes[0], changes[1]) = (first, second);
    }
}
