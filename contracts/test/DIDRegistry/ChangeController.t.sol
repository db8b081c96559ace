// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

contract ChangeControllerTest is Fixture {
    function setUp() public override {
        super.setUp();
        _register(alice, DID, ALIAS);
    }

    function test_onlyNames() public {
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.DidControllerProposed(DID, alice, bob);
        vm.prank(alice);
        registry.changeController(DID, bob);
        vm.assertEq(registry.proposedController(DID), bob);
        (address controller,,) = registry.getDid(DID);
        vm.assertEq(controller, alice);
        vm.assertEq(registry.didOf(bob), 0);
    }

    /// @notice An address that was proposed as a controller must still be able to register a DID itself.
    function test_doesNotBarTheNamedFromTheirOwnDid() public {
        vm.prank(alice);
        registry.changeController(DID, bob);
        _register(bob, OTHER_DID, OTHER_ALIAS);
        vm.assertEq(registry.didOf(bob), OTHER_DID);
    }

    function test_zeroTakesTheNamingBack() public {
        vm.startPrank(alice);
        registry.changeController(DID, bob);
        registry.changeController(DID, address(0));
        vm.stopPrank();
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotProposedController.selector, DID, bob, address(0)));
        vm.prank(bob);
        registry.acceptController(DID);
    }

    function test_refusesAnUnknownDid() public {
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidNotFound.selector, OTHER_DID));
        vm.prank(alice);
        registry.changeController(OTHER_DID, bob);
    }

    function testFuzz_refusesAnotherThanTheController(address caller) public {
        vm.assume(caller != alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotController.selector, DID, caller, alice));
        vm.prank(caller);
        registry.changeController(DID, caller);
    }

    function test_refusesAnInactiveDid() public {
        vm.startPrank(alice);
        registry.setDidActive(DID, false);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidNotActive.selector, DID));
        registry.changeController(DID, bob);
    }
}
