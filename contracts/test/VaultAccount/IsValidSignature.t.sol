// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {VaultAccount} from "../../src/VaultAccount.sol";
import {Owners} from "../../src/account/Owners.sol";
import {AccountFixture} from "../utils/AccountFixture.sol";

contract IsValidSignatureTest is AccountFixture {
    bytes32 private constant CONTENTS = keccak256("what the app wants signed");
    bytes32 private constant APP = keccak256("an app's domain separator");
    bytes32 private constant HASH = keccak256(abi.encodePacked(hex"1901", APP, CONTENTS));
    string private constant NAME = "Mail";
    string private constant TYPE = "Mail(bytes32 text)";
    bytes4 private constant YES = 0x1626ba7e;
    bytes4 private constant NO = 0xffffffff;

    function test_acceptsAPersonalMessage() public view {
        _expect(HASH, _sign(KEY, _personal(address(account), HASH)), YES);
    }

    function test_acceptsAnAssertion() public view {
        _expect(HASH, _assert(KEY, _personal(address(account), HASH), 0x05), YES);
    }

    function test_acceptsTypedData() public view {
        _expect(HASH, _typed(_sign(KEY, _nested(account))), YES);
        _expect(HASH, _typed(_assert(KEY, _nested(account), 0x05)), YES);
    }

    function test_refusesTypedDataOfAnotherHash() public view {
        _expect(keccak256("another"), _typed(_sign(KEY, _nested(account))), NO);
    }

    /// @notice A wallet could not show what is signed.
    function test_refusesTypedDataWhoseTypeHasNoName() public view {
        // OpenZeppelin's library returns zero for the struct's hash.
        bytes memory signature = _sign(KEY, keccak256(abi.encodePacked(hex"1901", APP, bytes32(0))));
        _expect(HASH, abi.encodePacked(signature, APP, CONTENTS, "(bytes32 text)", uint16(14)), NO);
    }

    function test_answersTheDetectionOfErc7739() public view {
        bytes32 hash = 0x7739773977397739773977397739773977397739773977397739773977397739;
        _expect(hash, "", 0x77390001);
        _expect(hash, hex"00", NO);
    }

    /// @notice If bare hashes were accepted, a message's signature could be passed off as an operation's, or vice
    /// versa.
    function test_refusesASignatureOverTheBareHash() public view {
        _expect(HASH, _sign(KEY, HASH), NO);
        _expect(HASH, _typed(_sign(KEY, HASH)), NO);
    }

    /// @notice The signature of one account must not be valid for another account of the same key.
    function test_refusesTheSignatureOfAnotherAccountOfTheKey() public {
        VaultAccount other = VaultAccount(payable(factory.createAccount(pubKeyX, pubKeyY, 1)));
        _expect(HASH, _sign(KEY, _personal(address(other), HASH)), NO);
        _expect(HASH, _typed(_sign(KEY, _nested(other))), NO);
    }

    function test_refusesTheSignatureForAnotherChain() public {
        bytes memory personal = _sign(KEY, _personal(address(account), HASH));
        bytes memory typed = _typed(_sign(KEY, _nested(account)));
        vm.chainId(block.chainid + 1);
        _expect(HASH, personal, NO);
        _expect(HASH, typed, NO);
    }

    function test_refusesAnotherKey() public view {
        _expect(HASH, _sign(OTHER_KEY, _personal(address(account), HASH)), NO);
    }

    function test_acceptsASecondOwnerUntilItExpires() public {
        bytes memory signature = _named(SECOND_KEY, _personal(address(account), HASH));
        _expect(HASH, signature, NO);
        uint256 expiry = vm.getBlockTimestamp() + 1 days;
        vm.prank(address(account));
        account.changeOwners(_list(_change(Owners.ChangeKind.AddOwner, _p256(SECOND_KEY), expiry)));
        vm.warp(expiry);
        _expect(HASH, signature, YES);
        vm.warp(expiry + 1);
        _expect(HASH, signature, NO);
    }

    function test_needsTwoWhereTwoMustSign() public {
        _makeTwo();
        bytes32 digest = _personal(address(account), HASH);
        _expect(HASH, _sign(KEY, digest), NO);
        _expect(HASH, _named(KEY, digest), NO);
        _expect(HASH, _namedTwo(KEY, SECOND_KEY, digest), YES);
        _expect(HASH, _typed(_namedTwo(KEY, SECOND_KEY, _nested(account))), YES);
    }

    function testFuzz_refusesNonsense(bytes32 hash, bytes calldata signature) public view {
        _expect(hash, signature, NO);
    }

    function testFuzz_theDomainIsThatOfErc5267(uint64 chainId) public {
        vm.assume(chainId != 0);
        vm.chainId(chainId);
        (bytes1 fields, string memory name, string memory version, uint256 chain, address verifier,,) =
            account.eip712Domain();
        vm.assertEq(bytes32(fields), bytes32(bytes1(0x0f)));
        vm.assertEq(name, "Holdfast VaultAccount");
        vm.assertEq(version, "1");
        vm.assertEq(chain, chainId);
        vm.assertEq(verifier, address(account));
        _expect(HASH, _sign(KEY, _personal(address(account), HASH)), YES);
    }

    function _expect(bytes32 hash, bytes memory signature, bytes4 answer) private view {
        vm.assertEq(bytes32(account.isValidSignature(hash, signature)), bytes32(answer));
    }

    function _nested(VaultAccount verifier) private view returns (bytes32) {
        string memory head = string.concat("TypedDataSign(", NAME, " contents,string name,string version,");
        bytes32 typehash =
            keccak256(bytes(string.concat(head, "uint256 chainId,address verifyingContract,bytes32 salt)", TYPE)));
        bytes memory domain =
            abi.encode(keccak256("Holdfast VaultAccount"), keccak256("1"), block.chainid, verifier, bytes32(0));
        bytes32 message = keccak256(abi.encodePacked(typehash, CONTENTS, domain));
        return keccak256(abi.encodePacked(hex"1901", APP, message));
    }

    /// @dev The type's name is read from its beginning, as ERC-7739 says.
    function _typed(bytes memory signature) private pure returns (bytes memory) {
        return abi.encodePacked(signature, APP, CONTENTS, TYPE, uint16(bytes(TYPE).length));
    }
}
