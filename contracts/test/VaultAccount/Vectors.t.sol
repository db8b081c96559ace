// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";

/// @notice The vectors that the enclave and the clients share have the contract's digests and signatures.
contract VectorsTest is AccountFixture {
    string[8] private _kinds = [
        "add_owner",
        "remove_owner",
        "set_primary",
        "set_threshold",
        "add_guardian",
        "remove_guardian",
        "set_quorum",
        "set_delay"
    ];

    function test_messagesHaveTheContractsDigests() public {
        string memory file = vm.readFile("../vectors/accounts/messages.json");
        uint256 count;
        for (; vm.keyExistsJson(file, _at(".cases", count)); ++count) {
            string memory step = string.concat(_at(".cases", count), ".steps[1]");
            bytes32 digest = vm.parseJsonBytes32(file, string.concat(step, ".contains.digest"));
            vm.assertEq(_digestOf(file, string.concat(step, ".input")), digest);
        }
        vm.assertEq(count, 10);
    }

    function test_signaturesByNameAreValid() public {
        string memory file = vm.readFile("../vectors/accounts/named_signatures.json");
        bytes32 digest = vm.parseJsonBytes32(file, ".digest");
        vm.assertEq(digest, OP_HASH);
        _make(_add(_p256(SECOND_KEY)));
        vm.assertEq(_validate(vm.parseJsonBytes(file, ".vectors[0].named")), 0);
        vm.assertEq(_validate(vm.parseJsonBytes(file, ".vectors[1].named")), 0);
        _make(_threshold(2));
        vm.assertEq(_validate(vm.parseJsonBytes(file, ".vectors[0].named")), 1);
        vm.assertEq(_validate(vm.parseJsonBytes(file, ".vectors[2].named")), 0);
    }

    /// @dev The contract computes those of changes itself; those of recoveries and cancellations are private to it, and
    /// the fixture's are the ones that it accepts.
    function _digestOf(string memory file, string memory given) private returns (bytes32) {
        address verifier = vm.parseJsonAddress(file, string.concat(given, ".account"));
        string memory message = vm.parseJsonString(file, string.concat(given, ".message"));
        if (Strings.equal(message, "changes")) {
            vm.etch(verifier, address(account).code);
            uint256 sequence = vm.parseJsonUint(file, string.concat(given, ".sequence"));
            return VaultAccount(payable(verifier)).changesDigest(uint64(sequence), _changesOf(file, given));
        }
        uint32 nonce = uint32(vm.parseJsonUint(file, string.concat(given, ".nonce")));
        if (Strings.equal(message, "cancellation")) return _cancelDigest(verifier, nonce);
        return _recoveryDigest(verifier, nonce, vm.parseJsonBytesArray(file, string.concat(given, ".new_owners")));
    }

    function _changesOf(string memory file, string memory given) private view returns (Owners.Change[] memory changes) {
        string memory list = string.concat(given, ".changes");
        uint256 count;
        while (vm.keyExistsJson(file, _at(list, count))) ++count;
        changes = new Owners.Change[](count);
        for (uint256 i = 0; i < count; ++i) {
            string memory one = _at(list, i);
            changes[i].kind = _kindOf(vm.parseJsonString(file, string.concat(one, ".kind")));
            string memory signer = string.concat(one, ".signer");
            if (vm.keyExistsJson(file, signer)) changes[i].signer = vm.parseJsonBytes(file, signer);
            string memory value = string.concat(one, ".value");
            if (vm.keyExistsJson(file, value)) changes[i].value = vm.parseJsonUint(file, value);
        }
    }

    function _kindOf(string memory name) private view returns (Owners.ChangeKind) {
        for (uint8 i = 0; i < _kinds.length; ++i) {
            if (Strings.equal(_kinds[i], name)) return Owners.ChangeKind(i);
        }
        revert(name);
    }

    function _at(string memory list, uint256 index) private pure returns (string memory) {
        return string.concat(list, "[", Strings.toString(index), "]");
    }
}
