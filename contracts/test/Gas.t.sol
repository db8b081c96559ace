// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {AppFactory} from "../src/AppFactory.sol";
import {DIDRegistry} from "../src/DIDRegistry.sol";
import {SessionSBT} from "../src/SessionSBT.sol";
import {VaultAccount} from "../src/VaultAccount.sol";
import {DevPaymaster} from "../src/dev/DevPaymaster.sol";
import {DevUSDC} from "../src/dev/DevUSDC.sol";
import {Fixture, IUserOpHash} from "./utils/Fixture.sol";

/// @notice The cost of operations as separate transactions: snapshots/*.json, with which docs/contracts.md is compared.
/// @dev Isolated: every outermost call pays for a transaction and accesses cold storage, as on a chain.
/// forge-config: default.isolate = true
/// forge-config: precompile.isolate = true
contract GasTest is Fixture {
    uint256 private constant SPONSOR_KEY = 0x590;
    bytes32 private constant PAYMASTER_LIMITS = bytes32(uint256(60_000) << 128 | 1);

    DevUSDC private usdc;
    DevPaymaster private paymaster;
    string private signatures;

    // The properties of the operation that is measured next.
    address private entryPoint;
    string private version;
    bool private sponsored;
    uint256 private key = 0x6A5;
    address private sender;

    function setUp() public override {
        super.setUp();
        _deployEntryPoints();
        usdc = new DevUSDC();
        usdc.mint(bob, 5e6);
        paymaster = new DevPaymaster(vm.addr(SPONSOR_KEY));
        string memory profile = vm.envOr("FOUNDRY_PROFILE", string("default"));
        bool precompile = keccak256(bytes(profile)) == keccak256("precompile");
        signatures = precompile ? "OperationsWithPrecompile" : "OperationsInSolidity";
    }

    function test_calls() public {
        bytes32 commitment = registry.commitmentOf(DID, ALIAS, alice, SECRET);
        vm.prank(mallory);
        registry.commit(commitment);
        vm.snapshotGasLastCall("Calls", "DIDRegistry.commit");
        vm.roll(block.number + 1);
        vm.startPrank(alice);
        registry.registerForeign(DID_TEXT, ALIAS, SECRET, "");
        vm.snapshotGasLastCall("Calls", "DIDRegistry.registerForeign, with alias, without metadata");
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
        vm.prank(address(account));
        registry.register(pubKeyX, pubKeyY, 0, 0, 0, "");
        vm.snapshotGasLastCall("Calls", "DIDRegistry.register, without alias and metadata");
        vm.startPrank(alice);
        uint256 tokenId = sessions.issue("s", uint64(block.timestamp + 1));
        vm.snapshotGasLastCall("Calls", "SessionSBT.issue");
        sessions.revoke(tokenId);
        vm.snapshotGasLastCall("Calls", "SessionSBT.revoke");
    }

    function test_operations() public {
        _measure(EP07, "v0.7");
        _measure(EP08, "v0.8");
        _measure(EP09, "v0.9");
    }

    function _measure(address entryPoint_, string memory version_) private {
        (entryPoint, version) = (entryPoint_, version_);
        vm.deal(address(this), 10 ether);
        paymaster.deposit{value: 10 ether}(entryPoint);
        sponsored = true;
        _register("deploy, register DID, sponsored", 0);
        _register("deploy, register DID and alias, sponsored", keccak256(bytes(version)));
        _pay("", false); // an account's second operation pays for its nonce
        _pay("USDC payment by passkey, sponsored", true);
        _commitThenRegister();
        sponsored = false;
        _register("deploy, register DID and alias", keccak256(abi.encode(version)));
        _pay("", false);
        _pay("USDC payment", false);
        _pay("USDC payment by passkey", true);
        bytes memory session = abi.encodeCall(SessionSBT.issue, (keccak256("s"), uint64(block.timestamp + 9)));
        _operate(address(sessions), session, true, "session token by passkey");
    }

    function _register(string memory name, bytes32 aliasHash) private {
        (uint256 x, uint256 y) = _nextAccount();
        if (aliasHash != 0) _commit(registry.didHashOf(x, y), aliasHash, sender, SECRET);
        _operate(address(registry), abi.encodeCall(registry.register, (x, y, 0, aliasHash, SECRET, "")), false, name);
        vm.assertEq(registry.didOf(sender), registry.didHashOf(x, y));
    }

    /// @dev Measures a registration for which no sponsor posts the commitment, so the account posts it itself.
    function _commitThenRegister() private {
        (uint256 x, uint256 y) = _nextAccount();
        bytes32 aliasHash = keccak256(abi.encode(version, "by the account"));
        bytes32 commitment = registry.commitmentOf(registry.didHashOf(x, y), aliasHash, sender, SECRET);
        bytes memory data = abi.encodeCall(registry.commit, (commitment));
        _operate(address(registry), data, false, "deploy, commit, sponsored");
        vm.roll(block.number + 1);
        data = abi.encodeCall(registry.register, (x, y, 0, aliasHash, SECRET, ""));
        _operate(address(registry), data, false, "then register DID and alias, sponsored");
        vm.assertEq(registry.didOf(sender), registry.didHashOf(x, y));
    }

    function _pay(string memory name, bool passkey) private {
        usdc.mint(sender, 5e6);
        _operate(address(usdc), abi.encodeCall(usdc.transfer, (bob, 1e6)), passkey, name);
    }

    function _nextAccount() private returns (uint256 x, uint256 y) {
        (x, y) = vm.publicKeyP256(++key);
        sender = factory.getAddress(x, y, 0);
        if (!sponsored) vm.deal(sender, 10 ether);
    }

    function _operate(address target, bytes memory data, bool passkey, string memory name) private {
        PackedUserOperation memory op = _operation(sender, abi.encodeCall(VaultAccount.execute, (target, 0, data)));
        op.nonce = IEntryPoint(entryPoint).getNonce(sender, 0);
        if (sender.code.length == 0) {
            (uint256 x, uint256 y) = vm.publicKeyP256(key);
            op.initCode = abi.encodePacked(address(factory), abi.encodeCall(AppFactory.createAccount, (x, y, 0)));
        }
        if (sponsored) _sponsor(op);
        bytes32 hash = IUserOpHash(entryPoint).getUserOpHash(op);
        op.signature = passkey ? _assert(key, hash, 0x05) : _sign(key, hash);
        _handle(op, name);
        vm.assertEq(IEntryPoint(entryPoint).getNonce(sender, 0), op.nonce + 1);
    }

    function _sponsor(PackedUserOperation memory op) private view {
        op.paymasterAndData = abi.encodePacked(address(paymaster), PAYMASTER_LIMITS);
        bytes32 hash = paymaster.getHash(op, entryPoint, 0, 0);
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(SPONSOR_KEY, keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", hash)));
        op.paymasterAndData = abi.encodePacked(op.paymasterAndData, uint96(0), r, s, v);
    }

    function _handle(PackedUserOperation memory op, string memory name) private {
        PackedUserOperation[] memory ops = new PackedUserOperation[](1);
        ops[0] = op;
        vm.prank(bob, bob);
        IEntryPoint(entryPoint).handleOps(ops, payable(bob));
        if (bytes(name).length != 0) vm.snapshotGasLastCall(signatures, string.concat(name, ", ", version));
    }
}
