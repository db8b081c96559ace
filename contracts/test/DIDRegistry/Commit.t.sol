// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

contract CommitTest is Fixture {
    bytes32 private constant COMMITMENT = keccak256("a commitment");

    function test_remembersBlockAndTime() public {
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.Committed(COMMITMENT);
        registry.commit(COMMITMENT);
        (uint256 blockNumber, uint256 timestamp) = registry.committedAt(COMMITMENT);
        vm.assertEq(blockNumber, vm.getBlockNumber());
        vm.assertEq(timestamp, vm.getBlockTimestamp());
    }

    function test_aSecondPostingChangesNothingWhileTheFirstLives() public {
        registry.commit(COMMITMENT);
        uint256 firstBlock = vm.getBlockNumber();
        uint256 firstTime = vm.getBlockTimestamp();
        vm.roll(firstBlock + 9);
        vm.warp(firstTime + registry.MAX_COMMITMENT_AGE());
        vm.recordLogs();
        vm.prank(mallory);
        registry.commit(COMMITMENT);
        vm.assertEq(vm.getRecordedLogs().length, 0);
        (uint256 blockNumber, uint256 timestamp) = registry.committedAt(COMMITMENT);
        vm.assertEq(blockNumber, firstBlock);
        vm.assertEq(timestamp, firstTime);
    }

    function test_renewsALapsedOne() public {
        registry.commit(COMMITMENT);
        vm.roll(vm.getBlockNumber() + 9);
        vm.warp(vm.getBlockTimestamp() + registry.MAX_COMMITMENT_AGE() + 1);
        registry.commit(COMMITMENT);
        (uint256 blockNumber, uint256 timestamp) = registry.committedAt(COMMITMENT);
        vm.assertEq(blockNumber, vm.getBlockNumber());
        vm.assertEq(timestamp, vm.getBlockTimestamp());
    }

    function testFuzz_keepsCommitmentsApart(bytes32 one, bytes32 other) public {
        vm.assume(one != other);
        registry.commit(one);
        (uint256 blockNumber,) = registry.committedAt(other);
        vm.assertEq(blockNumber, 0);
    }
}
