// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {AppFactory} from "../src/AppFactory.sol";
import {DIDRegistry} from "../src/DIDRegistry.sol";
import {SessionSBT} from "../src/SessionSBT.sol";
import {VaultAccount} from "../src/VaultAccount.sol";
import {DevUSDC} from "../src/dev/DevUSDC.sol";
import {Fixture, IUserOpHash} from "./utils/Fixture.sol";

/// @notice What things cost as transactions of their own: snapshots/*.json, from which docs/contracts.md is checked.
/// @dev Isolated: every outermost call pays for a transaction and meets cold storage, as on a chain.
/// forge-config: default.isolate = true
/// forge-config: precompile.isolate = true
contract GasTest is Fixture {
    DevUSDC private usdc;
    string private signatures;

    function setUp() public override {
        super.setUp();
        _deployEntryPoints();
        usdc = new DevUSDC();
        usdc.mint(address(account), 5e6);
        usdc.mint(bob, 5e6);
        string memory profile = vm.envOr("FOUNDRY_PROFILE", string("default"));
        bool precompile = keccak256(bytes(profile)) == keccak256("precompile");
        signatures = precompile ? "OperationsWithPrecompile" : "OperationsInSolidity";
    }

    function test_calls() public {
        bytes32 commitment = registry.commitmentOf(DID, ALIAS, alice, 0);
        vm.prank(mallory);
        registry.commit(commitment);
        vm.snapshotGasLastCall("Calls", "DIDRegistry.commit");
        vm.roll(block.number + 1);
        vm.startPrank(alice);
        registry.register(DID, ALIAS, "");
        vm.snapshotGasLastCall("Calls", "DIDRegistry.register, with alias, without metadata");
        registry.setMetadata(DID, CID);
        vm.snapshotGasLastCall("Calls", "DIDRegistry.setMetadata, 59 bytes");
        registry.setDidActive(DID, false);
        vm.snapshotGasLastCall("Calls", "DIDRegistry.setDidActive");
        registry.setDidActive(DID, true);
        registry.changeController(DID, bob);
        vm.snapshotGasLastCall("Calls", "DIDRegistry.changeController");
        vm.stopPrank();
        vm.prank(bob);
        registry.acceptController(DID);
        vm.snapshotGasLastCall("Calls", "DIDRegistry.acceptController");
        _commit(DID, OTHER_ALIAS, bob, SECRET);
        vm.prank(bob);
        registry.registerAlias(OTHER_ALIAS, DID, SECRET);
        vm.snapshotGasLastCall("Calls", "DIDRegistry.registerAlias");
        factory.createAccount(pubKeyX, pubKeyY, 1);
        vm.snapshotGasLastCall("Calls", "AppFactory.createAccount");
        vm.startPrank(alice);
        uint256 tokenId = sessions.issue("s", uint64(block.timestamp + 1));
        vm.snapshotGasLastCall("Calls", "SessionSBT.issue");
        sessions.revoke(tokenId);
        vm.snapshotGasLastCall("Calls", "SessionSBT.revoke");
    }

    function test_operations() public {
        _measure(EP07, "v0.7");
        account = VaultAccount(payable(factory.createAccount(pubKeyX, pubKeyY, 8)));
        usdc.mint(address(account), 5e6);
        _measure(EP08, "v0.8");
    }

    function _measure(address entryPoint, string memory version) private {
        vm.deal(address(account), 10 ether);
        _registration(entryPoint, version);
        bytes memory payment = abi.encodeCall(usdc.transfer, (bob, 1e6));
        _operate(entryPoint, address(usdc), payment, false, ""); // an account's first operation pays for its nonce
        _operate(entryPoint, address(usdc), payment, false, string.concat("USDC payment, ", version));
        _operate(entryPoint, address(usdc), payment, true, string.concat("USDC payment by passkey, ", version));
        bytes memory session = abi.encodeCall(SessionSBT.issue, (keccak256("s"), uint64(block.timestamp + 9)));
        _operate(entryPoint, address(sessions), session, true, string.concat("session token by passkey, ", version));
    }

    function _registration(address entryPoint, string memory version) private {
        uint256 salt = uint160(entryPoint);
        bytes32 did = keccak256(abi.encode(entryPoint));
        address sender = factory.getAddress(pubKeyX, pubKeyY, salt);
        vm.deal(sender, 1 ether);
        _commit(did, keccak256(abi.encode(did)), sender, 0);
        bytes memory claim = abi.encodeCall(DIDRegistry.register, (did, keccak256(abi.encode(did)), ""));
        PackedUserOperation memory op =
            _operation(sender, abi.encodeCall(VaultAccount.execute, (address(registry), 0, claim)));
        op.initCode =
            abi.encodePacked(address(factory), abi.encodeCall(AppFactory.createAccount, (pubKeyX, pubKeyY, salt)));
        op.signature = _sign(KEY, IUserOpHash(entryPoint).getUserOpHash(op));
        _handle(entryPoint, op, string.concat("deploy, register DID and alias, ", version));
        vm.assertEq(registry.didOf(sender), did);
    }

    function _operate(address entryPoint, address target, bytes memory data, bool passkey, string memory name) private {
        PackedUserOperation memory op =
            _operation(address(account), abi.encodeCall(VaultAccount.execute, (target, 0, data)));
        op.nonce = IEntryPoint(entryPoint).getNonce(address(account), 0);
        bytes32 hash = IUserOpHash(entryPoint).getUserOpHash(op);
        op.signature = passkey ? _assert(KEY, hash, 0x05) : _sign(KEY, hash);
        _handle(entryPoint, op, name);
        vm.assertEq(IEntryPoint(entryPoint).getNonce(address(account), 0), op.nonce + 1);
    }

    function _handle(address entryPoint, PackedUserOperation memory op, string memory name) private {
        PackedUserOperation[] memory ops = new PackedUserOperation[](1);
        ops[0] = op;
        vm.prank(bob, bob);
        IEntryPoint(entryPoint).handleOps(ops, payable(bob));
        if (bytes(name).length != 0) vm.snapshotGasLastCall(signatures, name);
    }
}
