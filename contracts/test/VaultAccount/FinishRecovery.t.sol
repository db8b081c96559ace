// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Recovery} from "../../src/account/Recovery.sol";
import {Owners} from "../../src/account/Owners.sol";
import {Keys} from "../../src/account/Keys.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";

contract FinishRecoveryTest is AccountFixture {
    bytes[] private newOwners;

    function setUp() public override {
        super.setUp();
        newOwners = new bytes[](3);
        (newOwners[0], newOwners[1], newOwners[2]) = (_wallet(WALLET_KEY), _p256(THIRD_KEY), _p256(OTHER_KEY));
        _makeGuardian();
    }

    function test_replacesEveryOwner() public {
        _makeTwo();
        _start();
        vm.expectEmit(true, true, true, true, address(account));
        emit Recovery.RecoveryFinished(1);
        vm.expectEmit(true, true, true, true, address(account));
        emit Owners.OwnerAdded(keccak256(newOwners[0]), newOwners[0], 0);
        vm.prank(mallory);
        account.finishRecovery(newOwners);
        vm.assertFalse(_isOwner(_p256(KEY)) || _isOwner(_p256(SECOND_KEY)));
        vm.assertTrue(_isOwner(newOwners[0]) && _isOwner(newOwners[1]) && _isOwner(newOwners[2]));
        vm.assertEq(account.accountSettings().owners, 3);
        vm.assertEq(account.accountSettings().threshold, 1);
        vm.assertEq(account.accountSettings().generation, 1);
        vm.assertEq(_validate(_sign(KEY, OP_HASH)), 1);
        vm.assertEq(_validate(_namedTwo(KEY, SECOND_KEY, OP_HASH)), 1);
    }

    function test_takesSixteenOwnersAtMost() public {
        newOwners = new bytes[](16);
        for (uint256 i = 0; i < 16; ++i) {
            newOwners[i] = abi.encodePacked(address(uint160(100 + i)));
        }
        _start();
        account.finishRecovery(newOwners);
        vm.assertEq(account.accountSettings().owners, 16);
    }

    function test_theFirstP256KeyBecomesPrimary() public {
        _start();
        account.finishRecovery(newOwners);
        (uint256 x, uint256 y) = account.publicKey();
        vm.assertEq(abi.encode(x, y), newOwners[1]);
        vm.assertEq(_validate(_sign(THIRD_KEY, OP_HASH)), 0);
        vm.assertEq(_validate(_named(OTHER_KEY, OP_HASH)), 0);
    }

    function test_withoutOneThereIsNone() public {
        bytes[] memory list = _newOwners(_wallet(WALLET_KEY));
        _startRecovery(GUARDIAN_KEY, list);
        vm.warp(vm.getBlockTimestamp() + 3 days);
        account.finishRecovery(list);
        (uint256 x, uint256 y) = account.publicKey();
        vm.assertTrue(x == 0 && y == 0);
        vm.assertEq(_validate(_sign(KEY, OP_HASH)), 1);
        vm.assertEq(_validate(_named(_wallet(WALLET_KEY), _walletSign(WALLET_KEY, OP_HASH))), 0);
    }

    function test_theFormerOwnerMayBeAmongTheNew() public {
        newOwners[2] = _p256(KEY);
        _start();
        account.finishRecovery(newOwners);
        vm.assertEq(_validate(_named(KEY, OP_HASH)), 0);
    }

    function test_notBeforeTheDelayIsOver() public {
        _startRecovery(GUARDIAN_KEY, newOwners);
        uint48 readyAt = uint48(vm.getBlockTimestamp() + 3 days);
        vm.warp(readyAt - 1);
        vm.expectRevert(abi.encodeWithSelector(Recovery.TooEarly.selector, readyAt));
        account.finishRecovery(newOwners);
        vm.warp(readyAt);
        account.finishRecovery(newOwners);
    }

    /// @notice The delay that was promised when the recovery was started is kept, whatever happens to the settings.
    function test_keepsItsDelayWhenTheSettingsChange() public {
        _startRecovery(GUARDIAN_KEY, newOwners);
        uint48 readyAt = uint48(vm.getBlockTimestamp() + 3 days);
        _make(_change(Owners.ChangeKind.SetDelay, "", 1 hours));
        vm.warp(vm.getBlockTimestamp() + 1 hours);
        vm.expectRevert(abi.encodeWithSelector(Recovery.TooEarly.selector, readyAt));
        account.finishRecovery(newOwners);
    }

    function test_refusesOtherOwners() public {
        _start();
        newOwners[2] = _p256(SECOND_KEY);
        vm.expectRevert(abi.encodeWithSelector(Recovery.NoRecovery.selector));
        account.finishRecovery(newOwners);
    }

    function test_refusesWithoutAStart() public {
        vm.expectRevert(abi.encodeWithSelector(Recovery.NoRecovery.selector));
        account.finishRecovery(newOwners);
    }

    function test_isDoneOnce() public {
        _start();
        account.finishRecovery(newOwners);
        vm.expectRevert(abi.encodeWithSelector(Recovery.NoRecovery.selector));
        account.finishRecovery(newOwners);
        vm.assertEq(_nonce(), 2);
    }

    function test_guardiansAndTheirTermsStay() public {
        _make(_change(Owners.ChangeKind.SetDelay, "", 7 days));
        _startRecovery(GUARDIAN_KEY, newOwners);
        vm.warp(vm.getBlockTimestamp() + 7 days);
        account.finishRecovery(newOwners);
        vm.assertTrue(_isGuardianNow(_p256(GUARDIAN_KEY)));
        vm.assertEq(account.accountSettings().delay, 7 days);
        _startRecovery(GUARDIAN_KEY, newOwners);
    }

    /// @notice An owner of an earlier generation is gone also after it is added and removed again.
    function test_aFormerOwnerCanBeAddedAgain() public {
        _makeTwo();
        _start();
        account.finishRecovery(newOwners);
        _make(_add(_p256(SECOND_KEY)));
        vm.assertEq(_validate(_named(SECOND_KEY, OP_HASH)), 0);
        vm.assertEq(account.accountSettings().owners, 4);
    }

    function _start() private {
        _startRecovery(GUARDIAN_KEY, newOwners);
        vm.warp(vm.getBlockTimestamp() + 3 days);
    }
}
