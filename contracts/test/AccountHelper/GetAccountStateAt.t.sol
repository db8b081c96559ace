// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

contract GetAccountStateAtTest is Fixture {
    function setUp() public override {
        super.setUp();
        _deployEntryPoints();
        vm.prank(address(account));
        (bool done,) = EP08.call(abi.encodeWithSignature("incrementNonce(uint192)", 0));
        vm.assertTrue(done);
    }

    function test_countsWithTheEntryPointThatIsAskedFor() public view {
        (uint256 v07,,,,) = helper.getAccountStateAt(address(account), EP07);
        (uint256 v08,,,,) = helper.getAccountStateAt(address(account), EP08);
        (uint256 v09,,,,) = helper.getAccountStateAt(address(account), EP09);
        vm.assertTrue(v07 == 0 && v08 == 1 && v09 == 0);
    }

    function testFuzz_anyEntryPoint(address entryPoint) public view {
        vm.assume(entryPoint != EP08);
        (, bytes memory state) =
            address(helper).staticcall(abi.encodeCall(helper.getAccountStateAt, (address(account), entryPoint)));
        vm.assertEq(state.length, 160);
    }

    function test_saysTheRestAsGetAccountState() public {
        _register(address(account), DID, ALIAS);
        (, bytes32 did, bool active, uint256 x, uint256 y) = helper.getAccountStateAt(address(account), EP08);
        vm.assertTrue(did == DID && active && x == pubKeyX && y == pubKeyY);
    }
}
