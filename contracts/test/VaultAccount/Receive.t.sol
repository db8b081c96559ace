// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Fixture} from "../utils/Fixture.sol";

contract ReceiveTest is Fixture {
    function testFuzz_acceptsWei(uint96 amount) public {
        vm.deal(alice, amount);
        vm.prank(alice);
        (bool accepted,) = address(account).call{value: amount}("");
        vm.assertTrue(accepted);
        vm.assertEq(address(account).balance, amount);
    }

    function test_acceptsTokens() public {
        vm.assertEq(bytes32(account.onERC721Received(alice, bob, 1, "")), bytes32(bytes4(0x150b7a02)));
        vm.assertEq(bytes32(account.onERC1155Received(alice, bob, 1, 1, "")), bytes32(bytes4(0xf23a6e61)));
    }

    function test_refusesUnknownCalls() public {
        (bool accepted,) = address(account).call(hex"deadbeef");
        vm.assertFalse(accepted);
    }
}
