// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {AppFactory} from "../src/AppFactory.sol";
import {DIDRegistry} from "../src/DIDRegistry.sol";
import {SessionSBT} from "../src/SessionSBT.sol";
import {VaultAccount} from "../src/VaultAccount.sol";
import {VerifyingPaymaster} from "../src/VerifyingPaymaster.sol";
import {DevUSDC} from "../src/dev/DevUSDC.sol";
import {Owners} from "../src/account/Owners.sol";
import {Permission} from "../src/account/Permissions.sol";
import {AccountFixture} from "./utils/AccountFixture.sol";
import {IUserOpHash} from "./utils/Fixture.sol";

/// @notice The cost of operations as separate transactions: snapshots/*.json, with which docs/contracts.md is compared.
/// @dev Isolated: every outermost call pays for a transaction and accesses cold storage, as on a chain.
/// forge-config: default.isolate = true
/// forge-config: precompile.isolate = true
contract GasTest is AccountFixture {
    uint256 private constant SPONSOR_KEY = 0x590;
    bytes32 private constant PAYMASTER_LIMITS = bytes32(uint256(60_000) << 128 | 1);

    DevUSDC private usdc;
    VerifyingPaymaster private paymaster;
    string private signatures;

    // The properties of the operation that is measured next.
    address private entryPoint;
    string private version;
    bool private sponsored;
    uint256 private key = 0x6A5;
    address private sender;
    /// @dev The owner who signs by name, or zero for the primary key.
    uint256 private signer;
    uint192 private nonceKey;

    function setUp() public override {
        super.setUp();
        _deployEntryPoints();
        usdc = DevUSDC(_deployed("DevUSDC"));
        usdc.mint(bob, 5e6);
        paymaster = VerifyingPaymaster(_deployedWith("VerifyingPaymaster", vm.addr(SPONSOR_KEY)));
        string memory profile = vm.envOr("FOUNDRY_PROFILE", string("default"));
        bool precompile = keccak256(bytes(profile)) == keccak256("precompile");
        signatures = precompile ? "OperationsWithPrecompile" : "OperationsInSolidity";
    }

    function test_calls() public {
        bytes32 commitment = registry.commitmentOf(DID, ALIAS, alice, SECRET);
        vm.prank(mallory);
        registry.commit(commitment);
        vm.snapshotGasLastCall("Calls", "DIDRegistry.commit");
        vm.roll(vm.getBlockNumber() + 1);
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
        uint256 tokenId = sessions.issue("s", uint64(vm.getBlockTimestamp() + 1));
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
        _spend();
        _commitThenRegister();
        sponsored = false;
        _register("deploy, register DID and alias", keccak256(abi.encode(version)));
        _pay("", false);
        _pay("USDC payment", false);
        _pay("USDC payment by passkey", true);
        bytes memory session = abi.encodeCall(SessionSBT.issue, (keccak256("s"), uint64(vm.getBlockTimestamp() + 9)));
        _operate(address(sessions), session, true, "session token by passkey");
        _changeOwners();
    }

    /// @dev Owner changes that anyone brings, and payments by an owner that is not the primary key.
    function _changeOwners() private {
        _relay("first change by relay: add an owner", SECOND_KEY);
        _relay("further change by relay: add an owner", THIRD_KEY);
        signer = SECOND_KEY;
        _pay("", false); // as before the primary key's payment, so that both leave the deposit as it was
        _pay("USDC payment by a second owner", false);
        _pay("USDC payment by a second owner's passkey", true);
        signer = 0;
        _recover();
    }

    /// @dev A recovery by one guardian, brought by a stranger.
    function _recover() private {
        account = VaultAccount(payable(sender));
        _makeGuardian();
        bytes[] memory newOwners = _newOwners(_p256(OTHER_KEY));
        bytes memory signature = _named(GUARDIAN_KEY, _recoveryDigest(sender, 0, newOwners));
        vm.prank(bob, bob);
        account.startRecovery(newOwners, signature);
        _snapshot("recovery: start");
        vm.warp(vm.getBlockTimestamp() + 3 days);
        vm.prank(bob, bob);
        account.finishRecovery(newOwners);
        _snapshot("recovery: finish");
    }

    /// @dev A spender's second payment in a period, by its key and by a separate address.
    function _spend() private {
        account = VaultAccount(payable(sender));
        Permission memory p = Permission(0, address(usdc), 9e6, 1 days, 0, 0, bob, 0, 0);
        (p.keyId, signer) = (keccak256(_p256(SPENDER_KEY)), SPENDER_KEY);
        vm.prank(sender);
        account.grantPermission(p);
        nonceKey = uint192(bytes24(keccak256(abi.encode(p))));
        bytes memory data = abi.encodeCall(VaultAccount.spend, (p, bob, 1e6, ""));
        _operate(data, false, "");
        _operate(data, false, "USDC payment by a permission, sponsored");
        (signer, nonceKey) = (0, 0);
    }

    function _snapshot(string memory name) private {
        if (bytes(name).length != 0) vm.snapshotGasLastCall(signatures, string.concat(name, ", ", version));
    }

    function _relay(string memory name, uint256 added) private {
        Owners.Change[] memory changes = _list(_add(_p256(added)));
        uint64 sequence = VaultAccount(payable(sender)).accountSettings().sequence;
        bytes memory signature = _sign(key, _changesDigest(sender, sequence, changes));
        vm.prank(bob, bob);
        VaultAccount(payable(sender)).applyChangesEverywhere(sequence, changes, signature);
        _snapshot(name);
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
        vm.roll(vm.getBlockNumber() + 1);
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
        _operate(_execute(target, 0, data), passkey, name);
    }

    function _operate(bytes memory callData, bool passkey, string memory name) private {
        PackedUserOperation memory op = _operation(sender, callData);
        op.nonce = IEntryPoint(entryPoint).getNonce(sender, nonceKey);
        if (sender.code.length == 0) {
            (uint256 x, uint256 y) = vm.publicKeyP256(key);
            op.initCode = abi.encodePacked(address(factory), abi.encodeCall(AppFactory.createAccount, (x, y, 0)));
        }
        if (sponsored) _sponsor(op);
        bytes32 hash = IUserOpHash(entryPoint).getUserOpHash(op);
        uint256 by = signer == 0 ? key : signer;
        op.signature = passkey ? _assert(by, hash, 0x05) : _sign(by, hash);
        if (signer != 0) op.signature = abi.encodePacked(_p256(by), op.signature);
        _handle(op, name);
        vm.assertEq(IEntryPoint(entryPoint).getNonce(sender, nonceKey), op.nonce + 1);
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
        _snapshot(name);
    }
}
