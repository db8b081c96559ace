// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

import {DevUSDC} from "../../src/dev/DevUSDC.sol";

contract DevUSDCTest is Fixture {
    function testFuzz_anyoneMints(address to, uint256 amount) public {
        vm.assume(to != address(0));
        DevUSDC usdc = DevUSDC(_deployed("DevUSDC"));
        vm.prank(mallory);
        usdc.mint(to, amount);
        vm.assertEq(usdc.balanceOf(to), amount);
        vm.assertEq(uint256(usdc.decimals()), 6);
        vm.assertEq(usdc.symbol(), "USDC");
    }
}
