// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";
import {Execution} from "@openzeppelin/contracts/interfaces/draft-IERC7579.sol";

/// @notice An owner that is an address acts by ordinary transactions, without entry point and bundler.
contract ActDirectlyTest is AccountFixture {
    address private wallet;

    function setUp() public override {
        super.setUp();
        wallet = vm.addr(WALLET_KEY);
        vm.deal(address(account), 1 ether);
    }

    function test_anOwnerMay() public {
        _make(_add(_wallet(WALLET_KEY)));
        vm.prank(wallet);
        account.execute(bob, 5, "");
        vm.assertEq(bob.balance, 5);
        vm.prank(wallet);
        account.changeOwners(_list(_add(_p256(SECOND_KEY))));
        vm.assertTrue(_isOwner(_p256(SECOND_KEY)));
    }

    function test_nobodyElseMay() public {
        _make(_guardian(_wallet(WALLET_KEY)));
        _refuse();
    }

    function test_notWhereTwoMustSign() public {
        _make(_list(_add(_wallet(WALLET_KEY)), _threshold(2)));
        _refuse();
    }

    function test_notAfterItsExpiry() public {
        uint256 expiry = vm.getBlockTimestamp() + 5;
        _make(_change(Owners.ChangeKind.AddOwner, _wallet(WALLET_KEY), expiry));
        vm.warp(expiry);
        vm.prank(wallet);
        account.execute(bob, 1, "");
        vm.warp(expiry + 1);
        _refuse();
    }

    function test_notAfterItsRemoval() public {
        _make(_add(_wallet(WALLET_KEY)));
        _make(_remove(_wallet(WALLET_KEY)));
        _refuse();
    }

    function _refuse() private {
        bytes memory reason = abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, wallet);
        vm.expectRevert(reason);
        vm.prank(wallet);
        account.execute(bob, 1, "");
        vm.expectRevert(reason);
        vm.prank(wallet);
        account.executeBatch(new Execution[](0));
        vm.expectRevert(reason);
        vm.prank(wallet);
        account.setPublicKey(1, 1);
        vm.expectRevert(reason);
        vm.prank(wallet);
        account.changeOwners(new Owners.Change[](0));
    }
}
