"""Which user operations the relay answers itself: those whose paymaster is the zero address, which would not pay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from holdfast.wire.encoding import from_hex
from holdfast.wire.paymasters import pays

if TYPE_CHECKING:
    from holdfast.wire.requests import CallBundler

_SEND = "eth_sendUserOperation"
_ADDRESS_LENGTH = 42  # of an address as text
_REFUSAL = (
    b', "error": {"code": -32602, "message": "the zero address is not a paymaster: the account itself would pay"}}'
)


class _Operation(Struct, gc=False):
    """The fields that name a paymaster: of a JSON-RPC user operation, and of its packed form."""

    paymaster: Raw | UnsetType = UNSET
    packed: Raw | UnsetType = msgspec.field(name="paymasterAndData", default=UNSET)


class _Parameters(Struct, array_like=True, gc=False):
    """The operation; the decoder skips the other parameters and fields without building values."""

    operation: _Operation


_decode_parameters = msgspec.json.Decoder(_Parameters).decode
_decode_text = msgspec.json.Decoder(str).decode


def refusal_of(request: CallBundler) -> bytes | None:
    """Return the JSON-RPC error for an operation to be sent whose paymaster is the zero address; None for any other.

    A malformed operation is left to the bundler.

    Args:
        request: an allowed request, whose `id` was checked.
    """
    if request.method != _SEND or request.params is UNSET:
        return None
    try:
        operation = _decode_parameters(request.params).operation
    except (msgspec.DecodeError, RecursionError):
        return None
    named = (_address(operation.paymaster, whole=True), _address(operation.packed, whole=False))
    if all(address is None or pays(address) for address in named):
        return None
    identity = b"null" if request.id is UNSET else bytes(request.id)
    return b'{"jsonrpc": "2.0", "id": ' + identity + _REFUSAL


def _address(field: Raw | UnsetType, *, whole: bool) -> bytes | None:
    """Return the address that a field is, or begins with; None if there is no address."""
    if field is UNSET:
        return None
    try:
        text = _decode_text(field)
        if text[:2] not in {"0x", "0X"} or len(text) < _ADDRESS_LENGTH or (whole and len(text) > _ADDRESS_LENGTH):
            return None
        return from_hex(text[:_ADDRESS_LENGTH])
    except ValueError:  # which is also what msgspec raises
        return None
