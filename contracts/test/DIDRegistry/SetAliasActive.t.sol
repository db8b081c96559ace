// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

contract SetAliasActiveTest is Fixture {
    function setUp() public override {
        super.setUp();
        _register(alice, DID, ALIAS);
    }

    function testFuzz_setsAndStaysTaken(bool active) public {
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.AliasStatusChanged(ALIAS, active);
        vm.prank(alice);
        registry.setAliasActive(ALIAS, active);
        (bytes32 didHash,, bool stored) = registry.getAlias(ALIAS);
        vm.assertEq(stored, active);
        vm.assertEq(didHash, DID);
        vm.assertFalse(registry.isAliasAvailable(ALIAS));
    }

    function test_refusesAnUnknownAlias() public {
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.AliasNotFound.selector, OTHER_ALIAS));
        vm.prank(alice);
        registry.setAliasActive(OTHER_ALIAS, true);
    }

    function testFuzz_refusesAnotherThanTheController(address caller) public {
        vm.assume(caller != alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotController.selector, DID, caller, alice));
        vm.prank(caller);
        registry.setAliasActive(ALIAS, false);
    }

    function test_refusesAnInactiveDid() public {
        vm.startPrank(alice);
        registry.setDidActive(DID, false);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidNotActive.selector, DID));
        registry.setAliasActive(ALIAS, false);
    }
}
