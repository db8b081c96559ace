// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";
import {Permission, Permissions} from "../../src/account/Permissions.sol";
import {Recovery} from "../../src/account/Recovery.sol";
import {VerifyingPaymaster} from "../../src/VerifyingPaymaster.sol";
import {IUserOpHash} from "../utils/Fixture.sol";
import {PermissionFixture} from "../utils/PermissionFixture.sol";

/// @notice Calls back what it was told, in the middle of another call.
contract Reentrant {
    address private target;
    bytes private data;
    bool public succeeded;

    function prepare(address target_, bytes calldata data_) external {
        (target, data) = (target_, data_);
    }

    /// @notice Begins as the spender.
    function begin(address account, bytes calldata call) external {
        (bool success,) = account.call(call);
        require(success, "begin");
    }

    receive() external payable {
        if (data.length == 0) return;
        bytes memory call = data;
        delete data;
        (succeeded,) = target.call(call);
    }
}

/// @notice What each role could try with what it has, through the real entry points where they matter.
contract AttacksTest is PermissionFixture {
    uint256 private constant SPONSOR_KEY = 0x590;
    VerifyingPaymaster private paymaster;
    Permission private p;

    function setUp() public override {
        super.setUp();
        _deployEntryPoints();
        paymaster = VerifyingPaymaster(_deployedWith("VerifyingPaymaster", vm.addr(SPONSOR_KEY)));
        vm.deal(address(this), 1 ether);
        paymaster.deposit{value: 1 ether}(EP08);
        p = _subscription();
        p.keyId = keccak256(_p256(SPENDER_KEY));
        _grant(p);
        vm.warp(vm.getBlockTimestamp() + 1); // an entry point's validity begins one second after the start
    }

    // --- a stolen spender

    function test_aSpenderGetsItsLimitAndNoMore() public {
        _handleOne(EP08, _spending(6e6, 0));
        vm.assertEq(usdc.balanceOf(alice), 6e6);
        _handleOne(EP08, _spending(6e6, 1));
        vm.assertEq(usdc.balanceOf(alice), 6e6);
        vm.warp(vm.getBlockTimestamp() + 1 days);
        _handleOne(EP08, _spending(6e6, 2));
        vm.assertEq(usdc.balanceOf(alice), 12e6);
        vm.assertEq(address(account).balance, 1 ether);
    }

    function test_aSpenderCannotBurnTheCoin() public {
        PackedUserOperation memory op = _operation(address(account), _spendCall(1e6));
        op.nonce = _nonceOf(_idOf(p));
        op.signature = _named(SPENDER_KEY, IUserOpHash(EP08).getUserOpHash(op));
        _refuseOperation(op);
        vm.assertEq(address(account).balance, 1 ether);
    }

    /// @notice Also not the account's deposit with an entry point.
    function test_aSpenderCannotBurnTheDeposit() public {
        IEntryPoint(EP08).depositTo{value: 0}(address(account));
        vm.deal(alice, 1 ether);
        vm.prank(alice);
        IEntryPoint(EP08).depositTo{value: 1 ether}(address(account));
        test_aSpenderCannotBurnTheCoin();
        vm.assertEq(IEntryPoint(EP08).balanceOf(address(account)), 1 ether);
    }

    function test_whatIsRevokedInTheSameBundleIsNotSpent() public {
        PackedUserOperation[] memory ops = new PackedUserOperation[](2);
        ops[0] = _operation(address(account), abi.encodeCall(VaultAccount.revokePermission, (_idOf(p))));
        ops[0].signature = _sign(KEY, IUserOpHash(EP08).getUserOpHash(ops[0]));
        ops[1] = _spending(6e6, 0);
        vm.prank(bob, bob);
        IEntryPoint(EP08).handleOps(ops, payable(bob));
        vm.assertEq(usdc.balanceOf(alice), 0);
    }

    function test_aReceiverCannotActWhileItIsPaid() public {
        Reentrant receiver = new Reentrant();
        Permission memory coin = _subscription();
        (coin.token, coin.target) = (address(0), address(receiver));
        _grant(coin);
        bytes[3] memory calls = [
            _execute(mallory, 1, ""),
            abi.encodeCall(VaultAccount.spend, (coin, address(receiver), 1, "")),
            abi.encodeCall(VaultAccount.grantPermission, (coin))
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            receiver.prepare(address(account), calls[i]);
            _spend(coin, address(receiver), 1, "");
            vm.assertFalse(receiver.succeeded());
        }
        vm.assertEq(address(receiver).balance, 3);
    }

    /// @notice A spender that is called while it spends may spend again, but both count.
    function test_aSpenderThatComesBackIsCounted() public {
        Reentrant spender = new Reentrant();
        Permission memory coin = _subscription();
        (coin.token, coin.target, coin.allowance) = (address(0), address(spender), 10);
        coin.keyId = keccak256(abi.encodePacked(spender));
        _grant(coin);
        bytes memory call = abi.encodeCall(VaultAccount.spend, (coin, address(spender), 6, ""));
        spender.prepare(address(account), call);
        spender.begin(address(account), call);
        vm.assertFalse(spender.succeeded());
        vm.assertEq(address(spender).balance, 6);
        vm.assertEq(_left(coin), 4);
    }

    /// @notice A key has the same permission from two accounts: neither the signature nor the permission for one counts at the other.
    function test_aPermissionIsThatOfOneAccount() public {
        PackedUserOperation memory op = _spending(6e6, 0);
        VaultAccount other = VaultAccount(payable(factory.createAccount(pubKeyX, pubKeyY, 1)));
        usdc.mint(address(other), 10e6);
        op.sender = address(other);
        _refuseOperation(op);
        op.signature = _named(SPENDER_KEY, IUserOpHash(EP08).getUserOpHash(op));
        _refuseOperation(op);
        vm.assertEq(usdc.balanceOf(address(other)), 10e6);
    }

    // --- a stolen guardian

    /// @notice A guardian alone signs no operation and no change, stops no recovery, and cannot make a quorum of two.
    function test_aGuardianIsNoOwner() public {
        _makeGuardian();
        bytes memory signer = _p256(GUARDIAN_KEY);
        vm.assertEq(_validate(_named(GUARDIAN_KEY, OP_HASH)), 1);
        Owners.Change[] memory changes = _list(_add(signer));
        bytes memory signature = _named(GUARDIAN_KEY, _changesDigest(address(account), 0, changes));
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.applyChangesEverywhere(0, changes, signature);
        bytes[] memory newOwners = _newOwners(signer);
        _startRecovery(GUARDIAN_KEY, newOwners);
        signature = _named(GUARDIAN_KEY, _cancelDigest(address(account), _nonce()));
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.cancelRecoverySigned(signature);
        _make(_list(_guardian(_p256(SECOND_GUARDIAN_KEY)), _quorum(2)));
        signature = _named(GUARDIAN_KEY, _recoveryDigest(address(account), _nonce(), newOwners));
        vm.expectRevert(abi.encodeWithSelector(Recovery.NoQuorum.selector, 1, 2));
        account.startRecovery(newOwners, signature);
    }

    // --- replay

    function test_anOperationIsNoneOfAnotherChain() public {
        PackedUserOperation memory op = _operation(address(account), _execute(mallory, 1, ""));
        op.signature = _sign(KEY, IUserOpHash(EP08).getUserOpHash(op));
        vm.chainId(block.chainid + 1);
        _refuseOperation(op);
    }

    function test_changesAreThoseOfOneAccount() public {
        VaultAccount other = VaultAccount(payable(factory.createAccount(pubKeyX, pubKeyY, 1)));
        Owners.Change[] memory changes = _list(_add(_p256(SECOND_KEY)));
        bytes memory signature = _signChanges(KEY, 0, changes);
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        other.applyChangesEverywhere(0, changes, signature);
    }

    function test_aRecoveryIsThatOfOneAccount() public {
        _makeGuardian();
        bytes[] memory newOwners = _newOwners(_p256(THIRD_KEY));
        bytes memory signature = _named(GUARDIAN_KEY, _recoveryDigest(address(account), 0, newOwners));
        account = VaultAccount(payable(factory.createAccount(pubKeyX, pubKeyY, 1)));
        _makeGuardian();
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.startRecovery(newOwners, signature);
    }

    /// @notice An app that names the account's own domain does not get changes of owners signed as a message.
    function test_aMessageIsNoChange() public {
        Owners.Change[] memory changes = _list(_add(_p256(OTHER_KEY)));
        bytes32 digest = _changesDigest(address(account), 0, changes);
        bytes memory signature = _sign(KEY, _personal(address(account), digest));
        vm.assertEq(bytes32(account.isValidSignature(digest, signature)), bytes32(bytes4(0x1626ba7e)));
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.applyChangesEverywhere(0, changes, signature);
        vm.assertEq(_validate(signature), 1);
    }

    // --- a relayer, and anyone who deploys first

    function test_whoDeploysFirstGainsNothing() public {
        address predicted = factory.getAddress(pubKeyX, pubKeyY, 3);
        vm.prank(mallory);
        factory.createAccount(pubKeyX, pubKeyY, 3);
        (uint256 x, uint256 y) = VaultAccount(payable(predicted)).publicKey();
        vm.assertTrue(x == pubKeyX && y == pubKeyY);
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, address(factory)));
        vm.prank(address(factory));
        VaultAccount(payable(predicted)).execute(mallory, 0, "");
    }

    function test_aRelayerCannotLeaveOutAChange() public {
        Owners.Change[] memory changes = _list(_add(_p256(SECOND_KEY)), _threshold(2));
        bytes memory signature = _signChanges(KEY, 0, changes);
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.applyChangesEverywhere(0, _list(changes[0]), signature);
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.applyChangesEverywhere(0, _list(changes[1], changes[0]), signature);
    }

    /// @notice With too little gas nothing holds, also where a check runs out of it and its caller does not.
    function test_aRelayerWithLittleGasChangesNothing() public {
        Owners.Change[] memory changes = _list(_add(_p256(SECOND_KEY)), _add(_wallet(WALLET_KEY)));
        bytes memory call = abi.encodeCall(Owners.applyChangesEverywhere, (0, changes, _signChanges(KEY, 0, changes)));
        uint256 refused = 0;
        for (uint256 gasLimit = 20_000; refused < 100; gasLimit += 12_000) {
            (bool done,) = address(account).call{gas: gasLimit}(call);
            (bool first,,) = account.keyState(keccak256(_p256(SECOND_KEY)));
            (bool second,,) = account.keyState(keccak256(_wallet(WALLET_KEY)));
            vm.assertTrue(first == done && second == done);
            if (done) break;
            ++refused;
        }
        vm.assertTrue(refused > 5 && refused < 100);
    }

    // --- recovery

    /// @notice A thief with an owner's key who throws out the guardians does not stop the recovery by that alone.
    function test_guardiansWhoAreRemovedHaveStartedIt() public {
        _makeGuardian();
        bytes[] memory newOwners = _newOwners(_p256(THIRD_KEY));
        _startRecovery(GUARDIAN_KEY, newOwners);
        _make(_list(_change(Owners.ChangeKind.RemoveGuardian, _p256(GUARDIAN_KEY), 0), _quorum(0)));
        vm.warp(vm.getBlockTimestamp() + 3 days);
        account.finishRecovery(newOwners);
        vm.assertEq(_validate(_sign(THIRD_KEY, OP_HASH)), 0);
    }

    /// @notice A guardian whose key was stolen can be cancelled and removed in one list before the delay is over.
    function test_aStolenGuardianIsRemovedInTime() public {
        _makeGuardian();
        bytes[] memory newOwners = _newOwners(_p256(OTHER_KEY));
        _startRecovery(GUARDIAN_KEY, newOwners);
        account.cancelRecoverySigned(_sign(KEY, _cancelDigest(address(account), _nonce())));
        Owners.Change[] memory changes =
            _list(_change(Owners.ChangeKind.RemoveGuardian, _p256(GUARDIAN_KEY), 0), _quorum(0));
        account.applyChangesEverywhere(0, changes, _signChanges(KEY, 0, changes));
        bytes memory signature = _named(GUARDIAN_KEY, _recoveryDigest(address(account), _nonce(), newOwners));
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.startRecovery(newOwners, signature);
    }

    /// @notice What the old owners signed before the recovery is void after it.
    function test_aFormerOwnersChangesAreVoid() public {
        _makeGuardian();
        Owners.Change[] memory changes = _list(_add(_p256(OTHER_KEY)));
        bytes memory signature = _signChanges(KEY, 0, changes);
        bytes[] memory newOwners = _newOwners(_p256(THIRD_KEY));
        _startRecovery(GUARDIAN_KEY, newOwners);
        vm.warp(vm.getBlockTimestamp() + 3 days);
        account.finishRecovery(newOwners);
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.applyChangesEverywhere(0, changes, signature);
    }

    function _spendCall(uint256 amount) private view returns (bytes memory) {
        return abi.encodeCall(VaultAccount.spend, (p, alice, amount, ""));
    }

    /// @param sequence With the nonce key of the permission.
    function _spending(uint256 amount, uint256 sequence) private view returns (PackedUserOperation memory op) {
        op = _operation(address(account), _spendCall(amount));
        op.nonce = _nonceOf(_idOf(p)) | sequence;
        op.paymasterAndData = abi.encodePacked(paymaster, bytes32(uint256(100_000) << 128 | 1));
        bytes32 hash = paymaster.getHash(op, EP08, 0, 0);
        hash = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", hash));
        op.paymasterAndData = abi.encodePacked(op.paymasterAndData, uint96(0), _walletSign(SPONSOR_KEY, hash));
        op.signature = _named(SPENDER_KEY, IUserOpHash(EP08).getUserOpHash(op));
    }

    function _refuseOperation(PackedUserOperation memory op) private {
        vm.expectRevert(abi.encodeWithSelector(bytes4(0x220266b6), 0, "AA24 signature error"));
        _handleOne(EP08, op);
    }
}
