// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {AccountHelper} from "../../src/AccountHelper.sol";
import {AppFactory} from "../../src/AppFactory.sol";
import {DIDRegistry} from "../../src/DIDRegistry.sol";
import {SessionSBT} from "../../src/SessionSBT.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {Vm} from "./Vm.sol";

interface IUserOpHash {
    function getUserOpHash(PackedUserOperation calldata userOp) external view returns (bytes32);
}

/// @notice Deploys all contracts, the entry points at their canonical addresses, and one account with its key.
abstract contract Fixture {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    address internal constant DEPLOYER = 0x4e59b44847b379578588920cA78FbF26c0B4956C;
    address internal constant EP07 = 0x0000000071727De22E5E9d8BAf0edAc6f37da032;
    address internal constant EP08 = 0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108;
    address internal constant EP09 = 0x433709009B8330FDa32311DF1C2AFA402eD8D009;
    address internal constant SENDER_CREATOR09 = 0x0A630a99Df908A81115A3022927Be82f9299987e;
    bytes32 internal constant OUR_SALT = keccak256("holdfast.contracts.v1");
    bytes32 internal constant SALT07 = 0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3;
    bytes32 internal constant SALT08 = 0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9;

    uint256 internal constant P256_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551;
    uint256 internal constant KEY = 0xA11CE;
    uint256 internal constant OTHER_KEY = 0xB0B;

    string internal constant DID_TEXT = "did:key:zAda";
    string internal constant OTHER_DID_TEXT = "did:key:zGrace";
    bytes32 internal constant DID = keccak256(bytes(DID_TEXT));
    bytes32 internal constant OTHER_DID = keccak256(bytes(OTHER_DID_TEXT));
    bytes32 internal constant ALIAS = keccak256("ada");
    bytes32 internal constant OTHER_ALIAS = keccak256("grace");
    bytes32 internal constant SECRET = keccak256("a secret");
    string internal constant CID = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";

    address internal alice = address(0xA11CE);
    address internal bob = address(0xB0B);
    address internal mallory = address(0xBAD);

    DIDRegistry internal registry;
    VaultAccount internal implementation;
    AccountHelper internal helper;
    SessionSBT internal sessions;
    AppFactory internal factory;

    uint256 internal pubKeyX;
    uint256 internal pubKeyY;
    VaultAccount internal account;

    function setUp() public virtual {
        vm.roll(1_000);
        vm.warp(1_800_000_000);
        implementation = VaultAccount(payable(_deployed("VaultAccount")));
        factory = AppFactory(_deployed("AppFactory"));
        registry = DIDRegistry(_deployed("DIDRegistry"));
        helper = AccountHelper(_deployed("AccountHelper"));
        sessions = SessionSBT(_deployed("SessionSBT"));
        (pubKeyX, pubKeyY) = vm.publicKeyP256(KEY);
        account = VaultAccount(payable(factory.createAccount(pubKeyX, pubKeyY, 0)));
    }

    // --- our contracts, from the committed artifacts

    /// @dev Deploys one of our contracts with its constructor's argument, as on every chain.
    function _deployed(string memory name) internal returns (address) {
        return _deploy(OUR_SALT, _initCode(name));
    }

    /// @dev Deploys one of our contracts with another address as its constructor's only argument.
    function _deployedWith(string memory name, address argument) internal returns (address deployed) {
        bytes memory code = _initCode(name);
        assembly ("memory-safe") {
            mstore(add(code, mload(code)), argument)
            deployed := create(0, add(code, 32), mload(code))
        }
        vm.assertTrue(deployed.code.length != 0);
    }

    function _initCode(string memory name) private view returns (bytes memory) {
        string memory path = string.concat("../src/holdfast/chain/contracts/", name, ".json");
        return vm.parseJsonBytes(vm.readFile(path), ".initCode");
    }

    // --- registry

    /// @dev Posts a commitment as a stranger and mines a block.
    function _commit(bytes32 didHash, bytes32 aliasHash, address controller, bytes32 secret) internal {
        bytes32 commitment = registry.commitmentOf(didHash, aliasHash, controller, secret);
        vm.prank(mallory);
        registry.commit(commitment);
        vm.roll(vm.getBlockNumber() + 1);
        vm.warp(vm.getBlockTimestamp() + 2);
    }

    /// @dev Registers one of the two foreign DIDs, which any address may control.
    function _register(address controller, bytes32 didHash, bytes32 aliasHash) internal {
        _commit(didHash, aliasHash, controller, SECRET);
        vm.prank(controller);
        registry.registerForeign(didHash == DID ? DID_TEXT : OTHER_DID_TEXT, aliasHash, SECRET, CID);
        vm.assertEq(registry.didOf(controller), didHash);
    }

    /// @dev Computes the hash of a key's DID independently of the registry.
    function _didOfKey(uint256 x, uint256 y) internal pure returns (bytes32) {
        return keccak256(bytes(_didTextOfKey(x, y)));
    }

    function _didTextOfKey(uint256 x, uint256 y) internal pure returns (string memory) {
        return string.concat("did:new:", Strings.toHexString(uint256(keccak256(abi.encode(x, y))), 32));
    }

    // --- entry points

    function _deployEntryPoints() internal {
        _deployEntryPoint(SALT07, "node_modules/aa07/artifacts/EntryPoint.json");
        _deployEntryPoint(SALT08, "node_modules/@account-abstraction/contracts/artifacts/EntryPoint.json");
        string memory code = vm.readFile("../src/holdfast/world/entry_point_v09.json");
        vm.etch(EP09, vm.parseJsonBytes(code, ".entryPoint.code"));
        vm.etch(SENDER_CREATOR09, vm.parseJsonBytes(code, ".senderCreator.code"));
        vm.assertTrue(EP07.code.length > 0 && EP08.code.length > 0 && EP09.code.length > 0);
    }

    function _deployEntryPoint(bytes32 salt, string memory path) private {
        _deploy(salt, vm.parseJsonBytes(vm.readFile(path), ".bytecode"));
    }

    function _deploy(bytes32 salt, bytes memory initCode) private returns (address) {
        (bool done, bytes memory deployed) = DEPLOYER.call(abi.encodePacked(salt, initCode));
        vm.assertTrue(done);
        return address(bytes20(deployed));
    }

    /// @dev Call data of `execute`, whose name ERC-7821 uses too.
    function _execute(address target, uint256 value, bytes memory data) internal pure returns (bytes memory) {
        return abi.encodeWithSignature("execute(address,uint256,bytes)", target, value, data);
    }

    function _operation(address sender, bytes memory callData) internal pure returns (PackedUserOperation memory op) {
        op.sender = sender;
        op.callData = callData;
        op.accountGasLimits = bytes32(uint256(2_000_000) << 128 | 1_000_000);
        op.preVerificationGas = 100_000;
        op.gasFees = bytes32(uint256(1) << 128 | 1);
    }

    // --- signatures

    function _sign(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (bytes32 r, bytes32 s) = _signLow(key, digest);
        return abi.encodePacked(r, s);
    }

    function _signLow(uint256 key, bytes32 digest) internal pure returns (bytes32 r, bytes32 s) {
        (r, s) = vm.signP256(key, digest);
        if (uint256(s) > P256_N / 2) s = bytes32(P256_N - uint256(s));
    }

    function _high(bytes memory signature) internal pure returns (bytes memory) {
        (bytes32 r, bytes32 s) = abi.decode(signature, (bytes32, bytes32));
        return abi.encodePacked(r, P256_N - uint256(s));
    }

    /// @dev Returns a passkey's assertion over `digest` with the given flags.
    function _assert(uint256 key, bytes32 digest, bytes1 flags) internal pure returns (bytes memory) {
        bytes memory data = abi.encodePacked(keccak256("rp id"), flags, uint32(7));
        string memory client =
            string.concat('{"type":"webauthn.get","challenge":"', _base64url(digest), '","origin":"https://x"}');
        (bytes32 r, bytes32 s) = _signLow(key, sha256(abi.encodePacked(data, sha256(bytes(client)))));
        return abi.encode(r, s, uint256(23), uint256(1), data, client);
    }

    /// @dev Removes the padding: 32 bytes are 43 characters of base64url, but the cheat code returns 44.
    function _base64url(bytes32 digest) internal pure returns (string memory digits) {
        digits = vm.toBase64URL(abi.encodePacked(digest));
        assembly ("memory-safe") {
            mstore(digits, 43)
        }
    }
}
