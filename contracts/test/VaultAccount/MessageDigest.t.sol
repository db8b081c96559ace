// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Fixture} from "../utils/Fixture.sol";

contract MessageDigestTest is Fixture {
    function testFuzz_isEip712InTheAccountsDomain(bytes32 hash, uint64 chainId) public {
        vm.assume(chainId != 0);
        vm.chainId(chainId);
        (bytes1 fields, string memory name, string memory version, uint256 chain, address verifier,,) =
            account.eip712Domain();
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(name)),
                keccak256(bytes(version)),
                chain,
                verifier
            )
        );
        bytes32 message = keccak256(abi.encode(keccak256("VaultAccountMessage(bytes32 hash)"), hash));
        vm.assertEq(account.messageDigest(hash), keccak256(abi.encodePacked(hex"1901", domain, message)));
        vm.assertEq(bytes32(fields), bytes32(bytes1(0x0f)));
        vm.assertEq(chain, chainId);
        vm.assertEq(verifier, address(account));
    }
}
