// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Owners} from "../../src/account/Owners.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";
import {IERC7913SignatureVerifier} from "@openzeppelin/contracts/interfaces/IERC7913.sol";
import {Saying} from "../utils/Targets.sol";

/// @notice Accepts the signature that is the hash of key and digest.
contract Verifier is IERC7913SignatureVerifier {
    function verify(bytes calldata key, bytes32 hash, bytes calldata signature) external pure returns (bytes4) {
        bool good = keccak256(signature) == keccak256(abi.encodePacked(keccak256(key), hash));
        return good ? IERC7913SignatureVerifier.verify.selector : bytes4(0xffffffff);
    }
}

/// @notice Operations signed by owners other than the primary key, with and without the precompile.
contract ValidateByNameTest is AccountFixture {
    function test_acceptsAnotherOwnersAssertion() public {
        _make(_add(_p256(SECOND_KEY)));
        vm.assertEq(_validate(_named(_p256(SECOND_KEY), _assert(SECOND_KEY, OP_HASH, 0x05))), 0);
        vm.assertEq(_validate(_named(_p256(SECOND_KEY), _assert(SECOND_KEY, OP_HASH, 0x01))), 1);
    }

    function test_aKeyBeforeItsSignatureIsItsName() public {
        _make(_add(_p256(SECOND_KEY)));
        bytes memory assertion = _assert(SECOND_KEY, OP_HASH, 0x05);
        bytes memory plain = _sign(SECOND_KEY, OP_HASH);
        vm.assertEq(_validate(abi.encodePacked(_p256(SECOND_KEY), plain)), 0);
        vm.assertEq(_validate(abi.encodePacked(_p256(SECOND_KEY), assertion)), 0);
        vm.assertEq(_validate(abi.encodePacked(_p256(KEY), _sign(KEY, OP_HASH))), 0);
        vm.assertEq(_validate(abi.encodePacked(_p256(KEY), _assert(KEY, OP_HASH, 0x05))), 0);
        vm.assertEq(_validate(abi.encodePacked(_p256(SECOND_KEY), plain, hex"00")), 1);
        vm.assertEq(_validate(abi.encodePacked(_p256(SECOND_KEY), uint256(32), assertion)), 1);
        vm.assertEq(_validate(abi.encodePacked(_p256(SECOND_KEY), _assert(SECOND_KEY, OP_HASH, 0x01))), 1);
    }

    function test_aKeyBeforeAnotherKeysSignatureIsNoName() public {
        _make(_add(_p256(SECOND_KEY)));
        vm.assertEq(_validate(abi.encodePacked(_p256(SECOND_KEY), _sign(KEY, OP_HASH))), 1);
        vm.assertEq(_validate(abi.encodePacked(_p256(SECOND_KEY), _assert(KEY, OP_HASH, 0x05))), 1);
        vm.assertEq(_validate(abi.encodePacked(_p256(SECOND_KEY), _sign(SECOND_KEY, keccak256("other")))), 1);
        vm.assertEq(_validate(abi.encodePacked(_p256(OTHER_KEY), _sign(OTHER_KEY, OP_HASH))), 1);
        vm.assertEq(_validate(abi.encodePacked(_p256(OTHER_KEY), _assert(OTHER_KEY, OP_HASH, 0x05))), 1);
        _make(_remove(_p256(SECOND_KEY)));
        vm.assertEq(_validate(abi.encodePacked(_p256(SECOND_KEY), _sign(SECOND_KEY, OP_HASH))), 1);
    }

    function test_aKeyBeforeItsSignatureHasItsExpiryAndIsOneOfTwo() public {
        _make(_change(Owners.ChangeKind.AddOwner, _p256(SECOND_KEY), 50));
        bytes memory signature = abi.encodePacked(_p256(SECOND_KEY), _sign(SECOND_KEY, OP_HASH));
        vm.assertEq(_validate(signature), uint256(50) << 160);
        _make(_list(_add(_p256(THIRD_KEY)), _threshold(2)));
        vm.assertEq(_validate(signature), 1);
        vm.assertEq(_validate(abi.encodePacked(_p256(THIRD_KEY), _assert(THIRD_KEY, OP_HASH, 0x05))), 1);
    }

    function test_acceptsThePrimaryKeyByName() public {
        vm.assertEq(_validate(_named(KEY, OP_HASH)), 0);
    }

    function test_refusesAnotherKeyUnderAnOwnersName() public {
        _make(_add(_p256(SECOND_KEY)));
        vm.assertEq(_validate(_named(_p256(SECOND_KEY), _sign(OTHER_KEY, OP_HASH))), 1);
        vm.assertEq(_validate(_named(_p256(SECOND_KEY), _sign(SECOND_KEY, keccak256("other")))), 1);
        vm.assertEq(_validate(_named(OTHER_KEY, OP_HASH)), 1);
    }

    function test_saysUntilWhenAnOwnerIsOne() public {
        uint256 expiry = vm.getBlockTimestamp() + 100;
        _make(_change(Owners.ChangeKind.AddOwner, _p256(SECOND_KEY), expiry));
        vm.assertEq(_validate(_named(SECOND_KEY, OP_HASH)), expiry << 160);
    }

    function test_ofTwoTheFirstExpiryCounts() public {
        _make(_list(_add(_p256(SECOND_KEY)), _threshold(2)));
        _make(_change(Owners.ChangeKind.AddOwner, _p256(THIRD_KEY), 50));
        _make(_change(Owners.ChangeKind.AddOwner, _p256(OTHER_KEY), 40));
        vm.assertEq(_validate(_namedTwo(KEY, THIRD_KEY, OP_HASH)), uint256(50) << 160);
        vm.assertEq(_validate(_namedTwo(OTHER_KEY, THIRD_KEY, OP_HASH)), uint256(40) << 160);
    }

    function test_twoMustBeTwo() public {
        _makeTwo();
        bytes memory entry = _entry(_p256(KEY), _sign(KEY, OP_HASH));
        vm.assertEq(_validate(abi.encodePacked(uint256(2), entry, entry)), 1);
        vm.assertEq(_validate(_named(KEY, OP_HASH)), 1);
        vm.assertEq(_validate(_named(SECOND_KEY, OP_HASH)), 1);
        vm.assertEq(_validate(_namedTwo(KEY, OTHER_KEY, OP_HASH)), 1);
        vm.assertEq(_validate(_namedTwo(KEY, SECOND_KEY, OP_HASH)), 0);
    }

    function test_twoMayMixKinds() public {
        _make(_list(_add(_wallet(WALLET_KEY)), _threshold(2)));
        bytes memory one = _entry(_p256(KEY), _assert(KEY, OP_HASH, 0x05));
        bytes memory other = _entry(_wallet(WALLET_KEY), _walletSign(WALLET_KEY, OP_HASH));
        if (keccak256(_p256(KEY)) > keccak256(_wallet(WALLET_KEY))) (one, other) = (other, one);
        vm.assertEq(_validate(abi.encodePacked(uint256(2), one, other)), 0);
        vm.assertEq(_validate(abi.encodePacked(uint256(2), other, one)), 1);
    }

    function test_refusesAnythingAfterTheSignatures() public {
        vm.assertEq(_validate(abi.encodePacked(_named(KEY, OP_HASH), hex"00")), 1);
        bytes memory entry = _entry(_p256(KEY), _sign(KEY, OP_HASH));
        vm.assertEq(_validate(abi.encodePacked(uint256(2), entry)), 1);
        vm.assertEq(_validate(abi.encodePacked(uint256(3), entry, entry, entry)), 1);
    }

    function test_acceptsAnAddressByItsKey() public {
        _make(_add(_wallet(WALLET_KEY)));
        vm.assertEq(_validate(_named(_wallet(WALLET_KEY), _walletSign(WALLET_KEY, OP_HASH))), 0);
        vm.assertEq(_validate(_named(_wallet(WALLET_KEY), _walletSign(OTHER_KEY, OP_HASH))), 1);
    }

    function test_acceptsAContractByErc1271() public {
        bytes memory yes = abi.encodePacked(new Saying(abi.encode(bytes4(0x1626ba7e)), false));
        bytes memory no = abi.encodePacked(new Saying(abi.encode(bytes4(0xffffffff)), false));
        bytes memory failing = abi.encodePacked(new Saying(abi.encode(bytes4(0x1626ba7e)), true));
        _make(_list(_add(yes), _add(no), _add(failing)));
        vm.assertEq(_validate(_named(yes, "any")), 0);
        vm.assertEq(_validate(_named(no, "any")), 1);
        vm.assertEq(_validate(_named(failing, "any")), 1);
    }

    function test_acceptsAVerifierOfErc7913() public {
        bytes memory signer = abi.encodePacked(new Verifier(), "any key");
        _make(_add(signer));
        bytes memory good = abi.encodePacked(keccak256("any key"), OP_HASH);
        vm.assertEq(_validate(_named(signer, good)), 0);
        vm.assertEq(_validate(_named(signer, abi.encodePacked(keccak256("other key"), OP_HASH))), 1);
    }

    /// @notice What memory contains behind the selector does not complete it.
    function test_aVerifierThatAnswersLessThanAWordAcceptsNothing() public {
        bytes memory yes = abi.encode(IERC7913SignatureVerifier.verify.selector);
        bytes memory signer = abi.encodePacked(new Saying(yes, false), "any key");
        bytes memory short = abi.encodePacked(new Saying(abi.encodePacked(bytes31(bytes32(yes))), false), "any key");
        _make(_list(_add(signer), _add(short)));
        vm.assertEq(_validate(_named(signer, "")), 0);
        vm.assertEq(_validate(_named(short, "")), 1);
    }

    function test_aVerifierWithoutCodeAcceptsNothing() public {
        bytes memory signer = abi.encodePacked(alice, "any key");
        _make(_add(signer));
        vm.assertEq(_validate(_named(signer, "")), 1);
    }

    /// @notice An owner may be another account of ours, whose owner signs what ERC-7739 nests.
    function test_acceptsAnotherVaultAccount() public {
        (uint256 x, uint256 y) = vm.publicKeyP256(OTHER_KEY);
        address other = factory.createAccount(x, y, 0);
        _make(_add(abi.encodePacked(other)));
        bytes32 digest = _personal(other, OP_HASH);
        vm.assertEq(_validate(_named(abi.encodePacked(other), _sign(OTHER_KEY, digest))), 0);
        vm.assertEq(_validate(_named(abi.encodePacked(other), _sign(OTHER_KEY, OP_HASH))), 1);
    }

    function testFuzz_neverRevertsOnNonsense(uint256 number, uint16 one, uint16 two, bytes calldata tail) public {
        bytes memory signature = abi.encodePacked(number % 4, one % 100, two % 100, tail);
        vm.assertEq(_validate(signature), 1);
        vm.assertEq(_validate(abi.encodePacked(number % 4, uint16(64), two % 100, _p256(KEY), tail)), 1);
        vm.assertEq(_validate(abi.encodePacked(_p256(KEY), number, tail)), 1);
        vm.assertEq(_validate(tail), 1);
    }
}
