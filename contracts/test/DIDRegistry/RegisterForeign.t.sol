// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Claims} from "./Claims.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

contract RegisterForeignTest is Claims {
    function _claim() internal override {
        registry.registerForeign(DID_TEXT, ALIAS, SECRET, CID);
    }

    function _claimed() internal view override returns (bytes32, bytes32, bytes32) {
        return (DID, ALIAS, SECRET);
    }

    function test_registersDidAndAlias() public {
        _commitFor(alice);
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.DidRegistered(DID, alice, CID);
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.AliasRegistered(ALIAS, DID, alice);
        vm.prank(alice);
        registry.registerForeign(DID_TEXT, ALIAS, SECRET, CID);
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
        _commit(DID, 0, alice, SECRET);
        vm.recordLogs();
        vm.prank(alice);
        registry.registerForeign(DID_TEXT, 0, SECRET, CID);
        vm.assertEq(vm.getRecordedLogs().length, 1);
        (bytes32 didHash,,) = registry.getAlias(0);
        vm.assertEq(didHash, 0);
    }

    function testFuzz_refusesADidOfAKey(string calldata rest) public {
        string memory did = string.concat("did:new:", rest);
        _commit(keccak256(bytes(did)), ALIAS, alice, SECRET);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.ForeignDidOnly.selector));
        vm.prank(alice);
        registry.registerForeign(did, ALIAS, SECRET, CID);
    }

    function test_acceptsMethodsThatOnlyLookLikeNew() public {
        string[3] memory dids = ["did:newer:0x01", "did:ne:w", "did:New:0x01"];
        for (uint160 i = 0; i < dids.length; ++i) {
            address holder = address(0x5000 + i);
            _commit(keccak256(bytes(dids[i])), 0, holder, SECRET);
            vm.prank(holder);
            registry.registerForeign(dids[i], 0, SECRET, CID);
            vm.assertEq(registry.didOf(holder), keccak256(bytes(dids[i])));
        }
    }

    function test_refusesWhatIsNoDid() public {
        string[4] memory texts = ["", "did", "DID:new:0x01", "urn:did:key:z"];
        for (uint256 i = 0; i < texts.length; ++i) {
            _commit(keccak256(bytes(texts[i])), ALIAS, alice, SECRET);
            vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotADid.selector));
            vm.prank(alice);
            registry.registerForeign(texts[i], ALIAS, SECRET, CID);
        }
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
        registry.registerForeign(DID_TEXT, ALIAS, SECRET, string(new bytes(256)));
    }

    function test_refusesLongerMetadata() public {
        _commitFor(alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.MetadataTooLong.selector, 257, 256));
        vm.prank(alice);
        registry.registerForeign(DID_TEXT, ALIAS, SECRET, string(new bytes(257)));
    }

    /// @notice A front-runner gains nothing by copying the claim, the commitment or both, even if the copy is mined
    /// first.
    function test_cannotBeFrontRun() public {
        bytes32 commitment = _commitment(alice);
        registry.commit(commitment);
        vm.roll(vm.getBlockNumber() + 1);
        vm.startPrank(mallory);
        registry.commit(commitment);
        registry.commit(_commitment(mallory));
        bytes memory tooNew =
            abi.encodeWithSelector(IDIDRegistry.CommitmentTooNew.selector, _commitment(mallory), vm.getBlockNumber());
        vm.expectRevert(tooNew);
        _claim();
        vm.stopPrank();
        vm.prank(alice);
        _claim();
        vm.assertEq(registry.didOf(alice), DID);
        vm.roll(vm.getBlockNumber() + 1);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidAlreadyRegistered.selector, DID, alice));
        vm.prank(mallory);
        _claim();
    }

    function testFuzz_keepsEveryRecord(string calldata rest, bytes32 aliasHash, address controller, string calldata cid)
        public
    {
        vm.assume(aliasHash != 0 && controller != address(0) && bytes(cid).length <= 256);
        string memory did = string.concat("did:web:", rest);
        bytes32 didHash = keccak256(bytes(did));
        _commit(didHash, aliasHash, controller, SECRET);
        vm.prank(controller);
        registry.registerForeign(did, aliasHash, SECRET, cid);
        (address storedController, bool active, string memory storedCid) = registry.getDid(didHash);
        (bytes32 storedDid, address holder, bool aliasActive) = registry.getAlias(aliasHash);
        vm.assertTrue(storedController == controller && active && storedDid == didHash);
        vm.assertTrue(holder == controller && aliasActive && registry.didOf(controller) == didHash);
        vm.assertEq(storedCid, cid);
    }

    /// @notice A commitment is valid only for its controller and for exactly what it commits to.
    function testFuzz_bindsTheWholeClaim(bytes32 didHash, bytes32 aliasHash, address controller, bytes32 secret)
        public
    {
        vm.assume(didHash != DID || aliasHash != ALIAS || controller != alice || secret != SECRET);
        _commit(didHash, aliasHash, controller, secret);
        bytes32 commitment = _commitment(alice);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotCommitted.selector, commitment));
        vm.prank(alice);
        _claim();
    }
}
