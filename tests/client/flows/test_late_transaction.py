"""A vault registered without a transaction gets one in the local world, by registering again with the Python client."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

import pytest
from tests.support.payments import new_vault

import holdfast
from holdfast.client.storage.vault_store import VaultStore
from holdfast.wire.requests import NO_TRANSACTION

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.chain_service import ChainService
    from tests.support.serving import Server

pytestmark = pytest.mark.timeout(300)


def code_of(server: Server) -> str:
    """Return the code in the only message that was sent."""
    (mail,) = (server.data / "outbox").iterdir()
    found = re.search(r"\b\d{6}\b", mail.read_text().partition("Subject:")[2])
    assert found is not None
    return found[0]


@pytest.mark.parametrize("channel", ["handle", "email"])
def test_registering_again_adds_the_transaction(
    chain: ChainService, serve: Callable[..., Server], tmp_path: Path, channel: str
) -> None:
    token = secrets.token_hex(6)
    name = f"h{token}" if channel == "handle" else f"{token}@example.org"
    before = serve(rpc_url=chain.rpc_url, mail_url="outbox:")
    with VaultStore(directory=tmp_path / "vault") as store, new_vault(store) as vault:
        with holdfast.Client(before.url, vault=vault, timeout=60) as client:
            first = client.register(**{channel: name}, code=lambda _message: code_of(before))
            assert first.tx_hash == NO_TRANSACTION
            assert client.register(**{channel: name}) == first, "the service still has no bundler"
        before.stop()
        after = serve(before.data, port=before.port, rpc_url=chain.rpc_url, bundler_url=chain.bundler_url)
        with holdfast.Client(after.url, vault=vault, timeout=60) as client:
            added = client.register(**{channel: name})
            receipt = chain.receipt(added.tx_hash)
            assert receipt is not None
            assert (added.did, added.identifier, added.block_number) == (first.did, name, receipt.block_number)
            assert client.register(**{channel: name}) == added
