// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";

contract LockedTest is Fixture {
    function test_everyTokenIs() public {
        vm.prank(alice);
        vm.assertTrue(sessions.locked(sessions.issue("s", uint64(vm.getBlockTimestamp() + 1))));
    }

    function test_refusesAnUnknownToken() public {
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, 1));
        sessions.locked(1);
    }
}
