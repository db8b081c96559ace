// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

contract DidHashOfTest is Fixture {
    function testFuzz_hashesTheTextOfTheDid(uint256 x, uint256 y) public view {
        vm.assertEq(registry.didHashOf(x, y), _didOfKey(x, y));
    }

    /// @notice Uses the generator point of P-256 as the key; `did_of_key` in `holdfast.wire.keccak` returns the same
    /// DID.
    function test_knownKey() public view {
        vm.assertEq(
            registry.didHashOf(
                0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
                0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5
            ),
            keccak256("did:new:0xa000ddb94882f9f9cd0a859ed3a9f047ad43d7e2e4e7e491f1fe2e657a2651b6")
        );
    }
}
