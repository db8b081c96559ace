// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Claims} from "./Claims.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

contract RegisterDidTest is Claims {
    function _claim() internal override {
        registry.registerDid(DID, CID);
    }

    function _claimed() internal pure override returns (bytes32, bytes32, bytes32) {
        return (DID, 0, 0);
    }

    function test_registersNoAlias() public {
        _commitFor(alice);
        vm.recordLogs();
        vm.prank(alice);
        _claim();
        vm.assertEq(vm.getRecordedLogs().length, 1);
        (address controller, bool active, string memory cid) = registry.getDid(DID);
        vm.assertEq(controller, alice);
        vm.assertTrue(active);
        vm.assertEq(cid, CID);
    }

    function test_refusesZeroDid() public {
        _commit(0, 0, alice, 0);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.ZeroHash.selector));
        vm.prank(alice);
        registry.registerDid(0, CID);
    }
}
