// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";
import {Permission} from "../../src/account/Permissions.sol";
import {PermissionFixture} from "../utils/PermissionFixture.sol";
import {Vm} from "../utils/Vm.sol";

/// @notice What a bundler's simulation allows (ERC-7562): every instruction of a validation is looked at.
contract Erc7562Test is PermissionFixture {
    /// @dev ORIGIN, GASPRICE, BLOCKHASH, COINBASE, TIMESTAMP, NUMBER, PREVRANDAO, GASLIMIT, SELFBALANCE, BASEFEE, BLOBHASH,
    /// BLOBBASEFEE, BALANCE, CREATE, INVALID, SELFDESTRUCT; EXTCODESIZE, EXTCODEHASH (OP-011, OP-041).
    bytes private constant BANNED = hex"323a40414243444547484a4931f0feff3b3f";
    bytes1 private constant EXTCODECOPY = 0x3c;
    bytes1 private constant GAS = 0x5a;
    uint8 private constant LAST_CALL_KIND = 3;
    PackedUserOperation private op;

    function setUp() public override {
        super.setUp();
        op = _operation(address(account), _execute(bob, 1, ""));
    }

    function test_ofThePrimaryKey() public {
        op.signature = _sign(KEY, OP_HASH);
        _check(0);
    }

    function test_ofAPasskey() public {
        op.signature = _assert(KEY, OP_HASH, 0x05);
        _check(0);
    }

    function test_ofAnOwnerWithAnExpiry() public {
        _make(_change(Owners.ChangeKind.AddOwner, _p256(SECOND_KEY), 99));
        op.signature = _named(_p256(SECOND_KEY), _assert(SECOND_KEY, OP_HASH, 0x05));
        _check(uint256(99) << 160);
    }

    function test_ofAnAddress() public {
        _make(_add(_wallet(WALLET_KEY)));
        op.signature = _named(_wallet(WALLET_KEY), _walletSign(WALLET_KEY, OP_HASH));
        _check(0);
    }

    function test_ofTwoOwners() public {
        _makeTwo();
        op.signature = _namedTwo(KEY, SECOND_KEY, OP_HASH);
        _check(0);
    }

    function test_ofAnOwnerAfterItsKey() public {
        _make(_add(_p256(SECOND_KEY)));
        op.signature = abi.encodePacked(_p256(SECOND_KEY), _assert(SECOND_KEY, OP_HASH, 0x05));
        _check(0);
    }

    function test_ofASpender() public {
        Permission memory p = _subscription();
        p.keyId = keccak256(_p256(SPENDER_KEY));
        _grant(p);
        op.callData = abi.encodeCall(VaultAccount.spend, (p, alice, 1, ""));
        op.nonce = _nonceOf(_idOf(p));
        op.signature = _named(SPENDER_KEY, OP_HASH);
        op.paymasterAndData = abi.encodePacked(PAYMASTER, bytes32(0));
        _check(uint256(p.start) << 208 | uint256(p.until) << 160);
    }

    function test_ofADeploymentWithChanges() public {
        account = VaultAccount(payable(factory.getAddress(pubKeyX, pubKeyY, 5)));
        Owners.SignedChanges[] memory history = new Owners.SignedChanges[](1);
        Owners.Change[] memory changes = _list(_add(_p256(SECOND_KEY)), _primary(_p256(SECOND_KEY)));
        history[0] = Owners.SignedChanges(changes, _signChanges(KEY, 0, changes));
        _record();
        factory.createAccountWith(pubKeyX, pubKeyY, 5, history);
        _checkRecord(true);
    }

    /// @notice The check itself must see what it forbids.
    function test_theCheckSeesTheTime() public {
        Owners.Change[] memory changes = _list(_add(_p256(SECOND_KEY)));
        _make(_change(Owners.ChangeKind.AddOwner, _p256(THIRD_KEY), vm.getBlockTimestamp() + 1));
        bytes memory signature = _named(THIRD_KEY, _changesDigest(address(account), 0, changes));
        _record();
        account.applyChangesEverywhere(0, changes, signature);
        vm.assertTrue(_uses(0x42));
    }

    function _check(uint256 expected) private {
        PackedUserOperation memory asked = op;
        _record();
        vm.prank(EP08);
        uint256 answer = account.validateUserOp(asked, OP_HASH, 0);
        _checkRecord(false);
        vm.assertEq(answer, expected);
    }

    function _record() private {
        vm.startStateDiffRecording();
        vm.startDebugTraceRecording();
    }

    function _checkRecord(bool deployment) private {
        Vm.DebugStep[] memory steps = vm.stopAndReturnDebugTraceRecording();
        Vm.AccountAccess[] memory accesses = vm.stopAndReturnStateDiff();
        vm.assertTrue(steps.length > 100);
        for (uint256 i = 0; i + 1 < steps.length; ++i) {
            if (!_isOurs(steps[i], deployment)) continue;
            _checkStep(steps[i].opcode, steps[i + 1].opcode);
            // The account reads its own code alone, which bundlers allow (OP-041: it has code; OP-042: it is the sender).
            if (bytes1(steps[i].opcode) == EXTCODECOPY) vm.assertEq(_top(steps[i]), address(account));
        }
        for (uint256 i = 0; i < accesses.length; ++i) {
            _checkAccess(accesses[i]);
        }
    }

    /// @dev The factory may ask for the code of the account that it creates, which is the sender (OP-042).
    function _isOurs(Vm.DebugStep memory step, bool deployment) private view returns (bool) {
        if (step.contractAddr == address(this)) return false;
        return !(deployment && step.contractAddr == address(factory) && step.opcode == 0x3b);
    }

    function _top(Vm.DebugStep memory step) private pure returns (address) {
        return address(uint160(step.stack[0]));
    }

    function _checkStep(uint8 opcode, uint8 next) private pure {
        for (uint256 k = 0; k < BANNED.length; ++k) {
            vm.assertTrue(opcode != uint8(BANNED[k]));
        }
        // GAS only for the call that follows: CALL, CALLCODE, DELEGATECALL or STATICCALL.
        if (bytes1(opcode) == GAS) vm.assertTrue(next == 0xf1 || next == 0xf2 || next == 0xf4 || next == 0xfa);
    }

    function _checkAccess(Vm.AccountAccess memory access) private view {
        for (uint256 k = 0; k < access.storageAccesses.length; ++k) {
            vm.assertEq(access.storageAccesses[k].account, address(account));
        }
        if (access.kind > LAST_CALL_KIND || access.account == address(vm)) return;
        bool precompile = uint160(access.account) < 0x0a || uint160(access.account) == 0x100;
        vm.assertTrue(precompile || access.account.code.length != 0);
    }

    function _uses(uint8 opcode) private returns (bool used) {
        Vm.DebugStep[] memory steps = vm.stopAndReturnDebugTraceRecording();
        vm.stopAndReturnStateDiff();
        for (uint256 i = 0; i < steps.length; ++i) {
            used = used || (steps[i].contractAddr != address(this) && steps[i].opcode == opcode);
        }
    }
}
