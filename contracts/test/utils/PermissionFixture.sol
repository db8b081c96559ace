// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {Permission} from "../../src/account/Permissions.sol";
import {DevUSDC} from "../../src/dev/DevUSDC.sol";
import {AccountFixture} from "./AccountFixture.sol";

/// @notice Takes what it is paid with: as much of a token as its caller allowed it and asked for.
contract Shop {
    uint256 public sold;

    function buy(IERC20 token, uint256 amount) external payable {
        if (amount != 0) token.transferFrom(msg.sender, address(this), amount);
        ++sold;
    }

    function other() external payable {}
}

/// @notice A subscription: the address `app` may spend ten dollars a day, by transfers to `alice`.
abstract contract PermissionFixture is AccountFixture {
    DevUSDC internal usdc;
    Shop internal shop;
    address internal app = vm.addr(SPENDER_KEY);

    function setUp() public virtual override {
        super.setUp();
        usdc = DevUSDC(_deployed("DevUSDC"));
        shop = new Shop();
        usdc.mint(address(account), 100e6);
        vm.deal(address(account), 1 ether);
    }

    function _subscription() internal view returns (Permission memory) {
        return Permission({
            keyId: keccak256(_wallet(SPENDER_KEY)),
            token: address(usdc),
            allowance: 10e6,
            period: 1 days,
            start: uint48(vm.getBlockTimestamp()),
            until: uint48(vm.getBlockTimestamp() + 30 days),
            target: alice,
            selector: 0,
            salt: 0
        });
    }

    /// @dev The app may buy with tokens from the shop.
    function _purchase() internal view returns (Permission memory p) {
        p = _subscription();
        (p.target, p.selector) = (address(shop), Shop.buy.selector);
    }

    function _idOf(Permission memory p) internal pure returns (bytes32) {
        return
            keccak256(
                abi.encode(p.keyId, p.token, p.allowance, p.period, p.start, p.until, p.target, p.selector, p.salt)
            );
    }

    function _grant(Permission memory p) internal {
        vm.prank(address(account));
        account.grantPermission(p);
    }

    function _revoke(Permission memory p) internal {
        vm.prank(address(account));
        account.revokePermission(_idOf(p));
    }

    /// @dev Spends as the address of the app.
    function _spend(Permission memory p, address to, uint256 amount, bytes memory data) internal {
        vm.prank(app);
        account.spend(p, to, amount, data);
    }

    function _refuse(Permission memory p, address to, uint256 amount, bytes memory data, bytes memory reason) internal {
        vm.expectRevert(reason);
        vm.prank(app);
        account.spend(p, to, amount, data);
    }

    function _left(Permission memory p) internal view returns (uint256 left) {
        (,, left,,) = account.permissionState(p);
    }
}
