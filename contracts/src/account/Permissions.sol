// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ERC4337Utils} from "@openzeppelin/contracts/account/utils/ERC4337Utils.sol";
import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";
import {Keys} from "./Keys.sol";
import {SettingsWord} from "./Settings.sol";
import {Signatures} from "./Signatures.sol";

/// @notice What a key may spend.
/// @param keyId Keccak-256 of the spender's signer bytes.
/// @param token ERC-20 token, or zero for the chain's coin.
/// @param allowance The most that may be spent in one period, in the token's units.
/// @param period Seconds of a period, counted from `start`; zero: all the time is one period.
/// @param start Unix time from which it holds.
/// @param until Unix time after which it no longer holds, or zero for no end.
/// @param target The only receiver, or zero for any. A permission to call needs one.
/// @param selector The only function of `target` that may be called with the money; zero: none, only transfers.
/// @param salt Distinguishes permissions that are otherwise equal.
struct Permission {
    bytes32 keyId;
    address token;
    uint160 allowance;
    uint48 period;
    uint48 start;
    uint48 until;
    address target;
    bytes4 selector;
    uint256 salt;
}

/// @title Spending permissions
/// @notice Lets a key spend one token within a limit per period that the account itself counts.
/// @dev A call is limited to one function of one contract, because the account makes it in its own name: with arbitrary
/// data a token's `approve`, or another contract's, would exceed every limit.
abstract contract Permissions is Keys {
    using SettingsWord for uint256;

    /// @notice The permission cannot be granted: see `Permission` for what its fields must be.
    error InvalidPermission();

    /// @notice The owners have not granted this permission, or have revoked it, or a recovery ended it.
    /// @param id Keccak-256 of the permission's nine words.
    error NotGranted(bytes32 id);

    /// @notice The permission does not hold now.
    /// @param start Unix time from which it holds.
    /// @param until Unix time after which it no longer holds, or zero.
    error NotInForce(uint48 start, uint48 until);

    /// @notice More than is left in this period.
    /// @param left What is left.
    error LimitExceeded(uint256 left);

    /// @notice The permission does not allow this receiver, or this call of it.
    /// @param to The receiver.
    /// @param selector The function, or zero without call data.
    error NotAllowed(address to, bytes4 selector);

    /// @notice A permission was granted.
    /// @param id The permission's ID.
    /// @param keyId The spender.
    /// @param permission The permission.
    event PermissionGranted(bytes32 indexed id, bytes32 indexed keyId, Permission permission);

    /// @notice A permission was revoked.
    /// @param id The permission's ID.
    event PermissionRevoked(bytes32 indexed id);

    /// @notice A spender used its permission.
    /// @param id The permission's ID.
    /// @param to The receiver.
    /// @param amount In the token's units.
    event Spent(bytes32 indexed id, address indexed to, uint256 amount);

    uint256 private constant MAX_TIME = type(uint48).max >> 1;

    /// @dev `generation` is the account's plus one while the permission is granted, and zero after it was revoked. The
    /// count outlives revocation, so granting it again in the same period grants only the rest.
    struct Use {
        uint160 spent;
        uint48 periodStart;
        uint40 generation;
    }

    mapping(bytes32 id => Use use) private _uses;

    /// @notice State of a permission.
    /// @param permission The permission.
    /// @return granted Whether the owners have granted it.
    /// @return spent What was spent in this period.
    /// @return left What may still be spent in it: zero if it is not granted or does not hold now.
    /// @return periodStart Unix time at which this period began.
    /// @return periodEnd Unix time at which the next one begins, or zero.
    function permissionState(Permission memory permission)
        external
        view
        returns (bool granted, uint256 spent, uint256 left, uint256 periodStart, uint256 periodEnd)
    {
        bytes32 id = _idOf(permission);
        granted = _isGranted(id);
        if (block.timestamp < permission.start) return (granted, 0, 0, permission.start, permission.start);
        periodStart = _periodStart(permission);
        if (permission.period != 0) periodEnd = periodStart + permission.period;
        if (_uses[id].periodStart == periodStart) spent = _uses[id].spent;
        if (granted && !_isOver(permission.until) && spent < permission.allowance) left = permission.allowance - spent;
    }

    /// @dev The permission's ID: Keccak-256 of its nine words.
    function _idOf(Permission memory permission) internal pure returns (bytes32) {
        return keccak256(abi.encode(permission));
    }

    function _isGranted(bytes32 id) internal view returns (bool) {
        return _uses[id].generation == uint256(_settings.generation()) + 1;
    }

    function _grant(Permission memory permission) internal {
        bool good = permission.keyId != 0 && permission.allowance != 0 && permission.start <= MAX_TIME
            && permission.until <= MAX_TIME && (permission.until == 0 || permission.until >= permission.start)
            && !_isForbidden(permission.target) && permission.token != address(this);
        bool call = permission.selector != 0;
        if (!good || (call && (permission.target == address(0) || permission.target == permission.token))) {
            revert InvalidPermission();
        }
        bytes32 id = _idOf(permission);
        _uses[id].generation = uint40(_settings.generation()) + 1;
        emit PermissionGranted(id, permission.keyId, permission);
    }

    function _revoke(bytes32 id) internal {
        if (!_isGranted(id)) revert NotGranted(id);
        _uses[id].generation = 0;
        emit PermissionRevoked(id);
    }

    /// @dev Counts, then pays or calls, for a caller who may. Nothing is written after the call of a foreign contract but
    /// the allowance that it did not use.
    function _spend(Permission memory permission, address to, uint256 amount, bytes calldata data) internal {
        bytes32 id = _idOf(permission);
        _checkReceiver(permission, to, data);
        _count(id, permission, amount);
        emit Spent(id, to, amount);
        if (permission.token == address(0)) return _call(to, amount, data);
        if (data.length == 0) return SafeERC20.safeTransfer(IERC20(permission.token), to, amount);
        SafeERC20.forceApprove(IERC20(permission.token), to, amount);
        _call(to, 0, data);
        SafeERC20.forceApprove(IERC20(permission.token), to, 0);
    }

    /// @dev Calls a contract and reverts with its data.
    function _call(address to, uint256 value, bytes calldata data) internal {
        (bool success, bytes memory reason) = to.call{value: value}(data);
        if (!success) LowLevelCall.bubbleRevert(reason);
    }

    function _isEntryPoint(address caller) internal pure returns (bool) {
        return caller == address(ERC4337Utils.ENTRYPOINT_V07) || caller == address(ERC4337Utils.ENTRYPOINT_V08)
            || caller == address(ERC4337Utils.ENTRYPOINT_V09);
    }

    function _count(bytes32 id, Permission memory permission, uint256 amount) private {
        if (!_isGranted(id)) revert NotGranted(id);
        if (block.timestamp < permission.start || _isOver(permission.until)) {
            revert NotInForce(permission.start, permission.until);
        }
        Use memory use = _uses[id];
        uint256 periodStart = _periodStart(permission);
        if (use.periodStart != periodStart) use.spent = 0;
        uint256 left = use.spent < permission.allowance ? permission.allowance - use.spent : 0;
        if (amount > left) revert LimitExceeded(left);
        // Neither number can be greater than the permission's own of the same width.
        // forge-lint: disable-next-line(unsafe-typecast)
        _uses[id] = Use(use.spent + uint160(amount), uint48(periodStart), use.generation);
    }

    function _periodStart(Permission memory permission) private view returns (uint256) {
        if (permission.period == 0) return permission.start;
        return block.timestamp - (block.timestamp - permission.start) % permission.period;
    }

    function _checkReceiver(Permission memory permission, address to, bytes calldata data) private view {
        bytes4 selector = bytes4(data);
        bool allowed = !_isForbidden(to) && (permission.target == address(0) || permission.target == to);
        if (data.length != 0) allowed = allowed && selector != 0 && selector == permission.selector;
        if (!allowed) revert NotAllowed(to, selector);
    }

    /// @dev The account would obey its own call, and an entry point would give it the account's deposit.
    function _isForbidden(address to) private view returns (bool) {
        return to == address(this) || _isEntryPoint(to);
    }
}
