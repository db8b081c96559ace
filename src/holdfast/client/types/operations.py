"""Types for user operations: interface section "Client-side types", ERC-4337."""

from __future__ import annotations

import msgspec

from holdfast.client.types.base import Record
from holdfast.client.types.service import AccountState

__all__ = ["AccountState", "GetAccountStateInput", "GetSmartAccountAddressInput", "SignUserOpResult", "UserOp"]


class UserOp(Record, frozen=True, kw_only=True):
    """A user operation in its RPC form. All numbers are hex strings; absent fields are None."""

    sender: str
    nonce: str
    call_data: str = msgspec.field(name="callData")
    call_gas_limit: str = msgspec.field(name="callGasLimit")
    verification_gas_limit: str = msgspec.field(name="verificationGasLimit")
    pre_verification_gas: str = msgspec.field(name="preVerificationGas")
    max_fee_per_gas: str = msgspec.field(name="maxFeePerGas")
    max_priority_fee_per_gas: str = msgspec.field(name="maxPriorityFeePerGas")
    signature: str
    factory: str | None
    factory_data: str | None = msgspec.field(name="factoryData")
    paymaster: str | None
    paymaster_verification_gas_limit: str | None = msgspec.field(name="paymasterVerificationGasLimit")
    paymaster_post_op_gas_limit: str | None = msgspec.field(name="paymasterPostOpGasLimit")
    paymaster_data: str | None = msgspec.field(name="paymasterData")


class SignUserOpResult(Record, frozen=True, kw_only=True):
    """A signature over a user operation's hash; `signature` and `public_key` in hex."""

    signature: str
    user_op_hash: str
    enclave_id: str
    public_key: str


class GetSmartAccountAddressInput(Record, frozen=True, kw_only=True):
    """The P-256 key (in hex) and the salt of the account whose address is to be predicted.

    `vault_url` is the service to ask instead.
    """

    pub_key_x: str = msgspec.field(name="pubKeyX")
    pub_key_y: str = msgspec.field(name="pubKeyY")
    salt: str | int = 0
    vault_url: str | None = msgspec.field(name="vaultUrl", default=None)


class GetAccountStateInput(Record, frozen=True, kw_only=True):
    """The account whose state is to be read. `vault_url` is the service to ask instead."""

    account: str
    vault_url: str | None = msgspec.field(name="vaultUrl", default=None)
