// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Claims} from "./Claims.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

contract RegisterTest is Claims {
    function _claim() internal override {
        registry.register(DID, ALIAS, CID);
    }

    function _claimed() internal pure override returns (bytes32, bytes32, bytes32) {
        return (DID, ALIAS, 0);
    }

    function test_registersDidAndAlias() public {
        _commitFor(alice);
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.DidRegistered(DID, alice, CID);
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.AliasRegistered(ALIAS, DID, alice);
        vm.prank(alice);
        registry.register(DID, ALIAS, CID);
        (address controller, bool active, string memory cid) = registry.getDid(DID);
        vm.assertEq(controller, alice);
        vm.assertTrue(active);
        vm.assertEq(cid, CID);
        vm.assertEq(registry.didOf(alice), DID);
        (bytes32 didHash, address holder, bool aliasActive) = registry.getAlias(ALIAS);
        vm.assertEq(didHash, DID);
        vm.assertEq(holder, alice);
        vm.assertTrue(aliasActive);
    }

    function test_zeroAliasMeansNone() public {
        _commit(DID, 0, alice, 0);
        vm.recordLogs();
        vm.prank(alice);
        registry.register(DID, 0, CID);
        vm.assertEq(vm.getRecordedLogs().length, 1);
        (bytes32 didHash,,) = registry.getAlias(0);
        vm.assertEq(didHash, 0);
    }

    function test_refusesZeroDid() public {
        _commit(0, ALIAS, alice, 0);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.ZeroHash.selector));
        vm.prank(alice);
        registry.register(0, ALIAS, CID);
    }

    function test_refusesATakenDid() public {
        _register(bob, DID, OTHER_ALIAS);
        _commitFor(alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidAlreadyRegistered.selector, DID, bob));
        vm.prank(alice);
        _claim();
    }

    function test_refusesATakenDidThatIsInactive() public {
        _register(bob, DID, OTHER_ALIAS);
        vm.prank(bob);
        registry.setDidActive(DID, false);
        _commitFor(alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidAlreadyRegistered.selector, DID, bob));
        vm.prank(alice);
        _claim();
    }

    function test_refusesASecondDidOfAController() public {
        _register(alice, OTHER_DID, OTHER_ALIAS);
        _commitFor(alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.ControllerAlreadyHasDid.selector, alice, OTHER_DID));
        vm.prank(alice);
        _claim();
    }

    function test_refusesATakenAlias() public {
        _register(bob, OTHER_DID, ALIAS);
        _commitFor(alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.AliasTaken.selector, ALIAS, OTHER_DID));
        vm.prank(alice);
        _claim();
        vm.assertEq(registry.didOf(alice), 0);
    }

    function test_acceptsTheLongestMetadata() public {
        _commitFor(alice);
        vm.prank(alice);
        registry.register(DID, ALIAS, string(new bytes(256)));
    }

    function test_refusesLongerMetadata() public {
        _commitFor(alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.MetadataTooLong.selector, 257, 256));
        vm.prank(alice);
        registry.register(DID, ALIAS, string(new bytes(257)));
    }

    /// @notice A watcher that copies the claim, the commitment, or both, and is mined first, gets nothing.
    function test_cannotBeFrontRun() public {
        bytes32 commitment = _commitment(alice);
        registry.commit(commitment);
        vm.roll(block.number + 1);
        vm.startPrank(mallory);
        registry.commit(commitment);
        registry.commit(_commitment(mallory));
        bytes memory tooNew =
            abi.encodeWithSelector(IDIDRegistry.CommitmentTooNew.selector, _commitment(mallory), block.number);
        vm.expectRevert(tooNew);
        _claim();
        vm.stopPrank();
        vm.prank(alice);
        _claim();
        vm.assertEq(registry.didOf(alice), DID);
        vm.roll(block.number + 1);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidAlreadyRegistered.selector, DID, alice));
        vm.prank(mallory);
        _claim();
    }

    function testFuzz_keepsEveryRecord(bytes32 didHash, bytes32 aliasHash, address controller, string calldata cid)
        public
    {
        vm.assume(didHash != 0 && aliasHash != 0 && controller != address(0) && bytes(cid).length <= 256);
        _commit(didHash, aliasHash, controller, 0);
        vm.prank(controller);
        registry.register(didHash, aliasHash, cid);
        (address storedController, bool active, string memory storedCid) = registry.getDid(didHash);
        (bytes32 storedDid, address holder, bool aliasActive) = registry.getAlias(aliasHash);
        vm.assertTrue(storedController == controller && active && storedDid == didHash);
        vm.assertTrue(holder == controller && aliasActive && registry.didOf(controller) == didHash);
        vm.assertEq(storedCid, cid);
    }

    /// @notice A commitment serves nobody but the controller it names, and nothing but what it names.
    function testFuzz_bindsTheWholeClaim(bytes32 didHash, bytes32 aliasHash, address controller, bytes32 secret)
        public
    {
        vm.assume(didHash != DID || aliasHash != ALIAS || controller != alice || secret != 0);
        _commit(didHash, aliasHash, controller, secret);
        bytes32 commitment = _commitment(alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotCommitted.selector, commitment));
        vm.prank(alice);
        _claim();
    }
}
