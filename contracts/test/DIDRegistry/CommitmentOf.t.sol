// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

contract CommitmentOfTest is Fixture {
    function testFuzz_hashesTheFourWords(bytes32 didHash, bytes32 aliasHash, address controller, bytes32 secret)
        public
        view
    {
        vm.assertEq(
            registry.commitmentOf(didHash, aliasHash, controller, secret),
            keccak256(bytes.concat(didHash, aliasHash, bytes32(uint256(uint160(controller))), secret))
        );
    }
}
