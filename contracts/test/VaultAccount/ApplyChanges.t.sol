// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Owners} from "../../src/account/Owners.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";

contract ApplyChangesTest is AccountFixture {
    function test_anyoneBringsWhatTheOwnerSigned() public {
        Owners.Change[] memory changes = _list(_add(_p256(SECOND_KEY)));
        vm.expectEmit(true, true, true, true, address(account));
        emit Owners.OwnerAdded(keccak256(_p256(SECOND_KEY)), _p256(SECOND_KEY), 0);
        vm.prank(mallory);
        account.applyChangesEverywhere(0, changes, _signChanges(KEY, 0, changes));
        vm.assertTrue(_isOwner(_p256(SECOND_KEY)));
        vm.assertEq(account.accountSettings().sequence, 1);
        vm.assertEq(account.accountSettings().owners, 2);
        vm.assertEq(_validate(_named(SECOND_KEY, OP_HASH)), 0);
    }

    function testFuzz_holdsOnEveryChain(uint64 chainId) public {
        vm.assume(chainId != 0);
        Owners.Change[] memory changes = _list(_remove(_p256(KEY)), _add(_p256(SECOND_KEY)));
        bytes memory signature = _signChanges(KEY, 0, changes);
        vm.chainId(chainId);
        account.applyChangesEverywhere(0, changes, signature);
        vm.assertFalse(_isOwner(_p256(KEY)));
    }

    function testFuzz_theDigestIsEip712WithoutChain(
        uint64 sequence,
        uint64 chainId,
        bytes calldata signer,
        uint256 value
    ) public {
        vm.assume(chainId != 0);
        vm.chainId(chainId);
        Owners.Change[] memory changes = _list(_add(signer), _threshold(value));
        vm.assertEq(account.changesDigest(sequence, changes), _changesDigest(address(account), sequence, changes));
    }

    function test_anAssertionSignsThemToo() public {
        Owners.Change[] memory changes = _list(_add(_p256(SECOND_KEY)));
        bytes32 digest = _changesDigest(address(account), 0, changes);
        account.applyChangesEverywhere(0, changes, _assert(KEY, digest, 0x05));
        vm.assertTrue(_isOwner(_p256(SECOND_KEY)));
    }

    function test_refusesThemASecondTime() public {
        Owners.Change[] memory changes = _list(_add(_p256(SECOND_KEY)));
        bytes memory signature = _signChanges(KEY, 0, changes);
        account.applyChangesEverywhere(0, changes, signature);
        vm.expectRevert(abi.encodeWithSelector(Owners.WrongSequence.selector, 1, 0));
        account.applyChangesEverywhere(0, changes, signature);
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.applyChangesEverywhere(1, changes, signature);
    }

    function test_refusesThemOutOfOrder() public {
        Owners.Change[] memory changes = _list(_add(_p256(SECOND_KEY)));
        bytes memory signature = _signChanges(KEY, 1, changes);
        vm.expectRevert(abi.encodeWithSelector(Owners.WrongSequence.selector, 0, 1));
        account.applyChangesEverywhere(1, changes, signature);
    }

    function test_refusesOtherChangesThanTheSigned() public {
        bytes memory signature = _signChanges(KEY, 0, _list(_add(_p256(SECOND_KEY))));
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.applyChangesEverywhere(0, _list(_add(_p256(OTHER_KEY))), signature);
    }

    function test_refusesAStrangersSignature() public {
        Owners.Change[] memory changes = _list(_add(_p256(OTHER_KEY)));
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.applyChangesEverywhere(0, changes, _signChanges(OTHER_KEY, 0, changes));
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.applyChangesEverywhere(0, changes, _named(OTHER_KEY, _changesDigest(address(account), 0, changes)));
    }

    function test_refusesARemovedOwnersSignature() public {
        _make(_list(_add(_p256(SECOND_KEY)), _primary(_p256(SECOND_KEY)), _remove(_p256(KEY))));
        Owners.Change[] memory changes = _list(_add(_p256(THIRD_KEY)));
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.applyChangesEverywhere(0, changes, _signChanges(KEY, 0, changes));
    }

    function test_refusesAnExpiredOwnersSignature() public {
        uint256 expiry = vm.getBlockTimestamp() + 10;
        _make(_change(Owners.ChangeKind.AddOwner, _p256(SECOND_KEY), expiry));
        Owners.Change[] memory changes = _list(_add(_p256(THIRD_KEY)));
        bytes memory signature = _named(SECOND_KEY, _changesDigest(address(account), 0, changes));
        vm.warp(expiry + 1);
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        account.applyChangesEverywhere(0, changes, signature);
        vm.warp(expiry);
        account.applyChangesEverywhere(0, changes, signature);
    }

    function test_needsTwoWhereTwoMustSign() public {
        _makeTwo();
        Owners.Change[] memory changes = _list(_threshold(1));
        bytes32 digest = _changesDigest(address(account), 0, changes);
        bytes[3] memory single = [_sign(KEY, digest), _named(KEY, digest), _named(SECOND_KEY, digest)];
        for (uint256 i = 0; i < single.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
            account.applyChangesEverywhere(0, changes, single[i]);
        }
        account.applyChangesEverywhere(0, changes, _namedTwo(KEY, SECOND_KEY, digest));
        vm.assertEq(account.accountSettings().threshold, 1);
        vm.assertEq(_validate(_sign(KEY, OP_HASH)), 0);
    }
}
