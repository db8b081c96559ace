// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

contract IsAliasAvailableTest is Fixture {
    function testFuzz_trueUntilRegistered(bytes32 aliasHash) public {
        vm.assume(aliasHash != 0);
        vm.assertTrue(registry.isAliasAvailable(aliasHash));
        _register(alice, DID, aliasHash);
        vm.assertFalse(registry.isAliasAvailable(aliasHash));
    }

    function test_zeroIsNoAlias() public view {
        vm.assertFalse(registry.isAliasAvailable(0));
    }
}
