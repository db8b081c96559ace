// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Claims} from "./Claims.sol";
import {IDIDRegistry} from "../../src/interfaces/IDIDRegistry.sol";

/// @notice Registers the DID of a key with a first alias. `account` is the account of that key with salt 0.
contract RegisterTest is Claims {
    bytes32 private did;

    function setUp() public override {
        super.setUp();
        did = _didOfKey(pubKeyX, pubKeyY);
    }

    function _claimant() internal view override returns (address) {
        return address(account);
    }

    function _claim() internal override {
        registry.register(pubKeyX, pubKeyY, 0, ALIAS, SECRET, CID);
    }

    function _claimed() internal view override returns (bytes32, bytes32, bytes32) {
        return (did, ALIAS, SECRET);
    }

    function test_registersDidAndAlias() public {
        _commitFor(address(account));
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.DidRegistered(did, address(account), CID);
        vm.expectEmit(true, true, true, true, address(registry));
        emit IDIDRegistry.AliasRegistered(ALIAS, did, address(account));
        vm.prank(address(account));
        _claim();
        (address controller, bool active, string memory cid) = registry.getDid(did);
        vm.assertTrue(controller == address(account) && active);
        vm.assertEq(cid, CID);
        vm.assertEq(registry.didOf(address(account)), did);
        (bytes32 didHash, address holder, bool aliasActive) = registry.getAlias(ALIAS);
        vm.assertTrue(didHash == did && holder == address(account) && aliasActive);
    }

    function test_needsNoCommitmentWithoutAnAlias() public {
        vm.recordLogs();
        vm.prank(address(account));
        registry.register(pubKeyX, pubKeyY, 0, 0, SECRET, CID);
        vm.assertEq(vm.getRecordedLogs().length, 1);
        vm.assertEq(registry.didOf(address(account)), did);
        (bytes32 didHash,,) = registry.getAlias(0);
        vm.assertEq(didHash, 0);
    }

    /// @notice A stranger who sees a DID before it is on the chain cannot register it, with or without a commitment.
    function testFuzz_aStrangerCannotRegisterAVictimsDid(address stranger, uint256 salt) public {
        vm.assume(stranger != factory.getAddress(pubKeyX, pubKeyY, salt));
        _commit(did, ALIAS, stranger, SECRET);
        bytes memory refusal = abi.encodeWithSelector(
            IDIDRegistry.NotTheKeysAccount.selector, stranger, factory.getAddress(pubKeyX, pubKeyY, salt)
        );
        vm.expectRevert(refusal);
        vm.prank(stranger);
        registry.register(pubKeyX, pubKeyY, salt, ALIAS, SECRET, CID);
        vm.expectRevert(refusal);
        vm.prank(stranger);
        registry.register(pubKeyX, pubKeyY, salt, 0, 0, CID);
        (address controller,,) = registry.getDid(did);
        vm.assertEq(controller, address(0));
    }

    function test_anAccountOfAnotherKeyIsAStrangerToo() public {
        (uint256 x, uint256 y) = vm.publicKeyP256(OTHER_KEY);
        address other = factory.createAccount(x, y, 0);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotTheKeysAccount.selector, other, address(account)));
        vm.prank(other);
        registry.register(pubKeyX, pubKeyY, 0, 0, 0, CID);
    }

    /// @notice Knowing the text of a key's DID does not let a stranger register it as a foreign DID.
    function test_aStrangerCannotRegisterItAsAForeignDid() public {
        string memory text = _didTextOfKey(pubKeyX, pubKeyY);
        vm.assertEq(keccak256(bytes(text)), did);
        _commit(did, ALIAS, mallory, SECRET);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.ForeignDidOnly.selector));
        vm.prank(mallory);
        registry.registerForeign(text, ALIAS, SECRET, CID);
    }

    /// @notice After a key change, the account keeps its address and can still register the first key's DID.
    function test_aRotatedAccountRegistersItsFirstDid() public {
        (uint256 x, uint256 y) = vm.publicKeyP256(OTHER_KEY);
        vm.prank(address(account));
        account.setPublicKey(x, y);
        _commitFor(address(account));
        vm.prank(address(account));
        _claim();
        vm.assertEq(registry.didOf(address(account)), did);
    }

    function test_aRotatedAccountDoesNotRegisterTheDidOfItsNewKey() public {
        (uint256 x, uint256 y) = vm.publicKeyP256(OTHER_KEY);
        vm.prank(address(account));
        account.setPublicKey(x, y);
        address expected = factory.getAddress(x, y, 0);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotTheKeysAccount.selector, address(account), expected));
        vm.prank(address(account));
        registry.register(x, y, 0, 0, 0, CID);
    }

    function testFuzz_everySaltOfTheKeyMay(uint256 salt) public {
        address holder = factory.createAccount(pubKeyX, pubKeyY, salt);
        vm.prank(holder);
        registry.register(pubKeyX, pubKeyY, salt, 0, 0, CID);
        vm.assertEq(registry.didOf(holder), did);
    }

    function test_refusesATakenDid() public {
        address second = factory.createAccount(pubKeyX, pubKeyY, 1);
        vm.prank(second);
        registry.register(pubKeyX, pubKeyY, 1, 0, 0, CID);
        _commitFor(address(account));
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.DidAlreadyRegistered.selector, did, second));
        vm.prank(address(account));
        _claim();
    }

    function test_refusesASecondDidOfAController() public {
        _register(address(account), OTHER_DID, OTHER_ALIAS);
        _commitFor(address(account));
        vm.expectRevert(
            abi.encodeWithSelector(IDIDRegistry.ControllerAlreadyHasDid.selector, address(account), OTHER_DID)
        );
        vm.prank(address(account));
        _claim();
    }

    function test_refusesATakenAlias() public {
        _register(bob, OTHER_DID, ALIAS);
        _commitFor(address(account));
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.AliasTaken.selector, ALIAS, OTHER_DID));
        vm.prank(address(account));
        _claim();
        vm.assertEq(registry.didOf(address(account)), 0);
    }

    function test_refusesLongerMetadata() public {
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.MetadataTooLong.selector, 257, 256));
        vm.prank(address(account));
        registry.register(pubKeyX, pubKeyY, 0, 0, 0, string(new bytes(257)));
    }

    /// @notice A front-runner gains nothing by copying the claim to the alias, the commitment or both, even if the copy
    /// is mined first.
    function test_cannotBeFrontRun() public {
        bytes32 commitment = _commitment(address(account));
        registry.commit(commitment);
        vm.roll(vm.getBlockNumber() + 1);
        bytes32 copied = registry.commitmentOf(DID, ALIAS, mallory, SECRET);
        vm.startPrank(mallory);
        registry.commit(commitment);
        registry.commit(copied);
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.CommitmentTooNew.selector, copied, vm.getBlockNumber()));
        registry.registerForeign(DID_TEXT, ALIAS, SECRET, CID);
        vm.stopPrank();
        vm.prank(address(account));
        _claim();
        (bytes32 didHash,,) = registry.getAlias(ALIAS);
        vm.assertEq(didHash, did);
    }

    /// @notice A commitment is valid only for its controller and for exactly what it commits to.
    function testFuzz_bindsTheWholeClaim(bytes32 didHash, bytes32 aliasHash, address controller, bytes32 secret)
        public
    {
        vm.assume(didHash != did || aliasHash != ALIAS || controller != address(account) || secret != SECRET);
        _commit(didHash, aliasHash, controller, secret);
        bytes32 commitment = _commitment(address(account));
        vm.expectRevert(abi.encodeWithSelector(IDIDRegistry.NotCommitted.selector, commitment));
        vm.prank(address(account));
        _claim();
    }
}
