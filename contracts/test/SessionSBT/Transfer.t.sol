// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

import {SessionSBT} from "../../src/SessionSBT.sol";

contract TransferTest is Fixture {
    uint256 private tokenId;
    bytes private soulbound = abi.encodeWithSelector(SessionSBT.Soulbound.selector);

    function setUp() public override {
        super.setUp();
        vm.prank(alice);
        tokenId = sessions.issue("s", uint64(vm.getBlockTimestamp() + 100));
        vm.startPrank(alice);
    }

    function testFuzz_isRefused(address to) public {
        vm.assume(to != address(0));
        vm.expectRevert(soulbound);
        sessions.transferFrom(alice, to, tokenId);
        vm.assertEq(sessions.ownerOf(tokenId), alice);
    }

    function test_safelyIsRefused() public {
        vm.expectRevert(soulbound);
        sessions.safeTransferFrom(alice, bob, tokenId);
        vm.expectRevert(soulbound);
        sessions.safeTransferFrom(alice, bob, tokenId, "x");
    }

    function test_approvalIsRefused() public {
        vm.expectRevert(soulbound);
        sessions.approve(bob, tokenId);
        vm.expectRevert(soulbound);
        sessions.setApprovalForAll(bob, true);
    }
}
