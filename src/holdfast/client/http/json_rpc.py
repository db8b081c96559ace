"""Parses JSON-RPC 2.0 responses from the service's bundler proxy."""

from __future__ import annotations

from holdfast.chain.values import printable
from holdfast.wire import json_rpc
from holdfast.wire.client_errors import NetworkError


class JsonRpcError(NetworkError):
    """The bundler returned an error. `code` and `data` are those of JSON-RPC 2.0, section 5.1."""

    def __init__(self, message: str, code: int, data: object) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def read_json_rpc(answer: object, request_id: int) -> object:
    """Return the result. Raises JsonRpcError for an error with a code, NetworkError for anything else."""
    try:
        return json_rpc.result_of(answer, request_id)
    except json_rpc.MalformedResponse as error:
        raise NetworkError(str(error)) from error
    except json_rpc.ErrorResponse as error:
        if error.code is None:
            raise NetworkError("the error has no code") from None
        raise JsonRpcError(printable(error.message), error.code, error.data) from None
