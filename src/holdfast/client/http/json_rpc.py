"""Parses JSON-RPC 2.0 responses from the service's bundler proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from holdfast.chain.values import printable
from holdfast.wire import json_rpc
from holdfast.wire.client_errors import NetworkError

if TYPE_CHECKING:
    from holdfast.client.http.calls import Reply


class JsonRpcError(NetworkError):
    """The bundler returned an error. `code` and `data` are those of JSON-RPC 2.0, section 5.1."""

    def __init__(self, message: str, code: int, data: object) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def read_json_rpc(reply: Reply, request_id: int) -> object:
    """Return the result. Raises JsonRpcError for an error with a code, ValueError for anything else."""
    try:
        return json_rpc.result_of(msgspec.json.decode(reply.content), request_id)
    except json_rpc.ErrorResponse as error:
        if error.code is None:
            raise json_rpc.MalformedResponse("the error has no code") from None
        raise JsonRpcError(printable(error.message or "bundler error"), error.code, error.data) from None
