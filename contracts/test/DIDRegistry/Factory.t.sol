// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

contract FactoryTest is Fixture {
    function test_isTheOneItWasDeployedWith() public view {
        vm.assertEq(registry.factory(), address(factory));
    }
}
