// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Claims} from "./Claims.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

contract RegisterWithSecretTest is Claims {
    function _claim() internal override {
        registry.registerWithSecret(DID, ALIAS, CID, SECRET);
    }

    function _claimed() internal pure override returns (bytes32, bytes32, bytes32) {
        return (DID, ALIAS, SECRET);
    }

    function test_registersDidAndAlias() public {
        _commitFor(alice);
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.DidRegistered(DID, alice, CID);
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.AliasRegistered(ALIAS, DID, alice);
        vm.prank(alice);
        _claim();
        vm.assertEq(registry.didOf(alice), DID);
        vm.assertFalse(registry.isAliasAvailable(ALIAS));
    }

    function test_refusesAnotherSecret() public {
        _commit(DID, ALIAS, alice, 0);
        bytes32 commitment = _commitment(alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotCommitted.selector, commitment));
        vm.prank(alice);
        _claim();
    }

    function test_refusesZeroDid() public {
        _commit(0, ALIAS, alice, SECRET);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.ZeroHash.selector));
        vm.prank(alice);
        registry.registerWithSecret(0, ALIAS, CID, SECRET);
    }
}
