// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Permission, Permissions} from "../../src/account/Permissions.sol";
import {PermissionFixture} from "../utils/PermissionFixture.sol";

/// @notice `grantPermission` and `revokePermission`.
contract GrantPermissionTest is PermissionFixture {
    function test_grants() public {
        Permission memory p = _subscription();
        vm.expectEmit(true, true, true, true, address(account));
        emit Permissions.PermissionGranted(_idOf(p), p.keyId, p);
        _grant(p);
        (bool granted, uint256 spent, uint256 left, uint256 start, uint256 end) = account.permissionState(p);
        vm.assertTrue(granted && spent == 0 && left == 10e6 && start == p.start && end == p.start + 1 days);
    }

    function test_revokes() public {
        Permission memory p = _subscription();
        _grant(p);
        vm.expectEmit(true, true, true, true, address(account));
        emit Permissions.PermissionRevoked(_idOf(p));
        _revoke(p);
        vm.assertEq(_left(p), 0);
        bytes memory reason = abi.encodeWithSelector(Permissions.NotGranted.selector, _idOf(p));
        _refuse(p, alice, 1, "", reason);
        vm.expectRevert(reason);
        vm.prank(address(account));
        account.revokePermission(_idOf(p));
    }

    /// @notice Granting it again must not start the period anew.
    function test_theCountOutlivesARevocation() public {
        Permission memory p = _subscription();
        _grant(p);
        _spend(p, alice, 8e6, "");
        _revoke(p);
        _grant(p);
        vm.assertEq(_left(p), 2e6);
    }

    function testFuzz_refusesEveryoneElse(address caller) public {
        vm.assume(caller != EP07 && caller != EP08 && caller != EP09 && caller != address(account));
        Permission memory p = _subscription();
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, caller));
        vm.prank(caller);
        account.grantPermission(p);
        _grant(p);
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, caller));
        vm.prank(caller);
        account.revokePermission(_idOf(p));
    }

    function test_oneOwnerRevokesWhereTwoMustSign() public {
        Permission memory p = _subscription();
        _grant(p);
        _make(_list(_add(_wallet(WALLET_KEY)), _threshold(2)));
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, vm.addr(WALLET_KEY)));
        vm.prank(vm.addr(WALLET_KEY));
        account.grantPermission(p);
        bytes memory call = abi.encodeCall(VaultAccount.revokePermission, (_idOf(p)));
        vm.assertEq(_validate(call, _named(KEY, OP_HASH), true, keccak256(_p256(KEY))), 0);
        vm.assertEq(_validate(call, _named(KEY, OP_HASH), false, keccak256(_p256(KEY))), 1);
        vm.prank(vm.addr(WALLET_KEY));
        account.revokePermission(_idOf(p));
        vm.assertEq(_left(p), 0);
    }

    function test_refusesWhatCouldExceedItsLimits() public {
        Permission memory p = _purchase();
        p.target = address(0);
        _refuseGrant(p); // any contract
        p.target = address(usdc);
        _refuseGrant(p); // the token's own approve
        address[4] memory forbidden = [address(account), EP07, EP08, EP09];
        for (uint256 i = 0; i < forbidden.length; ++i) {
            p.target = forbidden[i];
            p.selector = 0x12345678;
            _refuseGrant(p);
            p.selector = 0;
            _refuseGrant(p);
        }
    }

    function test_theAccountIsNoToken() public {
        Permission memory p = _subscription();
        p.token = address(account);
        _refuseGrant(p);
    }

    function test_refusesWhatMeansNothing() public {
        Permission memory p = _subscription();
        p.keyId = 0;
        _refuseGrant(p);
        p = _subscription();
        p.allowance = 0;
        _refuseGrant(p);
        p = _subscription();
        p.until = p.start - 1;
        _refuseGrant(p);
        p.until = p.start; // for one second
        _grant(p);
        p = _subscription();
        p.start = type(uint48).max;
        p.until = 0;
        _refuseGrant(p);
        p = _subscription();
        p.until = type(uint48).max;
        _refuseGrant(p);
    }

    function _refuseGrant(Permission memory p) private {
        vm.expectRevert(abi.encodeWithSelector(Permissions.InvalidPermission.selector));
        vm.prank(address(account));
        account.grantPermission(p);
    }
}
