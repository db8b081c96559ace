// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

contract AcceptControllerTest is Fixture {
    function setUp() public override {
        super.setUp();
        _register(alice, DID, ALIAS);
        vm.prank(alice);
        registry.changeController(DID, bob);
    }

    function test_movesTheDidAndItsAliases() public {
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.DidControllerChanged(DID, alice, bob);
        vm.prank(bob);
        registry.acceptController(DID);
        (address controller,, string memory cid) = registry.getDid(DID);
        (, address holder,) = registry.getAlias(ALIAS);
        vm.assertTrue(controller == bob && holder == bob);
        vm.assertEq(cid, CID);
        vm.assertEq(registry.didOf(bob), DID);
        vm.assertEq(registry.didOf(alice), 0);
        vm.assertEq(registry.proposedController(DID), address(0));
    }

    function test_leavesThePreviousControllerFree() public {
        vm.prank(bob);
        registry.acceptController(DID);
        _register(alice, OTHER_DID, OTHER_ALIAS);
        vm.assertEq(registry.didOf(alice), OTHER_DID);
    }

    function test_countsOnce() public {
        vm.startPrank(bob);
        registry.acceptController(DID);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotProposedController.selector, DID, bob, address(0)));
        registry.acceptController(DID);
    }

    function testFuzz_refusesAnotherThanTheNamed(address caller) public {
        vm.assume(caller != bob);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotProposedController.selector, DID, caller, bob));
        vm.prank(caller);
        registry.acceptController(DID);
    }

    function test_refusesWhoHasADid() public {
        _register(bob, OTHER_DID, OTHER_ALIAS);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.ControllerAlreadyHasDid.selector, bob, OTHER_DID));
        vm.prank(bob);
        registry.acceptController(DID);
    }

    function test_refusesAnInactiveDid() public {
        vm.prank(alice);
        registry.setDidActive(DID, false);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidNotActive.selector, DID));
        vm.prank(bob);
        registry.acceptController(DID);
    }
}
