"""Code that an application might contain, which `make check` type-checks strictly and no test runs.

Each mistake is marked as an error that the type checker has to find: an unneeded mark is an error, too.
"""

from __future__ import annotations

from typing import assert_type

import holdfast
from holdfast.client import types


def blocking(store: holdfast.VaultStore) -> None:
    with holdfast.Vault(store) as vault, holdfast.Client("https://vault.example", vault=vault) as client:
        assert_type(client.status(), types.service.Status)
        assert_type(client.lookup_did("id"), types.DidRecord | None)
        assert_type(client.get_smart_account_address("0x1", "0x2"), str)
        assert_type(vault.sign(b"d" * 32), types.SignResult)
        assert_type(vault.query().accounts[0].is_default, bool)
        assert_type(vault.unlock(holdfast.PasswordKey("p")), types.UnlockOutput)
        made = client.register(handle="ada", on_progress=print)
        assert_type(made.block_number, int | None)
        try:
            client.pay(types.PaymentParams(to="0x", amount="1", token="native", chain_id=84532))
        except holdfast.RequestRefused as refused:
            assert_type(refused.status, int)
        except holdfast.PluginCallError as error:
            assert_type(error.function_name, str)


async def awaited(store: holdfast.VaultStore) -> None:
    async with holdfast.AsyncVault(store) as vault, holdfast.AsyncClient(vault=vault) as client:
        assert_type(await client.balance("0x", "ETH", 84532), types.service.Balance)
        assert_type(await vault.lock(), types.LockOutput)
        assert_type(await client.register(email="a@b.example", code=input), holdfast.Registration)


def wrong(client: holdfast.Client, vault: holdfast.Vault) -> None:
    client.balance("0x", "ETH", "84532")  # type: ignore[arg-type]
    vault.sign("text")  # type: ignore[arg-type]
    types.GenerateInput("positional")  # type: ignore[call-arg]
    types.PinRequest(cid="a", nam="b")  # type: ignore[call-arg]
    vault.status().locked = True  # type: ignore[misc]
    client.register(handle=5)  # type: ignore[arg-type]
