"""Types for payments: interface section "Client-side types", Payment."""

from __future__ import annotations

import msgspec

from holdfast.client.types.base import Record

NATIVE = "native"


class PaymentParams(Record, frozen=True, kw_only=True):
    """A payment: `to` is an address or a DID, `amount` in the smallest unit, `token` an ERC-20 address or "native"."""

    to: str
    amount: str
    token: str
    chain_id: int = msgspec.field(name="chainId")
    ucan: str | None = None
    label: str | None = None


class PaymentResult(Record, frozen=True, kw_only=True):
    """A completed payment. `tx_hash` equals `user_op_hash`."""

    tx_hash: str = msgspec.field(name="txHash")
    user_op_hash: str = msgspec.field(name="userOpHash")
    chain: int
    token: str
    explorer_url: str = msgspec.field(name="explorerUrl")


class PaymentHandlerOptions(Record, frozen=True, kw_only=True):
    """Options with which a browser registers the payment worker.

    `method_url` defaults to the service's address and "/pay".
    """

    sw_url: str = msgspec.field(name="swUrl", default="/pay/sw.js")
    scope: str = "/pay/"
    method_url: str | None = msgspec.field(name="methodUrl", default=None)


class PaymentHandlerRegistration(Record, frozen=True, kw_only=True):
    """Whether the browser registered the payment worker; if not, `error` says why."""

    success: bool
    scope: str
    error: str | None = None
