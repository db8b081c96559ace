// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

contract IsValidTest is Fixture {
    function testFuzz_untilTheSecondOfItsEnd(uint64 lifetime, uint64 elapsed) public {
        lifetime = lifetime % 1e9 + 1;
        elapsed = elapsed % 2e9;
        vm.prank(alice);
        uint256 tokenId = sessions.issue("s", uint64(vm.getBlockTimestamp() + lifetime));
        vm.warp(vm.getBlockTimestamp() + elapsed);
        vm.assertEq(sessions.isValid(tokenId), elapsed < lifetime);
    }

    function test_overAtItsEnd() public {
        vm.prank(alice);
        uint256 tokenId = sessions.issue("s", uint64(vm.getBlockTimestamp() + 10));
        vm.warp(vm.getBlockTimestamp() + 9);
        vm.assertTrue(sessions.isValid(tokenId));
        vm.warp(vm.getBlockTimestamp() + 1);
        vm.assertFalse(sessions.isValid(tokenId));
    }

    function testFuzz_falseForUnknown(uint256 tokenId) public view {
        vm.assertFalse(sessions.isValid(tokenId));
    }
}
