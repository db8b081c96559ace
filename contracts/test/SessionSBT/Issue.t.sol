// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

import {SessionSBT} from "../../src/SessionSBT.sol";
import {IERC5192} from "../../src/interfaces/IERC5192.sol";

contract IssueTest is Fixture {
    function testFuzz_issuesToTheCaller(address holder, bytes32 session, uint64 expiry) public {
        vm.assume(holder != address(0) && session != 0 && expiry > vm.getBlockTimestamp());
        uint256 tokenId = uint256(keccak256(abi.encode(holder, session)));
        vm.expectEmit(true, true, true, true, address(sessions));
        emit IERC5192.Locked(tokenId);
        vm.expectEmit(true, true, true, true, address(sessions));
        emit SessionSBT.SessionIssued(tokenId, holder, session, expiry);
        vm.prank(holder);
        vm.assertEq(sessions.issue(session, expiry), tokenId);
        vm.assertEq(sessions.ownerOf(tokenId), holder);
        vm.assertEq(sessions.balanceOf(holder), 1);
        vm.assertEq(sessions.expiryOf(tokenId), expiry);
        vm.assertEq(sessions.tokenIdOf(holder, session), tokenId);
    }

    function test_issuesToAContractThatReceivesNoTokens() public {
        vm.prank(address(registry));
        sessions.issue("s", uint64(vm.getBlockTimestamp() + 1));
    }

    function test_refusesZeroHash() public {
        vm.expectRevert(abi.encodeWithSelector(SessionSBT.ZeroHash.selector));
        vm.prank(alice);
        sessions.issue(0, uint64(vm.getBlockTimestamp() + 1));
    }

    function testFuzz_refusesWhatIsOver(uint64 expiry) public {
        expiry = uint64(expiry % (vm.getBlockTimestamp() + 1));
        vm.expectRevert(abi.encodeWithSelector(SessionSBT.AlreadyExpired.selector, expiry, vm.getBlockTimestamp()));
        vm.prank(alice);
        sessions.issue("s", expiry);
    }

    function test_refusesThisVerySecond() public {
        uint64 now_ = uint64(vm.getBlockTimestamp());
        vm.expectRevert(abi.encodeWithSelector(SessionSBT.AlreadyExpired.selector, now_, vm.getBlockTimestamp()));
        vm.prank(alice);
        sessions.issue("s", now_);
    }

    function test_refusesTheSameSessionTwice() public {
        vm.startPrank(alice);
        uint256 tokenId = sessions.issue("s", uint64(vm.getBlockTimestamp() + 1));
        vm.warp(vm.getBlockTimestamp() + 2);
        vm.expectRevert(abi.encodeWithSelector(SessionSBT.AlreadyIssued.selector, tokenId));
        sessions.issue("s", uint64(vm.getBlockTimestamp() + 9));
    }

    function test_anotherHolderMayUseTheSameHash() public {
        vm.prank(alice);
        sessions.issue("s", uint64(vm.getBlockTimestamp() + 1));
        vm.prank(bob);
        sessions.issue("s", uint64(vm.getBlockTimestamp() + 1));
    }
}
