// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

import {IEntryPoint, IPaymaster, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {DevPaymaster} from "../../src/dev/DevPaymaster.sol";
import {IUserOpHash} from "../utils/Fixture.sol";

contract DevPaymasterTest is Fixture {
    uint256 private constant SPONSOR_KEY = 0x590;
    bytes32 private constant LIMITS = bytes32(uint256(200_000) << 128 | 1);

    DevPaymaster private paymaster;

    function setUp() public override {
        super.setUp();
        _deployEntryPoints();
        paymaster = DevPaymaster(_deployedWith("DevPaymaster", vm.addr(SPONSOR_KEY)));
        vm.deal(alice, 10 ether);
    }

    function test_paysForAnOperationOfAnAccountWithoutBalance() public {
        address[3] memory entryPoints = [EP07, EP08, EP09];
        for (uint256 i = 0; i < 3; ++i) {
            vm.prank(alice);
            paymaster.deposit{value: 1 ether}(entryPoints[i]);
            PackedUserOperation memory op = _sponsored(entryPoints[i], SPONSOR_KEY, 0, 0);
            _handleOne(entryPoints[i], op);
            vm.assertTrue(IEntryPoint(entryPoints[i]).balanceOf(address(paymaster)) < 1 ether);
            vm.assertEq(IEntryPoint(entryPoints[i]).getNonce(address(account), 0), 1);
        }
    }

    function testFuzz_packsVerdictAndValidity(uint48 validUntil, uint48 validAfter) public {
        _expect(_sponsored(EP07, SPONSOR_KEY, validUntil, validAfter), EP07, validUntil, validAfter, true);
        _expect(_sponsored(EP07, OTHER_KEY, validUntil, validAfter), EP07, validUntil, validAfter, false);
    }

    function test_aSponsorshipCountsForItsEntryPointOnly() public {
        _expect(_sponsored(EP07, SPONSOR_KEY, 0, 0), EP08, 0, 0, false);
    }

    function test_aSponsorshipCountsOnItsChainOnly() public {
        PackedUserOperation memory op = _sponsored(EP07, SPONSOR_KEY, 0, 0);
        vm.chainId(1);
        _expect(op, EP07, 0, 0, false);
    }

    function test_aSponsorshipCountsForThePaymasterOnly() public {
        PackedUserOperation memory op = _sponsored(EP07, SPONSOR_KEY, 0, 0);
        paymaster = DevPaymaster(_deployedWith("DevPaymaster", vm.addr(SPONSOR_KEY)));
        _expect(op, EP07, 0, 0, false);
    }

    function test_bindsEveryFieldOfTheOperation() public {
        for (uint256 field = 0; field < 10; ++field) {
            PackedUserOperation memory op = _sponsored(EP07, SPONSOR_KEY, 9, 8);
            (uint48 validUntil, uint48 validAfter) = (9, 8);
            if (field == 0) op.sender = mallory;
            if (field == 1) op.nonce = 1;
            if (field == 2) op.initCode = "x";
            if (field == 3) op.callData = "x";
            if (field == 4) op.accountGasLimits = 0;
            if (field == 5) op.preVerificationGas = 0;
            if (field == 6) op.gasFees = 0;
            if (field == 7) op.paymasterAndData[51] = 0x02;
            if (field == 8) op.paymasterAndData[57] = bytes1(uint8(validUntil = 7));
            if (field == 9) op.paymasterAndData[63] = bytes1(uint8(validAfter = 7));
            _expect(op, EP07, validUntil, validAfter, false);
        }
    }

    function test_aPlaceholderSignatureIsRefusedWithoutReverting() public {
        PackedUserOperation memory op = _operation(address(account), "");
        op.paymasterAndData = abi.encodePacked(address(paymaster), LIMITS, uint96(0), new bytes(65));
        _expect(op, EP07, 0, 0, false);
    }

    function testFuzz_refusesOtherLengths(uint8 length) public {
        vm.assume(length != 77);
        PackedUserOperation memory op = _operation(address(account), "");
        op.paymasterAndData = abi.encodePacked(address(paymaster), LIMITS, new bytes(length));
        vm.expectRevert(abi.encodeWithSelector(DevPaymaster.InvalidPaymasterData.selector, uint256(length)));
        vm.prank(EP07);
        paymaster.validatePaymasterUserOp(op, 0, 0);
    }

    function testFuzz_refusesAnyoneButAnEntryPoint(address caller) public {
        vm.assume(caller != EP07 && caller != EP08 && caller != EP09);
        PackedUserOperation memory op = _sponsored(EP07, SPONSOR_KEY, 0, 0);
        vm.expectRevert(abi.encodeWithSelector(DevPaymaster.NotEntryPoint.selector, caller));
        vm.prank(caller);
        paymaster.validatePaymasterUserOp(op, 0, 0);
    }

    function test_postOpIsNeverDue() public {
        vm.expectRevert(abi.encodeWithSelector(DevPaymaster.NotEntryPoint.selector, alice));
        vm.prank(alice);
        paymaster.postOp(IPaymaster.PostOpMode.opSucceeded, "", 0, 0);
    }

    function test_depositRefusesOtherAddresses() public {
        vm.expectRevert(abi.encodeWithSelector(DevPaymaster.NotEntryPoint.selector, bob));
        vm.prank(alice);
        paymaster.deposit{value: 1}(bob);
    }

    function test_onlyTheSponsorWithdraws() public {
        vm.prank(alice);
        paymaster.deposit{value: 1 ether}(EP07);
        vm.expectRevert(abi.encodeWithSelector(DevPaymaster.NotSponsor.selector, alice));
        vm.prank(alice);
        paymaster.withdraw(EP07, payable(alice), 1);
        vm.prank(vm.addr(SPONSOR_KEY));
        paymaster.withdraw(EP07, payable(address(0xCAFE)), 0.25 ether);
        vm.assertEq(address(0xCAFE).balance, 0.25 ether);
    }

    function _sponsored(address entryPoint, uint256 key, uint48 validUntil, uint48 validAfter)
        private
        view
        returns (PackedUserOperation memory op)
    {
        op = _operation(address(account), _execute(alice, 0, ""));
        op.paymasterAndData = abi.encodePacked(address(paymaster), LIMITS);
        bytes32 hash = paymaster.getHash(op, entryPoint, validUntil, validAfter);
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(key, keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", hash)));
        op.paymasterAndData = abi.encodePacked(op.paymasterAndData, validUntil, validAfter, r, s, v);
        op.signature = _sign(KEY, IUserOpHash(entryPoint).getUserOpHash(op));
    }

    function _expect(PackedUserOperation memory op, address caller, uint48 until, uint48 from, bool good) private {
        vm.prank(caller);
        (bytes memory context, uint256 verdict) = paymaster.validatePaymasterUserOp(op, 0, 0);
        vm.assertEq(context.length, 0);
        vm.assertEq(verdict, uint256(from) << 208 | uint256(until) << 160 | (good ? 0 : 1));
    }

    function _handleOne(address entryPoint, PackedUserOperation memory op) private {
        PackedUserOperation[] memory ops = new PackedUserOperation[](1);
        ops[0] = op;
        vm.prank(bob, bob);
        IEntryPoint(entryPoint).handleOps(ops, payable(bob));
    }
}
