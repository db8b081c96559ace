// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Account} from "@openzeppelin/contracts/account/Account.sol";
import {ERC7821} from "@openzeppelin/contracts/account/extensions/draft-ERC7821.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {ERC7739} from "@openzeppelin/contracts/utils/cryptography/signers/draft-ERC7739.sol";
import {SignerP256} from "@openzeppelin/contracts/utils/cryptography/signers/SignerP256.sol";
import {SignerWebAuthn} from "@openzeppelin/contracts/utils/cryptography/signers/SignerWebAuthn.sol";

/// @notice OpenZeppelin's account with one passkey, put together as its documentation shows, for the benchmark only.
contract OpenZeppelinAccount is Account, EIP712, ERC7739, SignerWebAuthn, ERC7821, Initializable {
    /// @dev The generator of P-256, because the implementation must have a valid key.
    constructor()
        EIP712("OpenZeppelinAccount", "1")
        SignerP256(
            0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
            0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5
        )
    {
        _disableInitializers();
    }

    function initialize(bytes32 x, bytes32 y) external initializer {
        _setSigner(x, y);
    }

    function _erc7821AuthorizedExecutor(address caller, bytes32 mode, bytes calldata executionData)
        internal
        view
        override
        returns (bool)
    {
        return caller == address(entryPoint()) || super._erc7821AuthorizedExecutor(caller, mode, executionData);
    }
}

/// @notice Creates accounts as ERC-1167 clones.
contract OpenZeppelinFactory {
    address private immutable IMPLEMENTATION = address(new OpenZeppelinAccount());

    function createAccount(bytes32 x, bytes32 y) external returns (address account) {
        bytes32 salt = keccak256(abi.encode(x, y));
        account = Clones.predictDeterministicAddress(IMPLEMENTATION, salt);
        if (account.code.length != 0) return account;
        Clones.cloneDeterministic(IMPLEMENTATION, salt);
        OpenZeppelinAccount(payable(account)).initialize(x, y);
    }
}
