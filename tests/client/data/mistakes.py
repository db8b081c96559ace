"""Code with type errors on the marked lines, which an application's type checker must find; it is never run."""

from __future__ import annotations

import holdfast
from holdfast.client import types


def wrong(client: holdfast.Client, vault: holdfast.Vault) -> None:
    client.balance("0x", "ETH", "84532")  # wrong
    vault.sign("text")  # wrong
    types.GenerateInput("positional")  # wrong
    types.PinRequest(cid="a", nam="b")  # wrong
    vault.status().locked = True  # wrong
    client.register(handle=5)  # wrong
