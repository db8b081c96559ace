// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {SessionSBT} from "../../src/SessionSBT.sol";

contract RevokeTest is Fixture {
    uint256 private tokenId;

    function setUp() public override {
        super.setUp();
        vm.prank(alice);
        tokenId = sessions.issue("s", uint64(vm.getBlockTimestamp() + 100));
    }

    function test_endsTheSession() public {
        vm.expectEmit(true, true, true, true, address(sessions));
        emit SessionSBT.SessionRevoked(tokenId, alice);
        vm.prank(alice);
        sessions.revoke(tokenId);
        vm.assertFalse(sessions.isValid(tokenId));
        vm.assertEq(sessions.balanceOf(alice), 0);
    }

    function test_forGood() public {
        vm.startPrank(alice);
        sessions.revoke(tokenId);
        vm.expectRevert(abi.encodeWithSelector(SessionSBT.AlreadyIssued.selector, tokenId));
        sessions.issue("s", uint64(vm.getBlockTimestamp() + 100));
    }

    function test_alsoAfterItsEnd() public {
        vm.warp(vm.getBlockTimestamp() + 200);
        vm.prank(alice);
        sessions.revoke(tokenId);
        vm.assertEq(sessions.balanceOf(alice), 0);
    }

    function test_refusesAnUnknownToken() public {
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, 1));
        vm.prank(alice);
        sessions.revoke(1);
    }

    function testFuzz_refusesAnotherThanTheHolder(address caller) public {
        vm.assume(caller != alice);
        vm.expectRevert(abi.encodeWithSelector(SessionSBT.NotHolder.selector, tokenId, caller, alice));
        vm.prank(caller);
        sessions.revoke(tokenId);
    }
}
