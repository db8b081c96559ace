// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";
import {Permission} from "../../src/account/Permissions.sol";
import {DevUSDC} from "../../src/dev/DevUSDC.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";
import {PermissionFixture} from "../utils/PermissionFixture.sol";

/// @notice Everybody but the owners: strangers, one of two guardians, and a spender, who call everything with signatures of
/// all the keys they have, and with those that the owner gave for something else.
contract Strangers is AccountFixture {
    DevUSDC private immutable usdc;
    Permission private permission;
    /// @dev A change that the owner signed and that was applied: anyone who saw it may send it again.
    Owners.Change[] private old;
    bytes private oldSignature;
    address[3] private callers = [address(0xBAD), vm.addr(WALLET_KEY), vm.addr(SPENDER_KEY)];
    uint256[5] private keys = [OTHER_KEY, GUARDIAN_KEY, SPENDER_KEY, THIRD_KEY, WALLET_KEY];
    uint256 public spent;
    uint256 public waited;
    uint256 public spends;
    uint256 public refusals;

    constructor(VaultAccount account_, DevUSDC usdc_, Permission memory permission_, Owners.SignedChanges memory seen) {
        (account, usdc, permission, oldSignature) = (account_, usdc_, permission_, seen.signature);
        for (uint256 i = 0; i < seen.changes.length; ++i) {
            old.push(seen.changes[i]);
        }
    }

    function setUp() public override {}

    function wait(uint256 time) external {
        time = time % 2 days;
        vm.warp(vm.getBlockTimestamp() + time);
        waited += time;
    }

    function execute(uint256 who, uint256 what, uint96 value) external {
        bytes[5] memory calls = [
            _execute(address(usdc), 0, abi.encodeCall(usdc.transfer, (mallory, value))),
            _execute(mallory, value, ""),
            abi.encodeCall(VaultAccount.setPublicKey, (1, 2)),
            abi.encodeCall(VaultAccount.changeOwners, (_list(_add(_p256(OTHER_KEY))))),
            abi.encodeCall(VaultAccount.grantPermission, (permission))
        ];
        _try(who, calls[what % 5]);
    }

    function cancel(uint256 who, bytes32 id) external {
        _try(who, abi.encodeCall(VaultAccount.cancelRecovery, ()));
        _try(who, abi.encodeCall(VaultAccount.revokePermission, (id)));
    }

    function changeOwners(uint256 who, uint64 sequence, uint256 kind, uint256 value) external {
        Owners.ChangeKind chosen = Owners.ChangeKind(kind % 8);
        Owners.Change[] memory changes = _list(_change(chosen, _p256(_key(value)), value % 4000));
        sequence = sequence % 3;
        bytes32 digest = _changesDigest(address(account), sequence, changes);
        _try(who, abi.encodeCall(account.applyChangesEverywhere, (sequence, changes, _signature(who, digest))));
        _try(who, abi.encodeCall(account.applyChangesEverywhere, (sequence, old, oldSignature)));
    }

    function recover(uint256 who, uint256 owner, uint32 nonce) external {
        bytes[] memory newOwners = _newOwners(_p256(_key(owner)));
        bytes32 digest = _recoveryDigest(address(account), nonce % 3, newOwners);
        _try(who, abi.encodeCall(account.startRecovery, (newOwners, _signature(who, digest))));
        _try(who, abi.encodeCall(account.finishRecovery, (newOwners)));
        digest = _cancelDigest(address(account), nonce % 3);
        _try(who, abi.encodeCall(account.cancelRecoverySigned, (_signature(who, digest))));
    }

    function validate(uint256 who, uint256 what, bytes32 hash, bool paid) external {
        PackedUserOperation memory op = _operation(address(account), _execute(mallory, what, ""));
        if (paid) op.paymasterAndData = abi.encodePacked(PAYMASTER, bytes32(0));
        op.signature = _signature(who, hash);
        vm.prank(EP08);
        vm.assertEq(account.validateUserOp(op, hash, 0), 1);
        vm.assertTrue(account.isValidSignature(hash, op.signature) != 0x1626ba7e);
    }

    /// @notice The spender itself, within its permission or beyond.
    function spend(uint256 who, address to, uint256 amount, bool other) external {
        Permission memory p = permission;
        if (other) p.salt = 1;
        amount = amount % 12e6;
        vm.prank(callers[who % 3]);
        try account.spend(p, to, amount, "") {
            vm.assertTrue(who % 3 == 2 && !other);
            spent += amount;
            ++spends;
        } catch {}
    }

    function _key(uint256 seed) private view returns (uint256) {
        return keys[seed % 5];
    }

    function _signature(uint256 who, bytes32 digest) private view returns (bytes memory) {
        uint256 key = _key(who);
        if (key == WALLET_KEY) return _named(_wallet(key), _walletSign(key, digest));
        if (who % 7 == 0) return _sign(key, digest);
        if (who % 7 == 1) return _named(_p256(KEY), _sign(key, digest));
        return who % 7 == 2 ? _namedTwo(key, 0xF00D, digest) : _named(key, digest);
    }

    /// @dev None of these may succeed. Whom else would the account obey?
    function _try(uint256 who, bytes memory data) private {
        vm.prank(callers[who % 3]);
        (bool success,) = address(account).call(data);
        vm.assertFalse(success);
        ++refusals;
    }
}

/// @notice Two guardians, each of them a quorum, who start recoveries alone and together while no owner acts.
contract Guardians is AccountFixture {
    uint256 public starts;
    uint8 public supporters;

    constructor(VaultAccount account_) {
        account = account_;
    }

    function setUp() public override {}

    function wait(uint256 time) external {
        vm.warp(vm.getBlockTimestamp() + time % 2 days);
    }

    function start(uint256 who, uint256 owner) external {
        bytes[] memory newOwners = _newOwners(_p256(owner % 2 == 0 ? OTHER_KEY : THIRD_KEY));
        bytes32 digest = _recoveryDigest(address(account), _nonce(), newOwners);
        bytes memory alone = _named(who % 3 == 0 ? GUARDIAN_KEY : SECOND_GUARDIAN_KEY, digest);
        bytes memory both = _namedTwo(GUARDIAN_KEY, SECOND_GUARDIAN_KEY, digest);
        try account.startRecovery(newOwners, who % 3 == 2 ? both : alone) {
            (, uint8 given,) = account.pendingRecovery();
            vm.assertTrue(given > supporters);
            supporters = given;
            ++starts;
        } catch {}
    }
}

/// @notice Guardians put off the end of a recovery at most as often as there are guardians.
contract GuardianInvariantsTest is AccountFixture {
    Guardians private guardians;

    function setUp() public override {
        super.setUp();
        _make(_list(_guardian(_p256(GUARDIAN_KEY)), _guardian(_p256(SECOND_GUARDIAN_KEY)), _quorum(1)));
        guardians = new Guardians(account);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(guardians);
    }

    function invariant_recoveriesDoNotFollowEachOtherWithoutEnd() public view {
        vm.assertTrue(guardians.starts() <= 2);
        (uint48 readyAt, uint8 supporters,) = account.pendingRecovery();
        vm.assertEq(supporters, guardians.supporters());
        vm.assertTrue(readyAt <= vm.getBlockTimestamp() + 3 days);
    }

    /// @notice The guardians must be able to start and to replace one.
    function test_theGuardiansReachTheAccount() public {
        guardians.start(0, 0);
        guardians.start(1, 1);
        guardians.wait(1 days);
        guardians.start(2, 1);
        guardians.start(2, 0);
        vm.assertEq(guardians.starts(), 2);
        invariant_recoveriesDoNotFollowEachOtherWithoutEnd();
    }
}

contract AccountInvariantsTest is PermissionFixture {
    Strangers private strangers;
    Permission private permission;
    bytes32 private settings;

    function setUp() public override {
        super.setUp();
        permission = _subscription();
        (permission.target, permission.until) = (address(0), 0);
        _grant(permission);
        _make(_list(_guardian(_p256(GUARDIAN_KEY)), _guardian(_p256(SECOND_GUARDIAN_KEY)), _quorum(2)));
        Owners.Change[] memory changes = _list(_add(_p256(SECOND_KEY)));
        bytes memory signature = _signChanges(KEY, 0, changes);
        account.applyChangesEverywhere(0, changes, signature);
        strangers = new Strangers(account, usdc, permission, Owners.SignedChanges(changes, signature));
        settings = keccak256(abi.encode(account.accountSettings()));
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(strangers);
    }

    /// @notice Nobody but the owners changes owners, guardians, threshold, quorum or delay, or starts a recovery.
    function invariant_theSettingsStay() public view {
        vm.assertEq(keccak256(abi.encode(account.accountSettings())), settings);
        (uint256 x, uint256 y) = account.publicKey();
        vm.assertTrue(x == pubKeyX && y == pubKeyY);
        vm.assertTrue(_isOwner(_p256(KEY)) && _isOwner(_p256(SECOND_KEY)));
        uint256[4] memory others = [OTHER_KEY, GUARDIAN_KEY, SPENDER_KEY, THIRD_KEY];
        for (uint256 i = 0; i < others.length; ++i) {
            vm.assertFalse(_isOwner(_p256(others[i])));
        }
        (uint48 readyAt,,) = account.pendingRecovery();
        vm.assertEq(readyAt, 0);
    }

    /// @notice Money leaves only through the permission, and not more than its allowance in each period.
    function invariant_theMoneyStays() public view {
        vm.assertEq(usdc.balanceOf(address(account)), 100e6 - strangers.spent());
        vm.assertEq(address(account).balance, 1 ether);
        vm.assertTrue(strangers.spent() <= 10e6 * (1 + strangers.waited() / 1 days));
    }

    /// @notice The strangers must be able to do what they may, and must have tried the rest.
    function test_theStrangersReachTheAccount() public {
        strangers.spend(2, bob, 3e6, false);
        strangers.spend(1, bob, 3e6, false);
        strangers.recover(1, 3, 0);
        strangers.changeOwners(1, 0, 0, 9);
        strangers.execute(2, 3, 0);
        vm.assertEq(strangers.spends(), 1);
        vm.assertTrue(strangers.refusals() == 6);
        invariant_theSettingsStay();
        invariant_theMoneyStays();
    }
}
