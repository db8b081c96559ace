// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Fixture} from "../utils/Fixture.sol";

import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";

/// @notice The tests of `validateUserOp` must pass both with the precompile at 0x100 (profile `precompile`) and without
/// it.
contract ValidateUserOpTest is Fixture {
    bytes32 internal constant HASH = keccak256("an operation");
    bytes1 internal constant UP_UV = 0x05;

    function _validate(bytes32 hash, bytes memory signature) internal returns (uint256) {
        PackedUserOperation memory op;
        op.signature = signature;
        vm.prank(EP07);
        return account.validateUserOp(op, hash, 0);
    }

    function test_acceptsTheKeysSignatureFromEveryEntryPoint() public {
        PackedUserOperation memory op;
        op.signature = _sign(KEY, HASH);
        vm.prank(EP07);
        vm.assertEq(account.validateUserOp(op, HASH, 0), 0);
        vm.prank(EP08);
        vm.assertEq(account.validateUserOp(op, HASH, 0), 0);
        vm.prank(EP09);
        vm.assertEq(account.validateUserOp(op, HASH, 0), 0);
    }

    function testFuzz_acceptsOnlyTheSignedHash(bytes32 hash) public {
        vm.assume(hash != HASH);
        vm.assertEq(_validate(hash, _sign(KEY, HASH)), 1);
    }

    function test_refusesAnotherKey() public {
        vm.assertEq(_validate(HASH, _sign(OTHER_KEY, HASH)), 1);
    }

    function test_refusesTheHighS() public {
        vm.assertEq(_validate(HASH, _high(_sign(KEY, HASH))), 1);
    }

    function test_refusesASignatureOverTheHashOfTheHash() public {
        vm.assertEq(_validate(HASH, _sign(KEY, sha256(abi.encodePacked(HASH)))), 1);
    }

    function test_refusesEveryOtherLength() public {
        bytes memory good = _sign(KEY, HASH);
        for (uint256 length = 0; length < 200; ++length) {
            bytes memory cut = new bytes(length);
            for (uint256 i = 0; i < length && i < 64; ++i) {
                cut[i] = good[i];
            }
            if (length != 64) vm.assertEq(_validate(HASH, cut), 1);
        }
    }

    function testFuzz_neverRevertsOnNonsense(bytes calldata signature) public {
        vm.assertEq(_validate(HASH, signature), 1);
    }

    function testFuzz_neverRevertsOnNonsenseThatLooksLikeAnAssertion(
        bytes32[6] calldata head,
        uint256 dataOffset,
        uint256 clientOffset,
        bytes calldata tail
    ) public {
        bytes memory signature = abi.encodePacked(
            head[0], head[1], head[2], head[3], dataOffset % 512, clientOffset % 512, head[4], tail, head[5]
        );
        vm.assertEq(_validate(HASH, signature), 1);
    }

    function test_acceptsAnAssertion() public {
        vm.assertEq(_validate(HASH, _assert(KEY, HASH, UP_UV)), 0);
    }

    function test_acceptsAnAssertionEncodedAsAStruct() public {
        vm.assertEq(_validate(HASH, abi.encodePacked(uint256(32), _assert(KEY, HASH, UP_UV))), 0);
    }

    function test_refusesAnAssertionOverAnotherHash() public {
        vm.assertEq(_validate(HASH, _assert(KEY, keccak256("another"), UP_UV)), 1);
    }

    function test_refusesAnAssertionOfAnotherKey() public {
        vm.assertEq(_validate(HASH, _assert(OTHER_KEY, HASH, UP_UV)), 1);
    }

    function test_refusesAnAssertionWithoutUserPresence() public {
        vm.assertEq(_validate(HASH, _assert(KEY, HASH, 0x04)), 1);
    }

    function test_refusesAnAssertionWithoutUserVerification() public {
        vm.assertEq(_validate(HASH, _assert(KEY, HASH, 0x01)), 1);
    }

    function test_refusesAnAssertionWithTheHighS() public {
        (bytes32 r, bytes32 s, uint256 c, uint256 t, bytes memory data, string memory client) =
            abi.decode(_assert(KEY, HASH, UP_UV), (bytes32, bytes32, uint256, uint256, bytes, string));
        vm.assertEq(_validate(HASH, abi.encode(r, P256_N - uint256(s), c, t, data, client)), 1);
    }

    function test_refusesAnyoneButAnEntryPoint() public {
        PackedUserOperation memory op;
        op.signature = _sign(KEY, HASH);
        address[3] memory callers = [mallory, address(account), address(this)];
        for (uint256 i = 0; i < callers.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotEntryPoint.selector, callers[i]));
            vm.prank(callers[i]);
            account.validateUserOp(op, HASH, 0);
        }
    }

    function test_paysExactlyWhatIsMissing() public {
        vm.deal(address(account), 1 ether);
        PackedUserOperation memory op;
        op.signature = _sign(KEY, HASH);
        uint256 before = EP07.balance;
        vm.prank(EP07);
        account.validateUserOp(op, HASH, 0.25 ether);
        vm.assertEq(EP07.balance - before, 0.25 ether);
        vm.assertEq(address(account).balance, 0.75 ether);
    }

    function test_answersEvenWhenItCannotPay() public {
        PackedUserOperation memory op;
        op.signature = _sign(KEY, HASH);
        vm.prank(EP07);
        vm.assertEq(account.validateUserOp(op, HASH, 1 ether), 0);
    }

    function test_theImplementationAcceptsNothing() public {
        PackedUserOperation memory op;
        op.signature = _sign(KEY, HASH);
        vm.prank(EP07);
        vm.assertEq(implementation.validateUserOp(op, HASH, 0), 1);
        (uint256 x, uint256 y) = implementation.publicKey();
        vm.assertTrue(x == 0 && y == 0);
    }

    /// @notice The precompile must exist only in the `precompile` profile.
    function test_thePrecompileIsThereOnlyInItsProfile() public view {
        bytes memory signature = _sign(KEY, HASH);
        (, bytes memory answer) = address(0x100).staticcall(abi.encodePacked(HASH, signature, pubKeyX, pubKeyY));
        bool expected = keccak256(bytes(vm.envOr("FOUNDRY_PROFILE", string("default")))) == keccak256("precompile");
        vm.assertEq(answer, expected ? abi.encode(1) : bytes(""));
    }
}
