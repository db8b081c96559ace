// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

contract GetAliasTest is Fixture {
    function testFuzz_isZeroForUnknown(bytes32 aliasHash) public view {
        (bytes32 didHash, address controller, bool active) = registry.getAlias(aliasHash);
        vm.assertEq(didHash, 0);
        vm.assertEq(controller, address(0));
        vm.assertFalse(active);
    }
}
