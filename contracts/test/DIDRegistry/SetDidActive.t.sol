// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

contract SetDidActiveTest is Fixture {
    function setUp() public override {
        super.setUp();
        _register(alice, DID, ALIAS);
    }

    function testFuzz_sets(bool first, bool second) public {
        _set(first);
        _set(second);
    }

    function test_refusesAnUnknownDid() public {
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidNotFound.selector, OTHER_DID));
        vm.prank(alice);
        registry.setDidActive(OTHER_DID, true);
    }

    function testFuzz_refusesAnotherThanTheController(address caller) public {
        vm.assume(caller != alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotController.selector, DID, caller, alice));
        vm.prank(caller);
        registry.setDidActive(DID, false);
    }

    function _set(bool active) private {
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.DidStatusChanged(DID, active);
        vm.prank(alice);
        registry.setDidActive(DID, active);
        (, bool stored,) = registry.getDid(DID);
        vm.assertEq(stored, active);
        vm.assertEq(registry.isDidActive(DID), active);
    }
}
