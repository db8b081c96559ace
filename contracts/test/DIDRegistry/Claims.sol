// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

/// @notice What every function that makes a first claim must hold to. A test contract says how its function is called,
/// and which secret the function's commitment has.
abstract contract Claims is Fixture {
    function _prepare() internal virtual {}

    function _claim() internal virtual;

    function _claimed() internal pure virtual returns (bytes32 didHash, bytes32 aliasHash, bytes32 secret);

    function _commitment(address controller) internal view returns (bytes32) {
        (bytes32 didHash, bytes32 aliasHash, bytes32 secret) = _claimed();
        return registry.commitmentOf(didHash, aliasHash, controller, secret);
    }

    function _commitFor(address controller) internal {
        (bytes32 didHash, bytes32 aliasHash, bytes32 secret) = _claimed();
        _commit(didHash, aliasHash, controller, secret);
    }

    function test_refusesWithoutCommitment() public {
        _prepare();
        bytes32 commitment = _commitment(alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotCommitted.selector, commitment));
        vm.prank(alice);
        _claim();
    }

    function test_refusesInTheBlockOfTheCommitment() public {
        _prepare();
        bytes32 commitment = _commitment(alice);
        registry.commit(commitment);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.CommitmentTooNew.selector, commitment, block.number));
        vm.prank(alice);
        _claim();
    }

    function test_acceptsInTheNextBlock() public {
        _prepare();
        registry.commit(_commitment(alice));
        vm.roll(block.number + 1);
        vm.prank(alice);
        _claim();
    }

    function test_acceptsInTheLastSecondOfTheCommitment() public {
        _prepare();
        registry.commit(_commitment(alice));
        vm.roll(block.number + 1);
        vm.warp(block.timestamp + registry.MAX_COMMITMENT_AGE());
        vm.prank(alice);
        _claim();
    }

    function test_refusesALapsedCommitment() public {
        _prepare();
        bytes32 commitment = _commitment(alice);
        registry.commit(commitment);
        uint256 expiry = block.timestamp + registry.MAX_COMMITMENT_AGE();
        vm.roll(block.number + 1);
        vm.warp(expiry + 1);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.CommitmentExpired.selector, commitment, expiry));
        vm.prank(alice);
        _claim();
    }

    function test_usesTheCommitmentUp() public {
        _prepare();
        _commitFor(alice);
        vm.prank(alice);
        _claim();
        (uint256 blockNumber, uint256 timestamp) = registry.committedAt(_commitment(alice));
        vm.assertEq(blockNumber, 0);
        vm.assertEq(timestamp, 0);
    }
}
