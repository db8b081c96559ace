// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";
import {Vm} from "../utils/Vm.sol";
import {SessionSBT} from "../../src/SessionSBT.sol";

/// @notice Makes three holders issue, revoke and try to transfer tokens while time passes.
contract SessionActor {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    SessionSBT private immutable sessions;

    uint256 public constant SIZE = 3;
    uint256[] public issued;
    mapping(uint256 tokenId => address) public issuer;
    mapping(uint256 tokenId => uint64) public expiry;
    mapping(uint256 tokenId => bool) public revoked;

    constructor(SessionSBT sessions_) {
        sessions = sessions_;
    }

    function count() external view returns (uint256) {
        return issued.length;
    }

    function holder(uint256 seed) public pure returns (address) {
        return address(uint160(0x2000 + seed % SIZE));
    }

    function issue(uint256 who, uint256 session, uint64 lifetime) external {
        uint64 end = uint64(vm.getBlockTimestamp() + lifetime % 100);
        vm.prank(holder(who));
        try sessions.issue(bytes32(session % 4), end) returns (uint256 tokenId) {
            vm.assertTrue(issuer[tokenId] == address(0) && end > vm.getBlockTimestamp() && session % 4 != 0);
            issued.push(tokenId);
            issuer[tokenId] = holder(who);
            expiry[tokenId] = end;
        } catch {}
    }

    function revoke(uint256 who, uint256 which) external {
        if (issued.length == 0) return;
        uint256 tokenId = issued[which % issued.length];
        vm.prank(holder(who));
        try sessions.revoke(tokenId) {
            vm.assertTrue(issuer[tokenId] == holder(who) && !revoked[tokenId]);
            revoked[tokenId] = true;
        } catch {}
    }

    function move(uint256 from, uint256 to, uint256 which) external {
        if (issued.length == 0) return;
        vm.prank(holder(from));
        try sessions.transferFrom(holder(from), holder(to), issued[which % issued.length]) {
            vm.assertTrue(false);
        } catch {}
    }

    function wait(uint8 time) external {
        vm.warp(vm.getBlockTimestamp() + time % 60);
    }
}

contract SessionInvariantsTest is Fixture {
    SessionActor private actor;

    function setUp() public override {
        super.setUp();
        actor = new SessionActor(sessions);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(actor);
    }

    /// @notice A session must be valid exactly until it is revoked or expires, and must always belong to its issuer.
    function invariant_agreesWithTheModel() public view {
        for (uint256 i = 0; i < actor.count(); ++i) {
            uint256 tokenId = actor.issued(i);
            bool alive = !actor.revoked(tokenId);
            vm.assertEq(sessions.isValid(tokenId), alive && vm.getBlockTimestamp() < actor.expiry(tokenId));
            if (alive) vm.assertEq(sessions.ownerOf(tokenId), actor.issuer(tokenId));
        }
    }

    /// @notice The actor, which makes the random calls, must be able to issue and revoke sessions.
    function test_theActorIssuesAndRevokes() public {
        actor.issue(1, 1, 5);
        actor.move(1, 2, 0);
        actor.revoke(1, 0);
        vm.assertEq(actor.count(), 1);
        vm.assertTrue(actor.revoked(actor.issued(0)));
        invariant_agreesWithTheModel();
    }
}
