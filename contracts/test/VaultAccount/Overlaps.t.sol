// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {IEntryPoint} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";
import {Permission} from "../../src/account/Permissions.sol";
import {IUserOpHash} from "../utils/Fixture.sol";
import {PermissionFixture} from "../utils/PermissionFixture.sol";
import {Dying, Flooding, Looping, Saying} from "../utils/Targets.sol";

/// @notice Accepts every signature, without storage.
contract Agreeing {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0x1626ba7e;
    }
}

/// @notice Two roles of one key, and two events at once.
contract OverlapsTest is PermissionFixture {
    bytes4 private constant YES = 0x1626ba7e;

    // --- an owner is removed

    function test_anOwnerMayRemoveItselfInWhatItSigns() public {
        _make(_add(_p256(SECOND_KEY)));
        Owners.Change[] memory changes = _list(_remove(_p256(SECOND_KEY)), _add(_p256(THIRD_KEY)));
        account.applyChangesEverywhere(0, changes, _by(SECOND_KEY, 0, changes));
        vm.assertTrue(_isOwner(_p256(THIRD_KEY)) && !_isOwner(_p256(SECOND_KEY)));
        changes = _list(_remove(_p256(THIRD_KEY)));
        bytes memory signature = _by(SECOND_KEY, 1, changes);
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.applyChangesEverywhere(1, changes, signature);
    }

    /// @notice Entry points validate a whole bundle first: an operation behind the removal is as one before it.
    function test_inTheBundleOfItsRemovalAnOwnerStillActs() public {
        _deployEntryPoints();
        _make(_add(_p256(SECOND_KEY)));
        bytes memory removal = abi.encodeCall(VaultAccount.changeOwners, (_list(_remove(_p256(SECOND_KEY)))));
        PackedUserOperation[] memory ops = new PackedUserOperation[](2);
        ops[0] = _signed(KEY, 0, _execute(address(account), 0, removal));
        ops[1] = _signed(SECOND_KEY, 1, _execute(bob, 1 wei, ""));
        vm.prank(bob, bob);
        IEntryPoint(EP08).handleOps(ops, payable(alice));
        vm.assertFalse(_isOwner(_p256(SECOND_KEY)));
        vm.assertEq(bob.balance, 1 wei);
        ops = new PackedUserOperation[](1);
        ops[0] = _signed(SECOND_KEY, 2, _execute(bob, 1 wei, ""));
        vm.prank(bob, bob);
        vm.expectRevert();
        IEntryPoint(EP08).handleOps(ops, payable(alice));
    }

    function test_aMessageOfARemovedOwnerIsNoneOfTheAccount() public {
        _make(_add(_p256(SECOND_KEY)));
        bytes memory signature = _named(SECOND_KEY, _personal(address(account), OP_HASH));
        vm.assertEq(bytes32(account.isValidSignature(OP_HASH, signature)), bytes32(YES));
        _make(_remove(_p256(SECOND_KEY)));
        vm.assertEq(bytes32(account.isValidSignature(OP_HASH, signature)), bytes32(bytes4(0xffffffff)));
    }

    /// @notice Removing a key from the owners does not remove it from the guardians: clients name both.
    function test_aRemovedOwnerStaysAGuardianUntilThatIsRemovedToo() public {
        _make(_list(_add(_p256(GUARDIAN_KEY)), _guardian(_p256(GUARDIAN_KEY)), _quorum(1)));
        _make(_remove(_p256(GUARDIAN_KEY)));
        vm.assertEq(_validate(_named(GUARDIAN_KEY, OP_HASH)), 1);
        _startRecovery(GUARDIAN_KEY, _newOwners(_p256(GUARDIAN_KEY)));
        account.cancelRecoverySigned(_sign(KEY, _cancelDigest(address(account), 1)));
        _make(_list(_quorum(0), _change(Owners.ChangeKind.RemoveGuardian, _p256(GUARDIAN_KEY), 0)));
        bytes[] memory list = _newOwners(_p256(GUARDIAN_KEY));
        bytes memory signature = _named(GUARDIAN_KEY, _recoveryDigest(address(account), _nonce(), list));
        vm.expectRevert();
        account.startRecovery(list, signature);
    }

    // --- during a recovery

    function test_anOwnerThatExpiresMeanwhileDoesNotCancelAndIsGone() public {
        _makeGuardian();
        uint256 expiry = vm.getBlockTimestamp() + 1 days;
        _make(_change(Owners.ChangeKind.AddOwner, _p256(SECOND_KEY), expiry));
        bytes[] memory list = _newOwners(_p256(SECOND_KEY));
        _startRecovery(GUARDIAN_KEY, list);
        bytes memory cancellation = _named(SECOND_KEY, _cancelDigest(address(account), _nonce()));
        vm.warp(vm.getBlockTimestamp() + 3 days);
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.cancelRecoverySigned(cancellation);
        account.finishRecovery(list);
        vm.assertEq(_validate(_sign(SECOND_KEY, OP_HASH)), 0); // named again, it has no expiry any more
        vm.assertEq(account.accountSettings().owners, 1);
    }

    function test_aRecoveryMayNameAnOwnerThatStays() public {
        _makeGuardian();
        _make(_list(_add(_p256(SECOND_KEY)), _threshold(2)));
        bytes[] memory list = _newOwners(_p256(SECOND_KEY));
        _startRecovery(GUARDIAN_KEY, list);
        vm.warp(vm.getBlockTimestamp() + 3 days);
        account.finishRecovery(list);
        vm.assertEq(account.accountSettings().owners, 1);
        vm.assertEq(account.accountSettings().threshold, 1);
        vm.assertEq(_validate(_sign(SECOND_KEY, OP_HASH)), 0);
        vm.assertEq(_validate(_named(KEY, OP_HASH)), 1);
    }

    function test_ofTwoRecoveriesOnlyTheLaterIsFinished() public {
        _make(_list(_guardian(_p256(GUARDIAN_KEY)), _guardian(_p256(SECOND_GUARDIAN_KEY)), _quorum(1)));
        (bytes[] memory first, bytes[] memory second) = (_newOwners(_p256(SECOND_KEY)), _newOwners(_p256(THIRD_KEY)));
        _startRecovery(GUARDIAN_KEY, first);
        vm.warp(vm.getBlockTimestamp() + 2 days);
        bytes32 digest = _recoveryDigest(address(account), 1, second);
        account.startRecovery(second, _namedTwo(GUARDIAN_KEY, SECOND_GUARDIAN_KEY, digest));
        vm.warp(vm.getBlockTimestamp() + 2 days);
        vm.expectRevert();
        account.finishRecovery(first);
        vm.expectRevert();
        account.finishRecovery(second);
        vm.warp(vm.getBlockTimestamp() + 1 days);
        account.finishRecovery(second);
        vm.assertTrue(_isOwner(_p256(THIRD_KEY)) && !_isOwner(_p256(SECOND_KEY)));
    }

    /// @notice A reorganisation takes both back: what was signed holds once more, and the delay begins anew.
    function test_afterAReorganisationWhatWasSignedHoldsAgain() public {
        _makeGuardian();
        uint256 before = vm.snapshotState();
        Owners.Change[] memory changes = _list(_add(_p256(SECOND_KEY)));
        bytes memory signature = _signChanges(KEY, 0, changes);
        for (uint256 i = 0; i < 2; ++i) {
            account.applyChangesEverywhere(0, changes, signature);
            _startRecovery(GUARDIAN_KEY, _newOwners(_p256(THIRD_KEY)));
            (uint48 readyAt,,) = account.pendingRecovery();
            vm.assertEq(readyAt, vm.getBlockTimestamp() + 3 days);
            if (i != 0) continue;
            vm.revertToState(before);
            vm.warp(vm.getBlockTimestamp() + 1 hours);
        }
    }

    function test_theCountOfAPeriodOutlivesAChangeOfOwners() public {
        Permission memory p = _subscription();
        _grant(p);
        _spend(p, alice, 6e6, "");
        _make(_list(_add(_p256(SECOND_KEY)), _primary(_p256(SECOND_KEY)), _remove(_p256(KEY))));
        vm.assertEq(_left(p), 4e6);
        vm.expectRevert();
        _spend(p, alice, 5e6, "");
        vm.prank(address(account));
        account.grantPermission(p); // once more gives no more
        vm.assertEq(_left(p), 4e6);
    }

    // --- owners with code

    /// @notice EIP-7702: the key of an address stays an owner's, and what it delegates to answers for it too.
    function test_aDelegatedAddressObeysItsKeyAndItsCode() public {
        _make(_add(_wallet(WALLET_KEY)));
        vm.etch(vm.addr(WALLET_KEY), abi.encodePacked(hex"ef0100", new Dying()));
        vm.assertEq(_validate(_named(_wallet(WALLET_KEY), _walletSign(WALLET_KEY, OP_HASH))), 0);
        vm.assertEq(_validate(_named(_wallet(WALLET_KEY), "any")), 1);
        vm.etch(vm.addr(WALLET_KEY), abi.encodePacked(hex"ef0100", new Agreeing()));
        vm.assertEq(_validate(_named(_wallet(WALLET_KEY), "any")), 0);
    }

    function test_anOwnerWhoseCodeBurnsGasOrRevertsStopsNoOne() public {
        bytes[4] memory bad = [
            abi.encodePacked(new Looping()),
            abi.encodePacked(new Dying()),
            abi.encodePacked(new Flooding()),
            abi.encodePacked(new Saying("no", true))
        ];
        for (uint256 i = 0; i < bad.length; ++i) {
            _make(_add(bad[i]));
            vm.assertEq(this.validateWithGas{gas: 1_000_000}(_named(bad[i], "any")), 1);
            vm.assertEq(_validate(_sign(KEY, OP_HASH)), 0);
            Owners.Change[] memory changes = _list(_remove(bad[i]));
            // forge-lint: disable-next-line(unsafe-typecast)
            account.applyChangesEverywhere(uint64(i), changes, _signChanges(KEY, uint64(i), changes));
            vm.assertFalse(_isOwner(bad[i]));
        }
    }

    /// @notice As an entry point with limited gas.
    function validateWithGas(bytes calldata signature) external returns (uint256) {
        return _validate(signature);
    }

    function _by(uint256 key, uint64 sequence, Owners.Change[] memory changes) private view returns (bytes memory) {
        return _named(key, _changesDigest(address(account), sequence, changes));
    }

    function _signed(uint256 key, uint192 nonceKey, bytes memory callData)
        private
        view
        returns (PackedUserOperation memory op)
    {
        op = _operation(address(account), callData);
        op.nonce = uint256(nonceKey) << 64;
        op.signature = _named(key, IUserOpHash(EP08).getUserOpHash(op));
    }
}
