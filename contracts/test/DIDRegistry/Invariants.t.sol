// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";
import {AppFactory} from "../../src/AppFactory.sol";
import {DIDRegistry} from "../../src/DIDRegistry.sol";
import {Vm} from "../utils/Vm.sol";

/// @notice Makes random writes from four accounts to the DIDs of their keys, four foreign DIDs and four aliases, and
/// updates a simple model accordingly.
contract RegistryActor {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    DIDRegistry private immutable registry;

    uint256 public constant SIZE = 4;
    uint256 public constant DIDS = 2 * SIZE;
    uint256[2][] private keys;
    address[] private people;
    mapping(bytes32 didHash => address) public modelController;
    mapping(bytes32 didHash => bool) public modelActive;
    mapping(bytes32 aliasHash => bytes32) public modelAlias;
    mapping(bytes32 commitment => uint256 blockNumber) public modelCommitted;
    uint256 public registrations;
    uint256 public handovers;

    constructor(DIDRegistry registry_, AppFactory factory) {
        registry = registry_;
        for (uint256 i = 0; i < SIZE; ++i) {
            (uint256 x, uint256 y) = vm.publicKeyP256(0x5EED + i);
            keys.push([x, y]);
            people.push(factory.createAccount(x, y, i));
        }
    }

    function person(uint256 seed) public view returns (address) {
        return people[seed % SIZE];
    }

    /// @notice Returns one of eight DIDs, of which the first four are those of the accounts' keys.
    function did(uint256 seed) public view returns (bytes32) {
        if (seed % DIDS >= SIZE) return keccak256(bytes(_foreign(seed)));
        (uint256 x, uint256 y) = _key(seed % DIDS);
        return registry.didHashOf(x, y);
    }

    function aliasOf(uint256 seed) public pure returns (bytes32) {
        return keccak256(abi.encode("alias", seed % SIZE));
    }

    /// @notice Registers a key's DID, which only its account may do and which needs a commitment only for an alias.
    function register(uint256 who, uint256 what, uint256 name, bool named, bool wait) external {
        (address caller, uint256 key) = (person(who), what % SIZE);
        bytes32 aliasHash = named ? aliasOf(name) : bytes32(0);
        bytes32 commitment = registry.commitmentOf(did(key), aliasHash, caller, "s");
        if (named) _commit(commitment, wait);
        (uint256 x, uint256 y) = _key(key);
        vm.prank(caller);
        try registry.register(x, y, key, aliasHash, "s", "cid") {
            vm.assertEq(caller, person(key));
            if (named) _used(commitment);
            _registered(did(key), aliasHash, caller);
        } catch {}
    }

    function registerForeign(uint256 who, uint256 what, uint256 name, bool wait) external {
        (address caller, uint256 index, bytes32 aliasHash) = (person(who), SIZE + what % SIZE, aliasOf(name));
        bytes32 commitment = registry.commitmentOf(did(index), aliasHash, caller, "s");
        _commit(commitment, wait);
        vm.prank(caller);
        try registry.registerForeign(_foreign(index), aliasHash, "s", "cid") {
            _used(commitment);
            _registered(did(index), aliasHash, caller);
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
        bytes32 didHash = did(what);
        vm.prank(person(who));
        try registry.setDidActive(didHash, active) {
            vm.assertEq(modelController[didHash], person(who));
            modelActive[didHash] = active;
        } catch {}
    }

    function handOver(uint256 from, uint256 to, uint256 what) external {
        bytes32 didHash = did(what);
        vm.prank(person(from));
        try registry.changeController(didHash, person(to)) {} catch {}
        vm.prank(person(to));
        try registry.acceptController(didHash) {
            modelController[didHash] = person(to);
            handovers++;
        } catch {}
    }

    function _registered(bytes32 didHash, bytes32 aliasHash, address caller) private {
        vm.assertTrue(modelController[didHash] == address(0) && modelAlias[aliasHash] == 0);
        modelController[didHash] = caller;
        modelActive[didHash] = true;
        if (aliasHash != 0) modelAlias[aliasHash] = didHash;
        registrations++;
    }

    function _key(uint256 index) private view returns (uint256 x, uint256 y) {
        return (keys[index][0], keys[index][1]);
    }

    function _foreign(uint256 seed) private pure returns (string memory) {
        return string.concat("did:key:", string(abi.encodePacked(bytes1(uint8(0x61 + seed % DIDS)))));
    }

    function _commit(bytes32 commitment, bool wait) private {
        registry.commit(commitment);
        if (modelCommitted[commitment] == 0) modelCommitted[commitment] = vm.getBlockNumber();
        if (wait) vm.roll(vm.getBlockNumber() + 1);
    }

    function _used(bytes32 commitment) private {
        vm.assertTrue(modelCommitted[commitment] < vm.getBlockNumber());
        delete modelCommitted[commitment];
    }
}

contract RegistryInvariantsTest is Fixture {
    RegistryActor private actor;

    function setUp() public override {
        super.setUp();
        actor = new RegistryActor(registry, factory);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(actor);
    }

    /// @notice The registry and the model must agree on all accounts and records.
    function invariant_agreesWithTheModel() public view {
        for (uint256 i = 0; i < actor.DIDS(); ++i) {
            (address controller, bool active,) = registry.getDid(actor.did(i));
            vm.assertEq(controller, actor.modelController(actor.did(i)));
            vm.assertEq(active, actor.modelActive(actor.did(i)));
        }
        for (uint256 i = 0; i < actor.SIZE(); ++i) {
            (bytes32 didHash,,) = registry.getAlias(actor.aliasOf(i));
            vm.assertEq(didHash, actor.modelAlias(actor.aliasOf(i)));
        }
    }

    /// @notice `didOf` must be the inverse of a DID's controller: one DID per controller, one controller per DID.
    function invariant_controllerAndDidAreInverse() public view {
        for (uint256 i = 0; i < actor.SIZE(); ++i) {
            bytes32 didHash = registry.didOf(actor.person(i));
            if (didHash != 0) {
                (address controller,,) = registry.getDid(didHash);
                vm.assertEq(controller, actor.person(i));
            }
        }
        for (uint256 i = 0; i < actor.DIDS(); ++i) {
            (address holder,,) = registry.getDid(actor.did(i));
            if (holder != address(0)) vm.assertEq(registry.didOf(holder), actor.did(i));
        }
    }

    /// @notice Every registered alias must point to a registered DID.
    function invariant_aliasesLeadSomewhere() public view {
        for (uint256 i = 0; i < actor.SIZE(); ++i) {
            (bytes32 didHash, address controller,) = registry.getAlias(actor.aliasOf(i));
            vm.assertEq(didHash != 0, controller != address(0));
        }
    }

    /// @notice The actor, which makes the random calls, must be able to register DIDs and to hand them over.
    function test_theActorReachesRegistrationAndHandover() public {
        actor.register(1, 1, 1, true, true);
        actor.register(3, 3, 0, false, false);
        actor.registerForeign(2, 2, 2, true);
        vm.assertEq(actor.registrations(), 3);
        actor.handOver(1, 0, 1);
        vm.assertEq(actor.handovers(), 1);
        invariant_agreesWithTheModel();
        invariant_controllerAndDidAreInverse();
    }
}
