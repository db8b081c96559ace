"""Reads the receipt of a user operation."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.chain.errors import UserOperationError
from holdfast.client.flows.failures import chain_errors
from holdfast.client.flows.operations import bundler_of
from holdfast.client.types import Record
from holdfast.wire.encoding import from_hex, to_hex

if TYPE_CHECKING:
    from holdfast.client.async_service_client import AsyncServiceClient
    from holdfast.client.http.chain_transport import ChainTransport

_HASH = re.compile(r"0x[0-9a-fA-F]{64}")


class UserOperationReceipt(Record, frozen=True, kw_only=True):
    """A mined user operation, with its transaction, gas cost in wei, and `reason`, the decoded revert."""

    user_op_hash: str
    transaction_hash: str
    block_number: int
    success: bool
    actual_gas_used: int
    actual_gas_cost: int
    reason: str | None = None


async def receipt_of(
    client: AsyncServiceClient, transport: ChainTransport, user_op_hash: str, within_s: float, chain_id: int | None
) -> UserOperationReceipt | None:
    """See Client.user_operation_receipt."""
    if not _HASH.fullmatch(user_op_hash):
        raise ValueError("user_op_hash must be 0x and 64 hexadecimal digits")
    contracts = await client.contracts()
    main = chain_id in {None, contracts.chain_id}
    bundler = bundler_of(transport, contracts if main else replace(contracts, chain_id=chain_id), main=main)
    with chain_errors():
        found = None
        with suppress(UserOperationError):  # not mined, or reverted: the receipt says which
            found = await bundler.wait(from_hex(user_op_hash), within_s) if within_s > 0 else None
        found = found or await bundler.receipt(from_hex(user_op_hash))
    if found is None:
        return None
    return UserOperationReceipt(
        user_op_hash=to_hex(found.operation_hash),
        transaction_hash=to_hex(found.transaction_hash),
        block_number=found.block_number,
        success=found.succeeded,
        actual_gas_used=found.actual_gas_used,
        actual_gas_cost=found.actual_gas_cost,
        reason=found.reason,
    )
