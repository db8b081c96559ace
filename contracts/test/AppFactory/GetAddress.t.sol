// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

contract GetAddressTest is Fixture {
    function testFuzz_isCreate2OfTheClone(uint256 x, uint256 y, uint256 salt) public view {
        bytes memory initCode = abi.encodePacked(
            hex"61006d3d81600a3d39f3363d3d373d3d3d363d73", implementation, hex"5af43d82803e903d91602b57fd5bf3", x, y
        );
        bytes32 hash = keccak256(abi.encodePacked(hex"ff", factory, salt, keccak256(initCode)));
        vm.assertEq(factory.getAddress(x, y, salt), address(uint160(uint256(hash))));
    }

    function testFuzz_differsByEveryArgument(uint256[3] calldata one, uint256[3] calldata other) public view {
        vm.assume(one[0] != other[0] || one[1] != other[1] || one[2] != other[2]);
        vm.assertTrue(factory.getAddress(one[0], one[1], one[2]) != factory.getAddress(other[0], other[1], other[2]));
    }

    function test_hasTheSelectorOfTheInterface() public view {
        vm.assertEq(bytes32(factory.getAddress.selector), bytes32(bytes4(0xe81b22ea)));
    }
}
