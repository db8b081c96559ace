// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Fixture} from "../utils/Fixture.sol";

import {Target} from "../utils/Targets.sol";

contract ExecuteTest is Fixture {
    Target private target;

    function setUp() public override {
        super.setUp();
        target = new Target();
        vm.deal(address(account), 1 ether);
    }

    function test_callsInTheAccountsName() public {
        address[4] memory callers = [EP07, EP08, EP09, address(account)];
        for (uint256 i = 0; i < callers.length; ++i) {
            vm.prank(callers[i]);
            account.execute(address(target), 5, abi.encodeCall(Target.record, ()));
            vm.assertEq(target.caller(), address(account));
            vm.assertEq(target.value(), 5);
            vm.assertEq(target.calls(), i + 1);
        }
    }

    function test_sendsWeiToAnAddressWithoutCode() public {
        vm.prank(EP07);
        account.execute(address(0xCAFE), 0.5 ether, "");
        vm.assertEq(address(0xCAFE).balance, 0.5 ether);
    }

    function test_failsWithTheCalleesReason() public {
        vm.expectRevert(abi.encodeWithSelector(Target.Refused.selector, 42));
        vm.prank(EP07);
        account.execute(address(target), 0, abi.encodeCall(Target.refuse, (42)));
    }

    function test_failsWhenTheCalleeFailsWithoutReason() public {
        vm.expectRevert(bytes(""));
        vm.prank(EP07);
        account.execute(address(target), 0, abi.encodeCall(Target.refuseSilently, ()));
    }

    function test_failsWithoutTheWei() public {
        vm.expectRevert();
        vm.prank(EP07);
        account.execute(address(0xCAFE), 2 ether, "");
    }

    function testFuzz_refusesEveryoneElse(address caller) public {
        vm.assume(caller != EP07 && caller != EP08 && caller != EP09 && caller != address(account));
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.NotAuthorized.selector, caller));
        vm.prank(caller);
        account.execute(address(target), 0, "");
    }
}
