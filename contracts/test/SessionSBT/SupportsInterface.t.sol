// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

contract SessionSupportsInterfaceTest is Fixture {
    function test_namesWhatItIs() public view {
        vm.assertTrue(sessions.supportsInterface(0xb45a3c0e)); // ERC-5192
        vm.assertTrue(sessions.supportsInterface(0x80ac58cd)); // ERC-721
        vm.assertTrue(sessions.supportsInterface(0x01ffc9a7)); // ERC-165
        vm.assertFalse(sessions.supportsInterface(0xffffffff));
    }
}
