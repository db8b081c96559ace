// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {WebAuthn} from "@openzeppelin/contracts/utils/cryptography/WebAuthn.sol";
import {Fixture} from "../utils/Fixture.sol";

/// @notice The account takes exactly the assertions that OpenZeppelin's `WebAuthn.verify` takes. The key signs each one as
/// it is, so that only the checks of its contents can refuse it.
contract AssertionsTest is Fixture {
    uint256 private constant TYPE_INDEX = 1;
    uint256 private constant CHALLENGE_INDEX = 23;
    bytes32 private constant HASH = keccak256("an operation");

    function testFuzz_takesTheChallengeOfEveryHash(bytes32 hash) public {
        vm.assertTrue(_same(hash, _signed(_data(0x05), _client(hash))));
    }

    /// @notice Each of the 64 digits, in each of the 43 places, the last of which has four bits.
    function test_takesEveryDigitInEveryPlace() public {
        for (uint256 digit = 0; digit < 64; ++digit) {
            bytes32 hash;
            for (uint256 place = 0; place < 43; ++place) {
                hash |= bytes32(place < 42 ? digit << (250 - 6 * place) : digit >> 2);
            }
            vm.assertTrue(_same(hash, _signed(_data(0x05), _client(hash))));
        }
    }

    function test_refusesAnyOtherByteOfTypeAndChallenge() public {
        for (uint256 i = 0; i < CHALLENGE_INDEX + 57; ++i) {
            bytes memory client = _client(HASH);
            client[i] ^= 0x01;
            bool matters = i >= CHALLENGE_INDEX || (i >= TYPE_INDEX && i < TYPE_INDEX + 21);
            vm.assertEq(_same(HASH, _signed(_data(0x05), client)), !matters);
        }
    }

    function testFuzz_otherClientData(uint256 place, bytes1 by) public {
        bytes memory client = _client(HASH);
        client[place % client.length] = by;
        _same(HASH, _signed(_data(0x05), client));
    }

    function test_everyCombinationOfFlags() public {
        for (uint256 flags = 0; flags < 256; ++flags) {
            bool good = flags & 5 == 5 && (flags & 8 != 0 || flags & 16 == 0);
            vm.assertEq(_same(HASH, _signed(_data(uint8(flags)), _client(HASH))), good);
        }
    }

    function test_needsAllAuthenticatorData() public {
        bytes memory data = _data(0x05);
        vm.assertTrue(_same(HASH, _signed(bytes.concat(data, "extensions"), _client(HASH))));
        assembly ("memory-safe") {
            mstore(data, 36)
        }
        vm.assertTrue(!_same(HASH, _signed(data, _client(HASH))));
    }

    function test_theChallengeMayBeTheEnd() public {
        bytes memory client = _client(HASH);
        for (uint256 length = 0; length <= CHALLENGE_INDEX + 57; ++length) {
            bytes memory cut = new bytes(length);
            for (uint256 i = 0; i < length; ++i) {
                cut[i] = client[i];
            }
            vm.assertEq(_same(HASH, _signed(_data(0x05), cut)), length == CHALLENGE_INDEX + 57);
        }
    }

    function testFuzz_otherPlaces(uint256 challengeIndex, uint256 typeIndex) public {
        WebAuthn.WebAuthnAuth memory one = _signed(_data(0x05), _client(HASH));
        (one.challengeIndex, one.typeIndex) = (challengeIndex, TYPE_INDEX);
        vm.assertEq(_same(HASH, one), challengeIndex == CHALLENGE_INDEX);
        // OpenZeppelin's runs out of gas far beyond the end, so it is not asked.
        (one.challengeIndex, one.typeIndex) = (CHALLENGE_INDEX, typeIndex);
        vm.assertEq(_taken(HASH, one), typeIndex == TYPE_INDEX);
        (one.challengeIndex, one.typeIndex) = (challengeIndex % 128, typeIndex % 128);
        _same(HASH, one);
    }

    /// @dev Whether the account takes it, which must be whether OpenZeppelin's does.
    function _same(bytes32 hash, WebAuthn.WebAuthnAuth memory one) private returns (bool taken) {
        taken = _taken(hash, one);
        bytes memory challenge = abi.encodePacked(hash);
        vm.assertEq(taken, WebAuthn.verify(challenge, one, bytes32(pubKeyX), bytes32(pubKeyY)));
    }

    function _taken(bytes32 hash, WebAuthn.WebAuthnAuth memory one) private returns (bool) {
        PackedUserOperation memory op;
        op.signature =
            abi.encode(one.r, one.s, one.challengeIndex, one.typeIndex, one.authenticatorData, one.clientDataJSON);
        vm.prank(EP08);
        return account.validateUserOp(op, hash, 0) == 0;
    }

    function _signed(bytes memory data, bytes memory client) private pure returns (WebAuthn.WebAuthnAuth memory one) {
        (bytes32 r, bytes32 s) = _signLow(KEY, sha256(abi.encodePacked(data, sha256(client))));
        one = WebAuthn.WebAuthnAuth(r, s, CHALLENGE_INDEX, TYPE_INDEX, data, string(client));
    }

    function _data(uint8 flags) private pure returns (bytes memory) {
        return abi.encodePacked(keccak256("rp id"), flags, uint32(7));
    }

    function _client(bytes32 hash) private pure returns (bytes memory) {
        return bytes.concat('{"type":"webauthn.get","challenge":"', bytes(_base64url(hash)), '","origin":"https://x"}');
    }
}
