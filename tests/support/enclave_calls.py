"""Calls of the enclave that must succeed, or must be refused."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.enclave import Enclave, PluginCallError


def done(enclave: Enclave, resource: str, action: str, **args: Any) -> Any:
    """Return the result of an action, which must succeed."""
    answer = enclave.call("exec", filter=f"resource:{resource} action:{action}", args=args)
    assert answer["success"] is True, answer
    return answer["result"]


def denied(enclave: Enclave, resource: str, action: str, **args: Any) -> str:
    """Return the error of an action, which must fail."""
    answer = enclave.call("exec", filter=f"resource:{resource} action:{action}", args=args)
    assert answer["success"] is False, answer
    return str(answer["error"])


def refused(enclave: Enclave, function: str, **fields: Any) -> str | None:
    """Return the code with which the enclave refuses a call."""
    with pytest.raises(PluginCallError) as refusal:
        enclave.call(function, **fields)
    return refusal.value.code


def did_key(enclave: Enclave) -> str:
    """Return the did:key of the vault's own key, which issues the vault's tokens."""
    key = done(enclave, "enclaves", "list")[0]
    return str(enclave.call("did_key", public_key=bytes.fromhex(key["public_key"]), curve=key["curve"])["did"])
