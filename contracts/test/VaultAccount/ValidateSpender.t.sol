// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Permission, Permissions} from "../../src/account/Permissions.sol";
import {PermissionFixture} from "../utils/PermissionFixture.sol";
import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";

/// @notice Operations signed by a spender's key.
contract ValidateSpenderTest is PermissionFixture {
    Permission private p;
    bytes private call;

    function setUp() public override {
        super.setUp();
        p = _subscription();
        p.keyId = keccak256(_p256(SPENDER_KEY));
        p.start += 7;
        _grant(p);
        call = abi.encodeCall(VaultAccount.spend, (p, alice, 1e6, ""));
    }

    function test_saysFromWhenUntilWhen() public {
        uint256 expected = uint256(p.start) << 208 | uint256(p.until) << 160;
        vm.assertEq(_validate(call, _named(SPENDER_KEY, OP_HASH), true, _idOf(p)), expected);
    }

    /// @notice Else it could use up each nonce of the owners before they do.
    function test_needsItsOwnNonces() public {
        vm.assertEq(_validate(call, _named(SPENDER_KEY, OP_HASH), true), 1);
        vm.assertEq(_validate(call, _named(SPENDER_KEY, OP_HASH), true, bytes32(uint256(_idOf(p)) ^ 1 << 64)), 1);
    }

    function test_needsAPaymaster() public {
        vm.assertEq(_validate(call, _named(SPENDER_KEY, OP_HASH), false, _idOf(p)), 1);
        PackedUserOperation memory op = _operation(address(account), call);
        op.nonce = _nonceOf(_idOf(p));
        op.signature = _named(SPENDER_KEY, OP_HASH);
        op.paymasterAndData = abi.encodePacked(address(0), bytes32(0));
        vm.prank(EP07);
        vm.assertEq(account.validateUserOp(op, OP_HASH, 0), 1);
    }

    function test_maySpendAndNothingElse() public {
        bytes memory signature = _named(SPENDER_KEY, OP_HASH);
        bytes[6] memory calls = [
            _execute(alice, 1, ""),
            abi.encodeCall(VaultAccount.cancelRecovery, ()),
            abi.encodeCall(VaultAccount.grantPermission, (p)),
            abi.encodeCall(VaultAccount.revokePermission, (_idOf(p))),
            abi.encodePacked(VaultAccount.spend.selector),
            bytes("")
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            vm.assertEq(_validate(calls[i], signature, true, _idOf(p)), 1);
        }
    }

    function test_spendsOnlyItsOwn() public {
        vm.assertEq(_validate(call, _named(OTHER_KEY, OP_HASH), true, _idOf(p)), 1);
        Permission memory other = p;
        other.keyId = keccak256(_p256(OTHER_KEY));
        _grant(other);
        call = abi.encodeCall(VaultAccount.spend, (other, alice, 1e6, ""));
        vm.assertEq(_validate(call, _named(SPENDER_KEY, OP_HASH), true, _idOf(other)), 1);
    }

    function test_notWhatWasNotGrantedOrWasRevoked() public {
        Permission memory more = p;
        more.salt = 1;
        bytes memory other = abi.encodeCall(VaultAccount.spend, (more, alice, 1e6, ""));
        vm.assertEq(_validate(other, _named(SPENDER_KEY, OP_HASH), true, _idOf(more)), 1);
        _revoke(_stored());
        vm.assertEq(_validate(call, _named(SPENDER_KEY, OP_HASH), true, _idOf(p)), 1);
    }

    function test_aPlainSignatureIsNoSpenders() public {
        vm.assertEq(_validate(call, _sign(SPENDER_KEY, OP_HASH), true, _idOf(p)), 1);
    }

    /// @notice Where two must sign, a sum without the second key is a permission of an owner's own.
    function test_anOwnerMayBeASpender() public {
        _makeTwo();
        Permission memory own = _stored();
        own.keyId = keccak256(_p256(KEY));
        _grant(own);
        bytes memory data = abi.encodeCall(VaultAccount.spend, (own, alice, 1e6, ""));
        uint256 expected = uint256(p.start) << 208 | uint256(p.until) << 160;
        vm.assertEq(_validate(data, _named(KEY, OP_HASH), true, _idOf(own)), expected);
        vm.assertEq(_validate(data, _named(SECOND_KEY, OP_HASH), true, _idOf(own)), 1);
        vm.assertEq(_validate(_execute(alice, 1, ""), _named(KEY, OP_HASH), true, _idOf(own)), 1);
    }

    function _stored() private view returns (Permission memory) {
        return p;
    }
}
