// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";
import {DIDRegistry} from "../../src/DIDRegistry.sol";
import {Vm} from "../utils/Vm.sol";

/// @notice Makes random writes in the name of four people, over four DIDs and four aliases, and keeps a plain model.
contract RegistryActor {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    DIDRegistry private immutable registry;

    uint256 public constant SIZE = 4;
    mapping(bytes32 didHash => address) public modelController;
    mapping(bytes32 didHash => bool) public modelActive;
    mapping(bytes32 aliasHash => bytes32) public modelAlias;
    mapping(bytes32 commitment => uint256 blockNumber) public modelCommitted;
    uint256 public registrations;
    uint256 public handovers;

    constructor(DIDRegistry registry_) {
        registry = registry_;
    }

    function person(uint256 seed) public pure returns (address) {
        return address(uint160(0x1000 + seed % SIZE));
    }

    function did(uint256 seed) public pure returns (bytes32) {
        return keccak256(abi.encode("did", seed % SIZE));
    }

    function aliasOf(uint256 seed) public pure returns (bytes32) {
        return keccak256(abi.encode("alias", seed % SIZE));
    }

    function register(uint256 who, uint256 what, uint256 name, bool wait) external {
        (address caller, bytes32 didHash, bytes32 aliasHash) = (person(who), did(what), aliasOf(name));
        bytes32 commitment = registry.commitmentOf(didHash, aliasHash, caller, 0);
        _commit(commitment, wait);
        vm.prank(caller);
        try registry.register(didHash, aliasHash, "cid") {
            vm.assertTrue(modelController[didHash] == address(0) && modelAlias[aliasHash] == 0);
            _used(commitment);
            modelController[didHash] = caller;
            modelActive[didHash] = true;
            modelAlias[aliasHash] = didHash;
            registrations++;
        } catch {}
    }

    function registerAlias(uint256 who, uint256 what, uint256 name) external {
        (address caller, bytes32 didHash, bytes32 aliasHash) = (person(who), did(what), aliasOf(name));
        bytes32 commitment = registry.commitmentOf(didHash, aliasHash, caller, "s");
        _commit(commitment, true);
        vm.prank(caller);
        try registry.registerAlias(aliasHash, didHash, "s") {
            vm.assertTrue(modelController[didHash] == caller && modelActive[didHash] && modelAlias[aliasHash] == 0);
            _used(commitment);
            modelAlias[aliasHash] = didHash;
        } catch {}
    }

    function setDidActive(uint256 who, uint256 what, bool active) external {
        vm.prank(person(who));
        try registry.setDidActive(did(what), active) {
            vm.assertEq(modelController[did(what)], person(who));
            modelActive[did(what)] = active;
        } catch {}
    }

    function handOver(uint256 from, uint256 to, uint256 what) external {
        vm.prank(person(from));
        try registry.changeController(did(what), person(to)) {} catch {}
        vm.prank(person(to));
        try registry.acceptController(did(what)) {
            modelController[did(what)] = person(to);
            handovers++;
        } catch {}
    }

    function _commit(bytes32 commitment, bool wait) private {
        registry.commit(commitment);
        if (modelCommitted[commitment] == 0) modelCommitted[commitment] = block.number;
        if (wait) vm.roll(block.number + 1);
    }

    function _used(bytes32 commitment) private {
        vm.assertTrue(modelCommitted[commitment] < block.number);
        delete modelCommitted[commitment];
    }
}

contract RegistryInvariantsTest is Fixture {
    RegistryActor private actor;

    function setUp() public override {
        super.setUp();
        actor = new RegistryActor(registry);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(actor);
    }

    /// @notice Registry and model agree on everybody and everything.
    function invariant_agreesWithTheModel() public view {
        for (uint256 i = 0; i < actor.SIZE(); ++i) {
            (address controller, bool active,) = registry.getDid(actor.did(i));
            vm.assertEq(controller, actor.modelController(actor.did(i)));
            vm.assertEq(active, actor.modelActive(actor.did(i)));
            (bytes32 didHash,,) = registry.getAlias(actor.aliasOf(i));
            vm.assertEq(didHash, actor.modelAlias(actor.aliasOf(i)));
        }
    }

    /// @notice `didOf` is exactly the inverse of a DID's controller: one DID for a controller, one controller for a DID.
    function invariant_controllerAndDidAreInverse() public view {
        for (uint256 i = 0; i < actor.SIZE(); ++i) {
            bytes32 didHash = registry.didOf(actor.person(i));
            if (didHash != 0) {
                (address controller,,) = registry.getDid(didHash);
                vm.assertEq(controller, actor.person(i));
            }
            (address holder,,) = registry.getDid(actor.did(i));
            if (holder != address(0)) vm.assertEq(registry.didOf(holder), actor.did(i));
        }
    }

    /// @notice Every alias that is taken leads to a registered DID.
    function invariant_aliasesLeadSomewhere() public view {
        for (uint256 i = 0; i < actor.SIZE(); ++i) {
            (bytes32 didHash, address controller,) = registry.getAlias(actor.aliasOf(i));
            vm.assertEq(didHash != 0, controller != address(0));
        }
    }

    /// @notice The random walk is worth its name: it does get DIDs registered and handed over.
    function test_theActorReachesRegistrationAndHandover() public {
        actor.register(1, 1, 1, true);
        actor.handOver(1, 2, 1);
        vm.assertEq(actor.registrations(), 1);
        vm.assertEq(actor.handovers(), 1);
        invariant_agreesWithTheModel();
        invariant_controllerAndDidAreInverse();
    }
}
