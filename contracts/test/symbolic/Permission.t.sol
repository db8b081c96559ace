// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Permission} from "../../src/account/Permissions.sol";
import {SymbolicFixture} from "./SymbolicFixture.sol";

/// @notice A token of which every account has enough.
contract EndlessToken {
    function transfer(address, uint256) external pure returns (bool) {
        return true;
    }
}

/// @notice Whatever was counted before, no payment takes the count of a period above the allowance.
contract PermissionSymbolicTest is SymbolicFixture {
    uint256 private constant USES_SLOT = 5;
    uint256 private constant COUNT_MASK = (1 << 208) - 1;
    address private constant SPENDER = address(0x59E);
    address private constant RECEIVER = address(0xBEEF);

    address private token;

    function setUp() public override {
        super.setUp();
        token = address(new EndlessToken());
    }

    /// @dev The step of an induction: with any count up to the allowance before, the count after a payment is right.
    function check_countWithoutPeriods(Permission memory permission, uint160 before, uint48 time, uint256 amount)
        public
    {
        permission.period = 0;
        if (before > permission.allowance) return;
        bytes32 id = _grant(permission);
        _count(id, before, permission.start);
        if (!_spent(permission, time, amount)) return;
        (uint160 count,) = _counted(id);
        assert(count == before + amount && count <= permission.allowance);
    }

    /// @dev The same for any count of any day before.
    function check_countOfADay(
        Permission memory permission,
        uint160 before,
        uint48 dayBefore,
        uint48 time,
        uint256 amount
    ) public {
        permission.period = 1 days;
        if (before > permission.allowance) return;
        bytes32 id = _grant(permission);
        _count(id, before, dayBefore);
        if (!_spent(permission, time, amount)) return;
        (uint160 count,) = _counted(id);
        assert(count <= permission.allowance && (count == amount || count == before + amount));
    }

    /// @dev The period of a payment contains its time, and so is never one that is over.
    function check_countIsForThePresentDay(Permission memory permission, uint48 time, uint256 amount) public {
        permission.period = 1 days;
        bytes32 id = _grant(permission);
        if (!_spent(permission, time, amount)) return;
        (, uint48 period) = _counted(id);
        assert(permission.start <= period && period <= time && time - period < 1 days);
    }

    function _grant(Permission memory permission) private returns (bytes32 id) {
        (permission.keyId, permission.token) = (keccak256(abi.encodePacked(SPENDER)), token);
        vm.prank(address(account));
        account.grantPermission(permission);
        id = keccak256(abi.encode(permission));
    }

    function _spent(Permission memory permission, uint48 time, uint256 amount) private returns (bool done) {
        vm.warp(time);
        vm.prank(SPENDER);
        (done,) = address(account).call(abi.encodeCall(account.spend, (permission, RECEIVER, amount, "")));
    }

    function _count(bytes32 id, uint160 count, uint48 period) private {
        bytes32 slot = keccak256(abi.encode(id, USES_SLOT));
        uint256 granted = uint256(vm.load(address(account), slot)) & ~COUNT_MASK;
        vm.store(address(account), slot, bytes32(granted | uint256(period) << 160 | count));
    }

    function _counted(bytes32 id) private view returns (uint160 count, uint48 period) {
        uint256 word = uint256(vm.load(address(account), keccak256(abi.encode(id, USES_SLOT))));
        return (uint160(word), uint48(word >> 160));
    }
}
