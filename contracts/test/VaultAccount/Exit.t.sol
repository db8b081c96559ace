// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Execution} from "@openzeppelin/contracts/interfaces/draft-IERC7579.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {DevUSDC} from "../../src/dev/DevUSDC.sol";
import {Fixture} from "../utils/Fixture.sol";
import {Nft} from "../utils/Tokens.sol";

/// @notice The way out of code with an error: one batch moves everything to a new account, which then accepts the DID.
/// @dev An account of the same factory stands for one of a later factory; the registry and tokens treat both alike.
contract ExitTest is Fixture {
    DevUSDC private usdc;
    Nft private nft;
    VaultAccount private successor;

    function setUp() public override {
        super.setUp();
        usdc = DevUSDC(_deployed("DevUSDC"));
        nft = new Nft();
        usdc.mint(address(account), 25_000_000);
        nft.mint(address(account), 7);
        vm.deal(address(account), 1 ether);
        _register(address(account), DID, ALIAS);
        successor = VaultAccount(payable(factory.getAddress(pubKeyX, pubKeyY, 1)));
    }

    function test_oneBatchMovesEverything() public {
        _exit();
        vm.assertEq(usdc.balanceOf(address(account)), 0);
        vm.assertEq(usdc.balanceOf(address(successor)), 25_000_000);
        vm.assertTrue(nft.ownerOf(7) == address(successor));
        vm.assertEq(address(account).balance, 0);
        vm.assertEq(address(successor).balance, 1 ether);
        vm.assertEq(registry.didOf(address(account)), DID); // until the successor accepts, no window without a holder
        _accept();
        vm.assertEq(registry.didOf(address(successor)), DID);
        (, address holder, bool active) = registry.getAlias(ALIAS);
        vm.assertTrue(holder == address(successor) && active);
    }

    function test_nothingMovesIfOneThingCannot() public {
        Execution[] memory calls = _calls();
        calls[2].callData = abi.encodeWithSignature("transferFrom(address,address,uint256)", account, successor, 8);
        (bool done,) = _operate(calls);
        vm.assertFalse(done);
        vm.assertEq(usdc.balanceOf(address(account)), 25_000_000);
        vm.assertEq(address(account).balance, 1 ether);
        vm.assertEq(registry.proposedController(DID), address(0));
        vm.assertEq(address(successor).code.length, 0);
    }

    function test_theOldAccountCannotTakeTheDidBack() public {
        _exit();
        _accept();
        vm.prank(address(account));
        (bool done,) = address(registry).call(abi.encodeCall(registry.changeController, (DID, address(account))));
        vm.assertFalse(done);
    }

    function test_theDidCanBeKeptUntilItIsAccepted() public {
        _exit();
        vm.prank(address(account));
        registry.changeController(DID, address(0));
        vm.prank(address(successor));
        (bool done,) = address(registry).call(abi.encodeCall(registry.acceptController, (DID)));
        vm.assertFalse(done);
    }

    function _exit() private {
        (bool done,) = _operate(_calls());
        vm.assertTrue(done);
    }

    function _accept() private {
        vm.prank(EP08);
        successor.execute(address(registry), 0, abi.encodeCall(registry.acceptController, (DID)));
    }

    function _operate(Execution[] memory calls) private returns (bool done, bytes memory result) {
        vm.prank(EP08);
        return address(account).call(abi.encodeCall(VaultAccount.executeBatch, (calls)));
    }

    function _calls() private view returns (Execution[] memory calls) {
        calls = new Execution[](5);
        calls[0] = _call(address(factory), abi.encodeCall(factory.createAccount, (pubKeyX, pubKeyY, 1)));
        calls[1] = _call(address(usdc), abi.encodeCall(usdc.transfer, (address(successor), 25_000_000)));
        bytes memory transfer = abi.encodeWithSignature(
            "safeTransferFrom(address,address,uint256)", address(account), address(successor), 7
        );
        calls[2] = _call(address(nft), transfer);
        calls[3] = _call(address(registry), abi.encodeCall(registry.changeController, (DID, address(successor))));
        calls[4] = Execution({target: address(successor), value: 1 ether, callData: ""});
    }

    function _call(address target, bytes memory data) private pure returns (Execution memory) {
        return Execution({target: target, value: 0, callData: data});
    }
}
