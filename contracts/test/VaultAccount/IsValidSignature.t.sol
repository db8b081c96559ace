// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Fixture} from "../utils/Fixture.sol";

contract IsValidSignatureTest is Fixture {
    bytes32 private constant HASH = keccak256("a message");
    bytes4 private constant YES = 0x1626ba7e;
    bytes4 private constant NO = 0xffffffff;

    function test_acceptsTheKeysSignature() public view {
        _expect(HASH, _sign(KEY, account.messageDigest(HASH)), YES);
    }

    function test_acceptsAnAssertion() public view {
        _expect(HASH, _assert(KEY, account.messageDigest(HASH), 0x05), YES);
    }

    /// @notice If bare hashes were accepted, a message's signature could be passed off as an operation's, or vice
    /// versa.
    function test_refusesASignatureOverTheBareHash() public view {
        _expect(HASH, _sign(KEY, HASH), NO);
    }

    /// @notice The signature of one account must not be valid for another account of the same key.
    function test_refusesTheSignatureOfAnotherAccountOfTheKey() public {
        VaultAccount other = VaultAccount(payable(factory.createAccount(pubKeyX, pubKeyY, 1)));
        _expect(HASH, _sign(KEY, other.messageDigest(HASH)), NO);
    }

    function test_refusesAnotherKey() public view {
        _expect(HASH, _sign(OTHER_KEY, account.messageDigest(HASH)), NO);
    }

    function testFuzz_refusesNonsense(bytes32 hash, bytes calldata signature) public view {
        _expect(hash, signature, NO);
    }

    function _expect(bytes32 hash, bytes memory signature, bytes4 answer) private view {
        vm.assertEq(bytes32(account.isValidSignature(hash, signature)), bytes32(answer));
    }
}
