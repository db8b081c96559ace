// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Fixture} from "../utils/Fixture.sol";

contract SupportsInterfaceTest is Fixture {
    function test_namesWhatItIs() public view {
        vm.assertTrue(account.supportsInterface(0x01ffc9a7)); // ERC-165
        vm.assertTrue(account.supportsInterface(0x19822f7c)); // ERC-4337 account
        vm.assertTrue(account.supportsInterface(0x1626ba7e)); // ERC-1271
        vm.assertTrue(account.supportsInterface(0x150b7a02)); // ERC-721 receiver
        vm.assertTrue(account.supportsInterface(0x4e2312e0)); // ERC-1155 receiver
    }

    function test_andNothingElse() public view {
        vm.assertFalse(account.supportsInterface(0xffffffff));
        vm.assertFalse(account.supportsInterface(0x80ac58cd));
    }
}
