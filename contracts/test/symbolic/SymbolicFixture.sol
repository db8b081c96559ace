// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC7913SignatureVerifier} from "@openzeppelin/contracts/interfaces/IERC7913.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";
import {Vm} from "../utils/Vm.sol";

/// @notice Signatures as an ideal: a key signed exactly what this contract was told, whatever the signature's bytes are.
contract IdealVerifier is IERC7913SignatureVerifier {
    mapping(bytes32 id => bool signed) private _signed;

    function sign(bytes1 key, bytes32 digest, bool signed) external {
        _signed[keccak256(abi.encode(key, digest))] = signed;
    }

    function verify(bytes calldata key, bytes32 digest, bytes calldata) external view returns (bytes4) {
        bool signed = _signed[keccak256(abi.encode(bytes1(key), digest))];
        return signed ? IERC7913SignatureVerifier.verify.selector : bytes4(0xffffffff);
    }
}

/// @notice For Halmos: two accounts, each owned by keys 1 and 2 of an ideal verifier alone. Forge compiles
/// these files, but does not run what is named check_.
abstract contract SymbolicFixture {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    uint256 internal constant GX = 0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296;
    uint256 internal constant GY = 0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5;
    address internal constant EP08 = 0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108;

    IdealVerifier internal verifier;
    VaultAccount internal account;
    VaultAccount internal other;

    function setUp() public virtual {
        verifier = new IdealVerifier();
        VaultAccount implementation = new VaultAccount();
        account = _owned(implementation);
        other = _owned(implementation);
    }

    function _owned(VaultAccount implementation) private returns (VaultAccount created) {
        bytes memory key = abi.encode(GX, GY);
        created = VaultAccount(payable(Clones.cloneWithImmutableArgs(address(implementation), key)));
        Owners.Change[] memory changes = new Owners.Change[](3);
        changes[0] = Owners.Change(Owners.ChangeKind.AddOwner, _signer(0x01), 0);
        changes[1] = Owners.Change(Owners.ChangeKind.AddOwner, _signer(0x02), 0);
        changes[2] = Owners.Change(Owners.ChangeKind.RemoveOwner, abi.encode(GX, GY), 0);
        vm.prank(address(created));
        created.changeOwners(changes);
    }

    function _setThreshold(uint256 threshold) internal {
        Owners.Change[] memory changes = new Owners.Change[](1);
        changes[0] = Owners.Change(Owners.ChangeKind.SetThreshold, "", threshold);
        vm.prank(address(account));
        account.changeOwners(changes);
    }

    /// @dev Makes the curve's generator the account's primary key.
    function _addPrimary() internal {
        vm.prank(address(account));
        account.setPublicKey(GX, GY);
    }

    function _signer(bytes1 key) internal view returns (bytes memory) {
        return abi.encodePacked(address(verifier), key);
    }

    function _entry(bytes1 key) internal view returns (bytes memory) {
        return abi.encodePacked(uint16(21), uint16(1), _signer(key), bytes1(0));
    }

    function _named(bytes1 key) internal view returns (bytes memory) {
        return abi.encodePacked(uint256(1), _entry(key));
    }
}
