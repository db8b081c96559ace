// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

/// @notice The tests for every function that makes a first claim. A derived contract defines how to call its function
/// and which secret the commitment contains.
abstract contract Claims is Fixture {
    /// @dev Returns the address that is allowed to make the claim.
    function _claimant() internal view virtual returns (address) {
        return alice;
    }

    function _prepare() internal virtual {}

    function _claim() internal virtual;

    function _claimed() internal view virtual returns (bytes32 didHash, bytes32 aliasHash, bytes32 secret);

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
        bytes32 commitment = _commitment(_claimant());
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotCommitted.selector, commitment));
        vm.prank(_claimant());
        _claim();
    }

    function test_refusesInTheBlockOfTheCommitment() public {
        _prepare();
        bytes32 commitment = _commitment(_claimant());
        registry.commit(commitment);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.CommitmentTooNew.selector, commitment, vm.getBlockNumber()));
        vm.prank(_claimant());
        _claim();
    }

    function test_acceptsInTheNextBlock() public {
        _prepare();
        registry.commit(_commitment(_claimant()));
        vm.roll(vm.getBlockNumber() + 1);
        vm.prank(_claimant());
        _claim();
    }

    function test_acceptsInTheLastSecondOfTheCommitment() public {
        _prepare();
        registry.commit(_commitment(_claimant()));
        vm.roll(vm.getBlockNumber() + 1);
        vm.warp(vm.getBlockTimestamp() + registry.MAX_COMMITMENT_AGE());
        vm.prank(_claimant());
        _claim();
    }

    function test_refusesALapsedCommitment() public {
        _prepare();
        bytes32 commitment = _commitment(_claimant());
        registry.commit(commitment);
        uint256 expiry = vm.getBlockTimestamp() + registry.MAX_COMMITMENT_AGE();
        vm.roll(vm.getBlockNumber() + 1);
        vm.warp(expiry + 1);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.CommitmentExpired.selector, commitment, expiry));
        vm.prank(_claimant());
        _claim();
    }

    function test_usesTheCommitmentUp() public {
        _prepare();
        _commitFor(_claimant());
        vm.prank(_claimant());
        _claim();
        (uint256 blockNumber, uint256 timestamp) = registry.committedAt(_commitment(_claimant()));
        vm.assertEq(blockNumber, 0);
        vm.assertEq(timestamp, 0);
    }
}
