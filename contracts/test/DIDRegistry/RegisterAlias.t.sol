// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Claims} from "./Claims.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

contract RegisterAliasTest is Claims {
    function _prepare() internal override {
        _register(alice, DID, ALIAS);
    }

    function _claim() internal override {
        registry.registerAlias(OTHER_ALIAS, DID, SECRET);
    }

    function _claimed() internal view override returns (bytes32, bytes32, bytes32) {
        return (DID, OTHER_ALIAS, SECRET);
    }

    function test_addsAnAlias() public {
        _prepare();
        _commitFor(alice);
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.AliasRegistered(OTHER_ALIAS, DID, alice);
        vm.prank(alice);
        _claim();
        (bytes32 didHash, address controller, bool active) = registry.getAlias(OTHER_ALIAS);
        vm.assertEq(didHash, DID);
        vm.assertEq(controller, alice);
        vm.assertTrue(active);
    }

    function test_refusesZeroAlias() public {
        _prepare();
        _commit(DID, 0, alice, SECRET);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.ZeroHash.selector));
        vm.prank(alice);
        registry.registerAlias(0, DID, SECRET);
    }

    function test_refusesATakenAlias() public {
        _prepare();
        _commit(DID, ALIAS, alice, SECRET);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.AliasTaken.selector, ALIAS, DID));
        vm.prank(alice);
        registry.registerAlias(ALIAS, DID, SECRET);
    }

    function test_refusesAnUnknownDid() public {
        _commitFor(alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidNotFound.selector, DID));
        vm.prank(alice);
        _claim();
    }

    function test_refusesAnotherThanTheController() public {
        _prepare();
        _commitFor(mallory);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotController.selector, DID, mallory, alice));
        vm.prank(mallory);
        _claim();
    }

    function test_refusesAnInactiveDid() public {
        _prepare();
        _commitFor(alice);
        vm.prank(alice);
        registry.setDidActive(DID, false);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidNotActive.selector, DID));
        vm.prank(alice);
        _claim();
    }
}
