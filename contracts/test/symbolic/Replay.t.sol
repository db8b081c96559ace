// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";
import {SymbolicFixture} from "./SymbolicFixture.sol";

/// @notice An owner signed one list with one change for one place in the sequence, and nothing else, ever.
/// @custom:halmos --default-bytes-lengths 20,64
contract ReplaySymbolicTest is SymbolicFixture {
    uint256 private constant SETTINGS_SLOT = 2;

    function check_onlyWhatWasSignedHolds(
        uint64 present,
        uint64 sequence,
        uint64 given,
        Owners.Change calldata signed,
        Owners.Change calldata brought
    ) public {
        _at(account, present);
        _sign(sequence, signed);
        if (!_brought(account, given, brought)) return;
        assert(present == sequence && given == sequence && _equal(signed, brought));
        assert(account.accountSettings().sequence == sequence + 1);
    }

    function check_signedHoldsOnce(uint64 sequence, Owners.Change calldata signed, uint64 given) public {
        _at(account, sequence);
        _sign(sequence, signed);
        if (_brought(account, sequence, signed)) assert(!_brought(account, given, signed));
    }

    function check_neverForAnotherAccount(
        uint64 present,
        uint64 sequence,
        uint64 given,
        Owners.Change calldata signed,
        Owners.Change calldata brought
    ) public {
        _at(other, present);
        _sign(sequence, signed);
        assert(!_brought(other, given, brought));
    }

    /// @dev Forge runs this one: a change of the kind that the proofs are about does hold once.
    function test_aSignedChangeHolds() public {
        Owners.Change memory change = Owners.Change(Owners.ChangeKind.AddOwner, abi.encodePacked(address(0xACC)), 0);
        this.check_signedHoldsOnce(7, change, 8);
        assert(account.accountSettings().sequence == 8);
    }

    /// @dev Puts an account at a place in the sequence of its changes.
    function _at(VaultAccount which, uint64 sequence) private {
        uint256 word = uint256(vm.load(address(which), bytes32(SETTINGS_SLOT)));
        vm.store(address(which), bytes32(SETTINGS_SLOT), bytes32(word | sequence));
        assert(which.accountSettings().sequence == sequence);
    }

    function _sign(uint64 sequence, Owners.Change calldata change) private {
        verifier.sign(0x01, account.changesDigest(sequence, _list(change)), true);
    }

    function _brought(VaultAccount to, uint64 sequence, Owners.Change calldata change) private returns (bool done) {
        (done,) =
            address(to).call(abi.encodeCall(Owners.applyChangesEverywhere, (sequence, _list(change), _named(0x01))));
    }

    function _equal(Owners.Change calldata one, Owners.Change calldata two) private pure returns (bool) {
        return one.kind == two.kind && keccak256(one.signer) == keccak256(two.signer) && one.value == two.value;
    }

    function _list(Owners.Change calldata change) private pure returns (Owners.Change[] memory changes) {
        changes = new Owners.Change[](1);
        changes[0] = change;
    }
}
