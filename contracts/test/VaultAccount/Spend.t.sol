// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Permission, Permissions} from "../../src/account/Permissions.sol";
import {PermissionFixture, Shop} from "../utils/PermissionFixture.sol";
import {Target} from "../utils/Targets.sol";

contract SpendTest is PermissionFixture {
    function test_transfersToTheReceiver() public {
        Permission memory p = _subscription();
        _grant(p);
        vm.expectEmit(true, true, true, true, address(account));
        emit Permissions.Spent(_idOf(p), alice, 4e6);
        _spend(p, alice, 4e6, "");
        vm.assertEq(usdc.balanceOf(alice), 4e6);
        vm.assertEq(_left(p), 6e6);
    }

    function test_sendsTheCoin() public {
        Permission memory p = _subscription();
        (p.token, p.target) = (address(0), address(0));
        _grant(p);
        _spend(p, alice, 3, "");
        _spend(p, bob, 4, "");
        vm.assertEq(alice.balance, 3);
        vm.assertEq(bob.balance, 4);
        vm.assertEq(_left(p), 10e6 - 7);
    }

    function test_refusesMoreThanIsLeft() public {
        Permission memory p = _subscription();
        _grant(p);
        _spend(p, alice, 7e6, "");
        _refuse(p, alice, 3e6 + 1, "", abi.encodeWithSelector(Permissions.LimitExceeded.selector, 3e6));
        _spend(p, alice, 3e6, "");
        _refuse(p, alice, 1, "", abi.encodeWithSelector(Permissions.LimitExceeded.selector, 0));
    }

    /// @notice In no period more than the allowance is spent, whatever the amounts and times.
    function testFuzz_countsByPeriod(uint32[12] calldata waits, uint64[12] calldata amounts) public {
        Permission memory p = _subscription();
        usdc.mint(address(account), 1000e6);
        _grant(p);
        uint256 period;
        uint256 spent;
        for (uint256 i = 0; i < waits.length; ++i) {
            vm.warp(vm.getBlockTimestamp() + waits[i] % 2 days);
            uint256 amount = amounts[i] % 12e6;
            uint256 current = (vm.getBlockTimestamp() - p.start) / 1 days;
            if (current != period) (period, spent) = (current, 0);
            vm.assertEq(_left(p), 10e6 - spent);
            bytes memory reason = abi.encodeWithSelector(Permissions.LimitExceeded.selector, 10e6 - spent);
            if (amount > 10e6 - spent) _refuse(p, alice, amount, "", reason);
            else (spent, period) = (spent + amount, _paid(p, amount, period));
        }
    }

    function test_withoutAPeriodItIsOneTotal() public {
        Permission memory p = _subscription();
        p.period = 0;
        _grant(p);
        _spend(p, alice, 10e6, "");
        vm.warp(p.until);
        _refuse(p, alice, 1, "", abi.encodeWithSelector(Permissions.LimitExceeded.selector, 0));
    }

    function test_holdsFromStartUntilEnd() public {
        Permission memory p = _subscription();
        p.start += 10;
        _grant(p);
        bytes memory reason = abi.encodeWithSelector(Permissions.NotInForce.selector, p.start, p.until);
        _refuse(p, alice, 1, "", reason);
        vm.assertEq(_left(p), 0);
        vm.warp(p.start);
        _spend(p, alice, 1, "");
        vm.warp(p.until);
        _spend(p, alice, 1, "");
        vm.warp(p.until + 1);
        _refuse(p, alice, 1, "", reason);
        vm.assertEq(_left(p), 0);
    }

    function test_withoutAnEndItHoldsOn() public {
        Permission memory p = _subscription();
        p.until = 0;
        _grant(p);
        vm.warp(vm.getBlockTimestamp() + 10_000 days);
        _spend(p, alice, 10e6, "");
    }

    function test_refusesAnotherReceiver() public {
        Permission memory p = _subscription();
        _grant(p);
        _refuse(p, bob, 1, "", abi.encodeWithSelector(Permissions.NotAllowed.selector, bob, bytes4(0)));
    }

    function test_callsTheShopWithTheMoney() public {
        Permission memory p = _purchase();
        _grant(p);
        _spend(p, address(shop), 5e6, abi.encodeCall(Shop.buy, (usdc, 5e6)));
        vm.assertEq(usdc.balanceOf(address(shop)), 5e6);
        vm.assertEq(shop.sold(), 1);
        vm.assertEq(usdc.allowance(address(account), address(shop)), 0);
    }

    function test_whatTheShopDoesNotTakeIsNotLeftToIt() public {
        Permission memory p = _purchase();
        _grant(p);
        _spend(p, address(shop), 5e6, abi.encodeCall(Shop.buy, (usdc, 1e6)));
        vm.assertEq(usdc.allowance(address(account), address(shop)), 0);
        vm.assertEq(_left(p), 5e6);
    }

    function test_theShopTakesNoMore() public {
        Permission memory p = _purchase();
        _grant(p);
        vm.expectRevert();
        vm.prank(app);
        account.spend(p, address(shop), 5e6, abi.encodeCall(Shop.buy, (usdc, 5e6 + 1)));
        vm.assertEq(_left(p), 10e6);
    }

    function test_callsWithTheCoin() public {
        Permission memory p = _purchase();
        p.token = address(0);
        _grant(p);
        _spend(p, address(shop), 9, abi.encodeCall(Shop.buy, (usdc, 0)));
        vm.assertEq(address(shop).balance, 9);
    }

    function test_refusesAnotherFunction() public {
        Permission memory p = _purchase();
        _grant(p);
        bytes4 selector = Shop.other.selector;
        bytes memory reason = abi.encodeWithSelector(Permissions.NotAllowed.selector, shop, selector);
        _refuse(p, address(shop), 1, abi.encodeCall(Shop.other, ()), reason);
        reason = abi.encodeWithSelector(Permissions.NotAllowed.selector, shop, bytes4(0x12000000));
        _refuse(p, address(shop), 1, hex"12", reason);
    }

    function test_refusesCallsWhereOnlyTransfersAreAllowed() public {
        Permission memory p = _subscription();
        p.target = address(shop);
        _grant(p);
        bytes memory data = abi.encodeCall(Shop.buy, (usdc, 0));
        bytes memory reason = abi.encodeWithSelector(Permissions.NotAllowed.selector, shop, Shop.buy.selector);
        _refuse(p, address(shop), 1, data, reason);
        reason = abi.encodeWithSelector(Permissions.NotAllowed.selector, shop, bytes4(0));
        _refuse(p, address(shop), 1, hex"00000000", reason);
        _spend(p, address(shop), 1, "");
    }

    function test_neverReachesTheAccountOrAnEntryPoint() public {
        Permission memory p = _subscription();
        (p.token, p.target) = (address(0), address(0));
        _grant(p);
        address[4] memory forbidden = [address(account), EP07, EP08, EP09];
        for (uint256 i = 0; i < forbidden.length; ++i) {
            bytes memory reason = abi.encodeWithSelector(Permissions.NotAllowed.selector, forbidden[i], bytes4(0));
            _refuse(p, forbidden[i], 1, "", reason);
        }
    }

    function test_failsWithTheCalleesReason() public {
        Permission memory p = _purchase();
        Target target = new Target();
        (p.token, p.target, p.selector) = (address(0), address(target), Target.refuse.selector);
        _grant(p);
        bytes memory reason = abi.encodeWithSelector(Target.Refused.selector, 8);
        _refuse(p, address(target), 1, abi.encodeCall(Target.refuse, (8)), reason);
    }

    function test_refusesWhatWasNotGranted() public {
        Permission memory p = _subscription();
        _grant(p);
        p.allowance += 1;
        _refuse(p, alice, 1, "", abi.encodeWithSelector(Permissions.NotGranted.selector, _idOf(p)));
    }

    function testFuzz_onlyTheSpenderMay(address caller) public {
        vm.assume(caller != EP07 && caller != EP08 && caller != EP09 && caller != app);
        Permission memory p = _subscription();
        _grant(p);
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, caller));
        vm.prank(caller);
        account.spend(p, alice, 1, "");
    }

    function test_aRecoveryEndsIt() public {
        Permission memory p = _subscription();
        _grant(p);
        _makeGuardian();
        bytes[] memory newOwners = _newOwners(_p256(THIRD_KEY));
        _startRecovery(GUARDIAN_KEY, newOwners);
        vm.warp(vm.getBlockTimestamp() + 3 days);
        _spend(p, alice, 1, "");
        account.finishRecovery(newOwners);
        _refuse(p, alice, 1, "", abi.encodeWithSelector(Permissions.NotGranted.selector, _idOf(p)));
        _grant(p);
        _spend(p, alice, 1, "");
    }

    function _paid(Permission memory p, uint256 amount, uint256 period) private returns (uint256) {
        _spend(p, alice, amount, "");
        return period;
    }
}
