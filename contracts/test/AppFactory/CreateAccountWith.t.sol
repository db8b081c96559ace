// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {AppFactory} from "../../src/AppFactory.sol";
import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";
import {IUserOpHash} from "../utils/Fixture.sol";
import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";

contract CreateAccountWithTest is AccountFixture {
    uint256 private constant SALT = 9;

    function setUp() public override {
        super.setUp();
        account = VaultAccount(payable(factory.getAddress(pubKeyX, pubKeyY, SALT)));
    }

    function test_createsTheAccountWithItsOwners() public {
        address expected = address(account);
        vm.assertEq(factory.createAccountWith(pubKeyX, pubKeyY, SALT, _history()), expected);
        _expectHistory();
    }

    function test_withoutHistoryItIsCreateAccount() public {
        factory.createAccountWith(pubKeyX, pubKeyY, SALT, new Owners.SignedChanges[](0));
        vm.assertEq(_validate(_sign(KEY, OP_HASH)), 0);
    }

    function test_appliesWhatIsMissingIfItExists() public {
        factory.createAccount(pubKeyX, pubKeyY, SALT);
        factory.createAccountWith(pubKeyX, pubKeyY, SALT, _history());
        _expectHistory();
        factory.createAccountWith(pubKeyX, pubKeyY, SALT, _history());
        _expectHistory();
    }

    function test_someoneElsesBeginningDoesNotPreventTheRest() public {
        Owners.SignedChanges[] memory beginning = new Owners.SignedChanges[](1);
        beginning[0] = _history()[0];
        vm.prank(mallory);
        factory.createAccountWith(pubKeyX, pubKeyY, SALT, beginning);
        factory.createAccountWith(pubKeyX, pubKeyY, SALT, _history());
        _expectHistory();
    }

    function test_refusesAForgedHistory() public {
        Owners.SignedChanges[] memory history = _history();
        history[1].changes[0].value = 1;
        vm.expectRevert(abi.encodeWithSelector(Owners.InvalidSignature.selector));
        factory.createAccountWith(pubKeyX, pubKeyY, SALT, history);
        vm.assertEq(address(account).code.length, 0);
    }

    function test_anOperationBringsIt() public {
        _deployEntryPoints();
        vm.deal(address(account), 1 ether);
        PackedUserOperation memory op = _operation(address(account), _execute(bob, 5, ""));
        bytes memory creation = abi.encodeCall(AppFactory.createAccountWith, (pubKeyX, pubKeyY, SALT, _history()));
        op.initCode = abi.encodePacked(address(factory), creation);
        bytes32 hash = IUserOpHash(EP08).getUserOpHash(op);
        op.signature = _sign(SECOND_KEY, hash);
        _handleOne(EP08, op);
        _expectHistory();
        vm.assertEq(bob.balance > 0, true);
    }

    /// @dev The second key becomes primary by the first one's signature, and removes the first by its own.
    function _history() private view returns (Owners.SignedChanges[] memory history) {
        history = new Owners.SignedChanges[](2);
        Owners.Change[] memory changes = _list(_add(_p256(SECOND_KEY)), _primary(_p256(SECOND_KEY)));
        history[0] = Owners.SignedChanges(changes, _signChanges(KEY, 0, changes));
        changes = _list(_remove(_p256(KEY)));
        history[1] = Owners.SignedChanges(changes, _signChanges(SECOND_KEY, 1, changes));
    }

    function _expectHistory() private {
        vm.assertEq(account.accountSettings().sequence, 2);
        vm.assertEq(account.accountSettings().owners, 1);
        vm.assertEq(_validate(_sign(SECOND_KEY, OP_HASH)), 0);
        vm.assertEq(_validate(_sign(KEY, OP_HASH)), 1);
        vm.assertEq(_validate(_named(KEY, OP_HASH)), 1);
    }
}
