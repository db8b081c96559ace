// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

contract GetDidTest is Fixture {
    function testFuzz_isZeroForUnknown(bytes32 didHash, address someone) public view {
        (address controller, bool active, string memory cid) = registry.getDid(didHash);
        vm.assertEq(controller, address(0));
        vm.assertFalse(active);
        vm.assertEq(cid, "");
        vm.assertFalse(registry.isDidActive(didHash));
        vm.assertEq(registry.didOf(someone), 0);
        vm.assertEq(registry.proposedController(didHash), address(0));
    }
}
