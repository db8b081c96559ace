"""Parses JSON-RPC 2.0 responses from the service's bundler proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from holdfast.chain.values import printable
from holdfast.wire import json_rpc
from holdfast.wire.client_errors import NetworkError

if TYPE_CHECKING:
    from holdfast.client.http.calls import Reply

_LONGEST_MESSAGE = 300


class JsonRpcError(NetworkError):
    """The bundler returned an error. `code` and `data` are those of JSON-RPC 2.0, section 5.1."""

    def __init__(self, message: str, code: int | None, data: object) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def read_json_rpc(reply: Reply, request_id: int) -> object:
    """Return the result. Raises JsonRpcError for an error object, ValueError for anything that is not a response."""
    try:
        return json_rpc.result_of(msgspec.json.decode(reply.content), request_id)
    except json_rpc.ErrorResponse as error:
        message = "bundler error" if error.message is None else error.message
        raise JsonRpcError(printable(message[:_LONGEST_MESSAGE]), error.code, error.data) from None
