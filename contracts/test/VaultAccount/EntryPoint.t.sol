// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Fixture} from "../utils/Fixture.sol";

import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {AppFactory} from "../../src/AppFactory.sol";
import {DIDRegistry} from "../../src/DIDRegistry.sol";
import {IUserOpHash} from "../utils/Fixture.sol";

/// @notice Runs complete operations through the real entry points, with and without the P-256 precompile.
contract EntryPointTest is Fixture {
    function setUp() public override {
        super.setUp();
        _deployEntryPoints();
    }

    function test_v07DeploysAndRegistersInOneOperation() public {
        _deployAndRegister(EP07);
    }

    function test_v08DeploysAndRegistersInOneOperation() public {
        _deployAndRegister(EP08);
    }

    function test_v09DeploysAndRegistersInOneOperation() public {
        _deployAndRegister(EP09);
    }

    function test_v07RefusesAForgedOperation() public {
        _refuseForged(EP07);
    }

    function test_v08RefusesAForgedOperation() public {
        _refuseForged(EP08);
    }

    function test_v09RefusesAForgedOperation() public {
        _refuseForged(EP09);
    }

    function test_anOperationOfOneEntryPointIsNoneOfTheOther() public {
        PackedUserOperation memory op = _funded();
        op.signature = _sign(KEY, IUserOpHash(EP08).getUserOpHash(op));
        vm.expectRevert(abi.encodeWithSelector(bytes4(0x220266b6), 0, "AA24 signature error"));
        _handleOne(EP07, op);
    }

    function _deployAndRegister(address entryPoint) private {
        address predicted = factory.getAddress(pubKeyX, pubKeyY, 77);
        vm.deal(predicted, 1 ether);
        bytes32 ownDid = _didOfKey(pubKeyX, pubKeyY);
        _commit(ownDid, ALIAS, predicted, SECRET);
        bytes memory call = abi.encodeCall(DIDRegistry.register, (pubKeyX, pubKeyY, 77, ALIAS, SECRET, CID));
        PackedUserOperation memory op = _operation(predicted, _execute(address(registry), 0, call));
        op.initCode =
            abi.encodePacked(address(factory), abi.encodeCall(AppFactory.createAccount, (pubKeyX, pubKeyY, 77)));
        op.signature = _assert(KEY, IUserOpHash(entryPoint).getUserOpHash(op), 0x05);
        _handleOne(entryPoint, op);
        vm.assertEq(registry.didOf(predicted), ownDid);
        (uint256 nonce, bytes32 did, bool active, uint256 x, uint256 y) =
            helper.getAccountStateAt(predicted, entryPoint);
        vm.assertTrue(nonce == 1 && did == ownDid && active && x == pubKeyX && y == pubKeyY);
    }

    function _refuseForged(address entryPoint) private {
        PackedUserOperation memory op = _funded();
        op.signature = _sign(OTHER_KEY, IUserOpHash(entryPoint).getUserOpHash(op));
        vm.expectRevert(abi.encodeWithSelector(bytes4(0x220266b6), 0, "AA24 signature error"));
        _handleOne(entryPoint, op);
    }

    function _funded() private returns (PackedUserOperation memory) {
        vm.deal(address(account), 1 ether);
        return _operation(address(account), _execute(bob, 1, ""));
    }

    function _handleOne(address entryPoint, PackedUserOperation memory op) private {
        PackedUserOperation[] memory ops = new PackedUserOperation[](1);
        ops[0] = op;
        vm.prank(bob, bob);
        IEntryPoint(entryPoint).handleOps(ops, payable(bob));
    }
}
