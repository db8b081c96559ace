// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";
import {Permission} from "../../src/account/Permissions.sol";
import {Fixture, IUserOpHash} from "./Fixture.sol";

/// @notice Signatures by name, changes of owners, recoveries and permissions, all computed independently of the account.
abstract contract AccountFixture is Fixture {
    uint256 internal constant SECOND_KEY = 0x5EC0;
    uint256 internal constant THIRD_KEY = 0x3D;
    /// @dev Secret key of an owner or guardian that is an address.
    uint256 internal constant WALLET_KEY = 0xACC7;
    uint256 internal constant GUARDIAN_KEY = 0x6A1;
    uint256 internal constant SECOND_GUARDIAN_KEY = 0x6A2;
    uint256 internal constant SPENDER_KEY = 0x59E;
    address internal constant PAYMASTER = address(0xFEE);
    bytes32 internal constant OP_HASH = keccak256("an operation");

    bytes32 private constant CHANGE_TYPEHASH = keccak256("Change(uint8 kind,bytes signer,uint256 value)");
    bytes32 private constant CHANGES_TYPEHASH =
        keccak256("OwnerChanges(uint64 sequence,Change[] changes)Change(uint8 kind,bytes signer,uint256 value)");

    // --- signers

    function _p256(uint256 key) internal view returns (bytes memory signer) {
        (uint256 x, uint256 y) = vm.publicKeyP256(key);
        return abi.encode(x, y);
    }

    function _wallet(uint256 key) internal pure returns (bytes memory signer) {
        return abi.encodePacked(vm.addr(key));
    }

    function _walletSign(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    function _entry(bytes memory signer, bytes memory signature) internal pure returns (bytes memory) {
        return abi.encodePacked(uint16(signer.length), uint16(signature.length), signer, signature);
    }

    function _named(bytes memory signer, bytes memory signature) internal pure returns (bytes memory) {
        return abi.encodePacked(uint256(1), _entry(signer, signature));
    }

    function _named(uint256 key, bytes32 digest) internal view returns (bytes memory) {
        return _named(_p256(key), _sign(key, digest));
    }

    /// @dev Two P-256 keys' signatures, in the order of their IDs.
    function _namedTwo(uint256 one, uint256 other, bytes32 digest) internal view returns (bytes memory) {
        if (keccak256(_p256(one)) > keccak256(_p256(other))) (one, other) = (other, one);
        bytes memory first = _entry(_p256(one), _sign(one, digest));
        return abi.encodePacked(uint256(2), first, _entry(_p256(other), _sign(other, digest)));
    }

    // --- digests

    function _everywhere(address verifier, bytes32 structHash) internal pure returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,address verifyingContract)"),
                keccak256("Holdfast VaultAccount"),
                keccak256("1"),
                verifier
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }

    /// @dev A personal message with this hash (ERC-7739).
    function _personal(address verifier, bytes32 hash) internal view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("Holdfast VaultAccount"),
                keccak256("1"),
                block.chainid,
                verifier
            )
        );
        bytes32 message = keccak256(abi.encode(keccak256("PersonalSign(bytes prefixed)"), hash));
        return keccak256(abi.encodePacked(hex"1901", domain, message));
    }

    function _changesDigest(address verifier, uint64 sequence, Owners.Change[] memory changes)
        internal
        pure
        returns (bytes32)
    {
        bytes memory hashes;
        for (uint256 i = 0; i < changes.length; ++i) {
            Owners.Change memory change = changes[i];
            bytes memory encoded =
                abi.encode(CHANGE_TYPEHASH, uint8(change.kind), keccak256(change.signer), change.value);
            hashes = abi.encodePacked(hashes, keccak256(encoded));
        }
        return _everywhere(verifier, keccak256(abi.encode(CHANGES_TYPEHASH, sequence, keccak256(hashes))));
    }

    function _recoveryDigest(address verifier, uint32 nonce, bytes[] memory newOwners) internal pure returns (bytes32) {
        bytes memory hashes;
        for (uint256 i = 0; i < newOwners.length; ++i) {
            hashes = abi.encodePacked(hashes, keccak256(newOwners[i]));
        }
        bytes32 typehash = keccak256("Recovery(uint32 nonce,bytes[] newOwners)");
        return _everywhere(verifier, keccak256(abi.encode(typehash, nonce, keccak256(hashes))));
    }

    function _cancelDigest(address verifier, uint32 nonce) internal pure returns (bytes32) {
        return _everywhere(verifier, keccak256(abi.encode(keccak256("CancelRecovery(uint32 nonce)"), nonce)));
    }

    // --- changes

    function _change(Owners.ChangeKind kind, bytes memory signer, uint256 value)
        internal
        pure
        returns (Owners.Change memory)
    {
        return Owners.Change({kind: kind, signer: signer, value: value});
    }

    function _list(Owners.Change memory one) internal pure returns (Owners.Change[] memory changes) {
        changes = new Owners.Change[](1);
        changes[0] = one;
    }

    function _list(Owners.Change memory one, Owners.Change memory two)
        internal
        pure
        returns (Owners.Change[] memory changes)
    {
        changes = new Owners.Change[](2);
        (changes[0], changes[1]) = (one, two);
    }

    function _list(Owners.Change memory one, Owners.Change memory two, Owners.Change memory three)
        internal
        pure
        returns (Owners.Change[] memory changes)
    {
        changes = new Owners.Change[](3);
        (changes[0], changes[1], changes[2]) = (one, two, three);
    }

    function _add(bytes memory signer) internal pure returns (Owners.Change memory) {
        return _change(Owners.ChangeKind.AddOwner, signer, 0);
    }

    function _remove(bytes memory signer) internal pure returns (Owners.Change memory) {
        return _change(Owners.ChangeKind.RemoveOwner, signer, 0);
    }

    function _primary(bytes memory signer) internal pure returns (Owners.Change memory) {
        return _change(Owners.ChangeKind.SetPrimary, signer, 0);
    }

    function _threshold(uint256 value) internal pure returns (Owners.Change memory) {
        return _change(Owners.ChangeKind.SetThreshold, "", value);
    }

    function _guardian(bytes memory signer) internal pure returns (Owners.Change memory) {
        return _change(Owners.ChangeKind.AddGuardian, signer, 0);
    }

    function _quorum(uint256 value) internal pure returns (Owners.Change memory) {
        return _change(Owners.ChangeKind.SetQuorum, "", value);
    }

    /// @dev Changes as the account itself may make them.
    function _make(Owners.Change[] memory changes) internal {
        vm.prank(address(account));
        account.changeOwners(changes);
    }

    function _make(Owners.Change memory one) internal {
        _make(_list(one));
    }

    /// @dev A second owner, a P-256 key, and then the threshold 2.
    function _makeTwo() internal {
        _make(_list(_add(_p256(SECOND_KEY)), _threshold(2)));
    }

    function _signChanges(uint256 key, uint64 sequence, Owners.Change[] memory changes)
        internal
        view
        returns (bytes memory)
    {
        return _sign(key, _changesDigest(address(account), sequence, changes));
    }

    // --- state

    function _isOwner(bytes memory signer) internal view returns (bool owner) {
        (owner,,) = account.keyState(keccak256(signer));
    }

    function _isGuardianNow(bytes memory signer) internal view returns (bool guardian) {
        (,, guardian) = account.keyState(keccak256(signer));
    }

    // --- operations

    /// @dev What the account says of an operation, as an entry point asks.
    function _validate(bytes memory callData, bytes memory signature, bool paid) internal returns (uint256) {
        return _validate(callData, signature, paid, 0);
    }

    /// @dev With a nonce whose key is the first 24 bytes of an ID.
    function _validate(bytes memory callData, bytes memory signature, bool paid, bytes32 id)
        internal
        returns (uint256)
    {
        PackedUserOperation memory op = _operation(address(account), callData);
        op.nonce = _nonceOf(id);
        op.signature = signature;
        if (paid) op.paymasterAndData = abi.encodePacked(PAYMASTER, bytes32(0));
        vm.prank(EP08);
        return account.validateUserOp(op, OP_HASH, 0);
    }

    function _nonceOf(bytes32 id) internal pure returns (uint256) {
        return uint256(id) >> 64 << 64;
    }

    function _validate(bytes memory signature) internal returns (uint256) {
        return _validate(_execute(bob, 1, ""), signature, false);
    }

    function _handleOne(address entryPoint, PackedUserOperation memory op) internal {
        PackedUserOperation[] memory ops = new PackedUserOperation[](1);
        ops[0] = op;
        vm.prank(bob, bob);
        IEntryPoint(entryPoint).handleOps(ops, payable(bob));
    }

    // --- recovery

    /// @dev One guardian, whose signature alone starts a recovery.
    function _makeGuardian() internal {
        _make(_list(_guardian(_p256(GUARDIAN_KEY)), _quorum(1)));
    }

    function _newOwners(bytes memory signer) internal pure returns (bytes[] memory newOwners) {
        newOwners = new bytes[](1);
        newOwners[0] = signer;
    }

    function _nonce() internal view returns (uint32) {
        return account.accountSettings().recoveryNonce;
    }

    function _startRecovery(uint256 guardian, bytes[] memory newOwners) internal {
        bytes32 digest = _recoveryDigest(address(account), _nonce(), newOwners);
        vm.prank(mallory);
        account.startRecovery(newOwners, _named(guardian, digest));
    }
}
