// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC4337} from "solady/src/accounts/ERC4337.sol";
import {LibClone} from "solady/src/utils/LibClone.sol";
import {WebAuthn} from "solady/src/utils/WebAuthn.sol";

/// @notice Solady's account with one passkey where the owner's address was, for the benchmark only.
/// @dev The passkey signs operations. Messages (ERC-1271) stay with the owner's address, which is not set.
contract SoladyAccount is ERC4337 {
    bytes32 private keyX;
    bytes32 private keyY;

    function initialize(bytes32 x, bytes32 y) external {
        if (keyX | keyY != 0) revert AlreadyInitialized();
        (keyX, keyY) = (x, y);
    }

    function initialize(address) public payable override {
        revert Unauthorized();
    }

    function _validateSignature(PackedUserOperation calldata userOp, bytes32 userOpHash)
        internal
        view
        override
        returns (uint256)
    {
        WebAuthn.WebAuthnAuth memory auth = WebAuthn.tryDecodeAuthCompactCalldata(userOp.signature);
        return WebAuthn.verify(abi.encodePacked(userOpHash), true, auth, keyX, keyY) ? 0 : 1;
    }

    function _domainNameAndVersion() internal pure override returns (string memory, string memory) {
        return ("SoladyAccount", "1");
    }
}

/// @notice Creates accounts as Solady's ERC4337Factory does: as minimal ERC-1967 proxies.
contract SoladyFactory {
    address private immutable IMPLEMENTATION = address(new SoladyAccount());

    function createAccount(bytes32 x, bytes32 y) external returns (address account) {
        bool exists;
        (exists, account) = LibClone.createDeterministicERC1967(IMPLEMENTATION, keccak256(abi.encode(x, y)));
        if (!exists) SoladyAccount(payable(account)).initialize(x, y);
    }
}
