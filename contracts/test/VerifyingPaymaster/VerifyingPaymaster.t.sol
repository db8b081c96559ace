// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "../utils/Fixture.sol";

import {IEntryPoint, IPaymaster, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {VerifyingPaymaster} from "../../src/VerifyingPaymaster.sol";
import {IUserOpHash} from "../utils/Fixture.sol";

contract VerifyingPaymasterTest is Fixture {
    uint256 private constant SPONSOR_KEY = 0x590;
    bytes32 private constant LIMITS = bytes32(uint256(200_000) << 128 | 1);

    VerifyingPaymaster private paymaster;

    function setUp() public override {
        super.setUp();
        _deployEntryPoints();
        paymaster = VerifyingPaymaster(_deployedWith("VerifyingPaymaster", vm.addr(SPONSOR_KEY)));
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

    function test_aSponsoredOperationIsPaidForOnce() public {
        address[3] memory entryPoints = [EP07, EP08, EP09];
        for (uint256 i = 0; i < 3; ++i) {
            PackedUserOperation memory op = _funded(entryPoints[i], 0);
            _handleOne(entryPoints[i], op);
            uint256 left = IEntryPoint(entryPoints[i]).balanceOf(address(paymaster));
            _refused(entryPoints[i], op, "AA25 invalid account nonce");
            vm.assertEq(IEntryPoint(entryPoints[i]).balanceOf(address(paymaster)), left);
        }
    }

    function test_aSponsorshipEnds() public {
        address[3] memory entryPoints = [EP07, EP08, EP09];
        for (uint256 i = 0; i < 3; ++i) {
            PackedUserOperation memory op = _funded(entryPoints[i], uint48(vm.getBlockTimestamp() + 600));
            vm.warp(vm.getBlockTimestamp() + 601);
            _refused(entryPoints[i], op, "AA32 paymaster expired or not due");
            vm.assertEq(IEntryPoint(entryPoints[i]).balanceOf(address(paymaster)), 1 ether);
        }
    }

    /// @dev A sender that asks for much more gas than it uses pays a tenth of the rest: the deposit loses more than the
    /// gas that was used, and never more than what a service reserves.
    function test_thePenaltyForUnusedGasIsWithinWhatIsReserved() public {
        address[3] memory entryPoints = [EP07, EP08, EP09];
        for (uint256 i = 0; i < 3; ++i) {
            uint256 usual = _cost(entryPoints[i], 1_000_000);
            uint256 greedy = _cost(entryPoints[i], 21_000_000);
            vm.assertTrue(greedy > usual + 1_900_000 && greedy < usual + 2_100_000);
            vm.assertTrue(greedy < 21_000_000 + 2_000_000 + 100_000 + 200_001);
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
        paymaster = VerifyingPaymaster(_deployedWith("VerifyingPaymaster", vm.addr(SPONSOR_KEY)));
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
        paymaster = VerifyingPaymaster(_deployedWith("VerifyingPaymaster", address(0))); // what no recovery yields
        _expect(op, EP07, 0, 0, false);
    }

    function testFuzz_refusesOtherLengths(uint8 length) public {
        vm.assume(length != 77);
        PackedUserOperation memory op = _operation(address(account), "");
        op.paymasterAndData = abi.encodePacked(address(paymaster), LIMITS, new bytes(length));
        vm.expectRevert(abi.encodeWithSelector(VerifyingPaymaster.InvalidPaymasterData.selector, uint256(length)));
        vm.prank(EP07);
        paymaster.validatePaymasterUserOp(op, 0, 0);
    }

    function testFuzz_refusesAnyoneButAnEntryPoint(address caller) public {
        vm.assume(caller != EP07 && caller != EP08 && caller != EP09);
        PackedUserOperation memory op = _sponsored(EP07, SPONSOR_KEY, 0, 0);
        vm.expectRevert(abi.encodeWithSelector(VerifyingPaymaster.NotEntryPoint.selector, caller));
        vm.prank(caller);
        paymaster.validatePaymasterUserOp(op, 0, 0);
    }

    function test_postOpIsNeverDue() public {
        vm.expectRevert(abi.encodeWithSelector(VerifyingPaymaster.NotEntryPoint.selector, alice));
        vm.prank(alice);
        paymaster.postOp(IPaymaster.PostOpMode.opSucceeded, "", 0, 0);
    }

    function test_depositRefusesOtherAddresses() public {
        vm.expectRevert(abi.encodeWithSelector(VerifyingPaymaster.NotEntryPoint.selector, bob));
        vm.prank(alice);
        paymaster.deposit{value: 1}(bob);
    }

    function test_onlyTheSponsorWithdraws() public {
        vm.prank(alice);
        paymaster.deposit{value: 1 ether}(EP07);
        vm.expectRevert(abi.encodeWithSelector(VerifyingPaymaster.NotSponsor.selector, alice));
        vm.prank(alice);
        paymaster.withdraw(EP07, payable(alice), 1);
        vm.prank(vm.addr(SPONSOR_KEY));
        paymaster.withdraw(EP07, payable(address(0xCAFE)), 0.25 ether);
        vm.assertEq(address(0xCAFE).balance, 0.25 ether);
    }

    function _funded(address entryPoint, uint48 validUntil) private returns (PackedUserOperation memory) {
        vm.prank(alice);
        paymaster.deposit{value: 1 ether}(entryPoint);
        return _sponsored(entryPoint, SPONSOR_KEY, validUntil, 0);
    }

    function _cost(address entryPoint, uint128 callGas) private returns (uint256) {
        vm.prank(alice);
        paymaster.deposit{value: 1 ether}(entryPoint);
        uint256 before = IEntryPoint(entryPoint).balanceOf(address(paymaster));
        PackedUserOperation memory op = _operation(address(account), _execute(alice, 0, ""));
        op.nonce = IEntryPoint(entryPoint).getNonce(address(account), 0);
        op.accountGasLimits = bytes32(uint256(2_000_000) << 128 | callGas);
        _handleOne(entryPoint, _approve(op, entryPoint, SPONSOR_KEY, 0, 0));
        return before - IEntryPoint(entryPoint).balanceOf(address(paymaster));
    }

    function _refused(address entryPoint, PackedUserOperation memory op, string memory why) private {
        PackedUserOperation[] memory ops = new PackedUserOperation[](1);
        ops[0] = op;
        vm.expectRevert(abi.encodeWithSignature("FailedOp(uint256,string)", 0, why));
        vm.prank(bob, bob);
        IEntryPoint(entryPoint).handleOps(ops, payable(bob));
    }

    function _sponsored(address entryPoint, uint256 key, uint48 validUntil, uint48 validAfter)
        private
        view
        returns (PackedUserOperation memory)
    {
        return _approve(_operation(address(account), _execute(alice, 0, "")), entryPoint, key, validUntil, validAfter);
    }

    function _approve(
        PackedUserOperation memory op,
        address entryPoint,
        uint256 key,
        uint48 validUntil,
        uint48 validAfter
    ) private view returns (PackedUserOperation memory) {
        op.paymasterAndData = abi.encodePacked(address(paymaster), LIMITS);
        bytes32 hash = paymaster.getHash(op, entryPoint, validUntil, validAfter);
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(key, keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", hash)));
        op.paymasterAndData = abi.encodePacked(op.paymasterAndData, validUntil, validAfter, r, s, v);
        op.signature = _sign(KEY, IUserOpHash(entryPoint).getUserOpHash(op));
        return op;
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
