// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

import {AppFactory} from "../../src/AppFactory.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";

contract CreateAccountTest is Fixture {
    function testFuzz_createsWhereItSaid(uint256 key, uint256 salt) public {
        (uint256 x, uint256 y) = vm.publicKeyP256(key % (P256_N - 1) + 1);
        vm.assume(factory.getAddress(x, y, salt) != address(account));
        address expected = factory.getAddress(x, y, salt);
        address owner = address(uint160(uint256(keccak256(abi.encodePacked(x, y)))));
        vm.expectEmit(true, true, true, true, address(factory));
        emit AppFactory.AccountCreated(expected, owner, x, y, salt);
        vm.assertEq(factory.createAccount(x, y, salt), expected);
        (uint256 storedX, uint256 storedY) = VaultAccount(payable(expected)).publicKey();
        vm.assertTrue(storedX == x && storedY == y);
    }

    function test_findsItCreatedAlready() public {
        vm.recordLogs();
        vm.assertEq(factory.createAccount(pubKeyX, pubKeyY, 0), address(account));
        vm.assertEq(vm.getRecordedLogs().length, 0);
    }

    /// @notice The factory must find an account even after a key change, because the address belongs to its first key.
    function test_findsItAfterAKeyRotation() public {
        (uint256 x, uint256 y) = vm.publicKeyP256(OTHER_KEY);
        vm.prank(address(account));
        account.setPublicKey(x, y);
        vm.assertEq(factory.createAccount(pubKeyX, pubKeyY, 0), address(account));
        (uint256 storedX,) = account.publicKey();
        vm.assertEq(storedX, x);
    }

    function testFuzz_refusesWhatIsNotOnTheCurve(uint256 x, uint256 y, uint256 salt) public {
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidPublicKey.selector, x, y));
        factory.createAccount(x, y, salt);
        vm.assertEq(factory.getAddress(x, y, salt).code.length, 0);
    }

    function test_refusesCoordinatesAboveTheField() public {
        uint256 p = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF;
        (uint256 x, uint256 y) = (5, 0x459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc);
        factory.createAccount(x, y, 0);
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidPublicKey.selector, x + p, y));
        factory.createAccount(x + p, y, 0);
    }

    function test_makesAnErc1167CloneWithTheKey() public view {
        bytes memory clone =
            abi.encodePacked(hex"363d3d373d3d3d363d73", implementation, hex"5af43d82803e903d91602b57fd5bf3");
        vm.assertEq(address(account).code, abi.encodePacked(clone, pubKeyX, pubKeyY));
    }
}
