// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

import {IEntryPointNonces} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {AccountHelper} from "../../src/AccountHelper.sol";
import {Dying, Flooding, Looping, Saying} from "../utils/Targets.sol";

contract GetAccountStateTest is Fixture {
    function setUp() public override {
        super.setUp();
        _deployEntryPoints();
    }

    function test_tellsEverything() public {
        _register(address(account), DID, ALIAS);
        _setNonce(EP07, 3);
        bytes memory expected = abi.encode(uint256(3), DID, true, pubKeyX, pubKeyY);
        vm.assertEq(_state(address(account)), expected);
        vm.assertEq(expected.length, 160);
    }

    function test_inactiveDid() public {
        _register(address(account), DID, ALIAS);
        vm.prank(address(account));
        registry.setDidActive(DID, false);
        vm.assertEq(_state(address(account)), abi.encode(uint256(0), DID, false, pubKeyX, pubKeyY));
    }

    function test_accountWithoutDid() public {
        vm.assertEq(_state(address(account)), abi.encode(uint256(0), uint256(0), false, pubKeyX, pubKeyY));
    }

    function test_didOfAControllerWithoutCode() public {
        _register(alice, DID, ALIAS);
        vm.assertEq(_state(alice), abi.encode(uint256(0), DID, true, uint256(0), uint256(0)));
    }

    function testFuzz_addressWithoutCode(address anyone) public {
        vm.assume(anyone.code.length == 0 && uint160(anyone) > 0xffff);
        vm.assertEq(_state(anyone), new bytes(160));
    }

    /// @notice The helper must report an empty state for precompiles, which return arbitrary bytes or consume all their
    /// gas.
    function test_precompiles() public {
        for (uint160 i = 0; i < 0x12; ++i) {
            vm.assertEq(_state(address(i)), new bytes(160));
        }
        vm.assertEq(_state(address(0x100)), new bytes(160));
    }

    function test_hostileCode() public {
        address[3] memory hostile = [address(new Looping()), address(new Dying()), address(new Flooding())];
        for (uint256 i = 0; i < hostile.length; ++i) {
            vm.assertEq(_state(hostile[i]), new bytes(160));
        }
    }

    /// @notice Even a valid key must be ignored unless the return data has exactly the right length and form.
    function test_answersOfEveryLength() public {
        bytes memory key = abi.encode(pubKeyX, pubKeyY, pubKeyX, pubKeyY);
        for (uint256 size = 0; size <= key.length; ++size) {
            bytes memory answer = new bytes(size);
            for (uint256 i = 0; i < size; ++i) {
                answer[i] = key[i];
            }
            bytes memory expected =
                size == 64 ? abi.encode(uint256(0), uint256(0), false, pubKeyX, pubKeyY) : new bytes(160);
            vm.assertEq(_state(address(new Saying(answer, false))), expected);
        }
    }

    function test_aKeyInARevertIsNone() public {
        vm.assertEq(_state(address(new Saying(abi.encode(pubKeyX, pubKeyY), true))), new bytes(160));
    }

    function test_whatIsNotOnTheCurveIsNoKey() public {
        vm.assertEq(_state(address(new Saying(abi.encode(pubKeyX, pubKeyY + 1), false))), new bytes(160));
    }

    function test_aRegistryThatSpeaksInRevertsOrAtLengthSaysNothing() public {
        address[2] memory registries =
            [address(new Saying(abi.encode(1), true)), address(new Saying(abi.encode(1, 1), false))];
        for (uint256 i = 0; i < registries.length; ++i) {
            helper = AccountHelper(_deployedWith("AccountHelper", registries[i]));
            vm.assertEq(_state(alice), new bytes(160));
        }
    }

    /// @notice A word that is neither 0 nor 1 must not be passed on as a boolean, because decoders would reject it.
    function test_onlyOneMeansActive() public {
        helper = AccountHelper(_deployedWith("AccountHelper", address(new Saying(abi.encode(2), false))));
        vm.assertEq(_state(alice), abi.encode(uint256(0), uint256(2), false, uint256(0), uint256(0)));
        helper = AccountHelper(_deployedWith("AccountHelper", address(new Saying(abi.encode(1), false))));
        vm.assertEq(_state(alice), abi.encode(uint256(0), uint256(1), true, uint256(0), uint256(0)));
    }

    function testFuzz_anyCode(bytes calldata code) public {
        vm.assume(code.length > 0 && code[0] != 0xef);
        vm.etch(address(0xC0DE), code);
        vm.assertEq(_state(address(0xC0DE)).length, 160);
    }

    function test_otherContracts() public {
        vm.assertEq(_state(address(registry)), new bytes(160));
        vm.assertEq(_state(address(implementation)), new bytes(160));
        vm.assertEq(_state(EP07), new bytes(160));
    }

    function test_missingRegistryAndEntryPoint() public {
        AccountHelper lonely = AccountHelper(_deployedWith("AccountHelper", address(0xDEAD)));
        vm.etch(EP07, "");
        (, bytes memory state) = address(lonely).call(abi.encodeCall(lonely.getAccountState, (address(account))));
        vm.assertEq(state, abi.encode(uint256(0), uint256(0), false, pubKeyX, pubKeyY));
    }

    function test_hostileRegistryAndEntryPoint() public {
        AccountHelper hostile = AccountHelper(_deployedWith("AccountHelper", address(new Looping())));
        vm.etch(EP07, type(Dying).runtimeCode);
        (bool done, bytes memory state) =
            address(hostile).call(abi.encodeCall(hostile.getAccountState, (address(account))));
        vm.assertTrue(done);
        vm.assertEq(state, abi.encode(uint256(0), uint256(0), false, pubKeyX, pubKeyY));
    }

    function _state(address who) private returns (bytes memory state) {
        // Limits the gas to what nodes allow for a call.
        bool done;
        (done, state) = address(helper).call{gas: 10_000_000}(abi.encodeCall(helper.getAccountState, (who)));
        vm.assertTrue(done);
    }

    function _setNonce(address entryPoint, uint256 nonce) private {
        for (uint256 i = 0; i < nonce; ++i) {
            vm.prank(address(account));
            (bool done,) = entryPoint.call(abi.encodeWithSignature("incrementNonce(uint192)", 0));
            vm.assertTrue(done);
        }
        vm.assertEq(IEntryPointNonces(entryPoint).getNonce(address(account), 0), nonce);
    }
}
