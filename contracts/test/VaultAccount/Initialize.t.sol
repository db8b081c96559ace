// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";
import {Fixture} from "../utils/Fixture.sol";

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";

contract InitializeTest is Fixture {
    VaultAccount private clone;

    function setUp() public override {
        super.setUp();
        clone = VaultAccount(payable(Clones.clone(address(implementation))));
    }

    function testFuzz_takesAnyKey(uint256 key) public {
        key = key % (P256_N - 1) + 1;
        (uint256 x, uint256 y) = vm.publicKeyP256(key);
        clone.initialize(x, y);
        (uint256 storedX, uint256 storedY) = clone.publicKey();
        vm.assertEq(storedX, x);
        vm.assertEq(storedY, y);
    }

    function test_refusesASecondKey() public {
        (uint256 x, uint256 y) = vm.publicKeyP256(OTHER_KEY);
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.AlreadyInitialized.selector));
        account.initialize(x, y);
    }

    function test_theImplementationTakesNone() public {
        vm.expectRevert(abi.encodeWithSelector(VaultAccount.AlreadyInitialized.selector));
        implementation.initialize(pubKeyX, pubKeyY);
    }

    function testFuzz_refusesWhatIsNotOnTheCurve(uint256 x, uint256 y) public {
        // Two random words form a point on the curve with a probability of only 2^-256.
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidPublicKey.selector, x, y));
        clone.initialize(x, y);
    }

    function test_refusesZero() public {
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidPublicKey.selector, 0, 0));
        clone.initialize(0, 0);
    }
}
