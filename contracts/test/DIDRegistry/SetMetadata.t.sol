// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

contract SetMetadataTest is Fixture {
    function setUp() public override {
        super.setUp();
        _register(alice, DID, ALIAS);
    }

    function test_replacesTheCid() public {
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.DidMetadataUpdated(DID, "bafynew");
        vm.prank(alice);
        registry.setMetadata(DID, "bafynew");
        (,, string memory cid) = registry.getDid(DID);
        vm.assertEq(cid, "bafynew");
    }

    function test_emptiesTheCid() public {
        vm.prank(alice);
        registry.setMetadata(DID, "");
        (,, string memory cid) = registry.getDid(DID);
        vm.assertEq(cid, "");
    }

    function test_refusesAnUnknownDid() public {
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidNotFound.selector, OTHER_DID));
        vm.prank(alice);
        registry.setMetadata(OTHER_DID, "");
    }

    function testFuzz_refusesAnotherThanTheController(address caller) public {
        vm.assume(caller != alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotController.selector, DID, caller, alice));
        vm.prank(caller);
        registry.setMetadata(DID, "");
    }

    function test_refusesAnInactiveDid() public {
        vm.startPrank(alice);
        registry.setDidActive(DID, false);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidNotActive.selector, DID));
        registry.setMetadata(DID, "");
    }

    function test_refusesLongMetadata() public {
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.MetadataTooLong.selector, 257, 256));
        vm.prank(alice);
        registry.setMetadata(DID, string(new bytes(257)));
    }
}
