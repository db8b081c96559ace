"""JSON-RPC 2.0 answers of the bundler proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.wire.client_errors import NetworkError

if TYPE_CHECKING:
    from holdfast.client.http.calls import Reply

_LONGEST_MESSAGE = 300


class JsonRpcError(NetworkError):
    """The bundler answered with an error. `code` and `data` are those of JSON-RPC 2.0 section 5.1."""

    def __init__(self, message: str, code: int | None, data: Any) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def read_json_rpc(reply: Reply, request_id: int) -> Any:
    """The result. Raises JsonRpcError for an error, ValueError for anything that is no answer to the request."""
    answer = msgspec.json.decode(reply.content)
    if not isinstance(answer, dict):
        raise ValueError("no JSON-RPC answer")  # noqa: TRY004 - one error for every malformed answer
    error = answer.get("error")
    if isinstance(error, dict):
        message = str(error.get("message", "bundler error"))[:_LONGEST_MESSAGE]
        code = error.get("code")
        raise JsonRpcError(message, code if isinstance(code, int) else None, error.get("data"))
    if answer.get("id") != request_id or "result" not in answer:
        raise ValueError("no answer to this request")
    return answer["result"]
