"""Vaults, payees and payments on a local chain."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.support.chain_service import ChainService
from tests.support.software_authenticator import SoftwareAuthenticator

import holdfast
from holdfast.client import types
from holdfast.client.passkeys import Authenticator, Person
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.types.service import AccountState
from holdfast.client.vault.keys import SecretKey
from holdfast.wire.keccak import checksum_address
from holdfast.wire.retries import OPERATIONS

KEY = SecretKey(b"k" * 32)


def new_vault(store: VaultStore, name: str = "ada") -> holdfast.Vault:
    vault = holdfast.Vault(store)
    vault.boot()
    passkey = Authenticator("http://localhost:8787", SoftwareAuthenticator()).create_passkey(Person(name))
    vault.generate(types.GenerateInput(credential=passkey.credential), KEY)
    return vault


def payment(chain: ChainService, to: str, amount: int, *, chain_id: int = 84532, **more: Any) -> types.PaymentParams:
    return types.PaymentParams(to=to, amount=str(amount), token=chain.usdc, chain_id=chain_id, **more)


def settled(client: holdfast.Client, account: str) -> AccountState:
    time.sleep(OPERATIONS.state_age_s)
    return client.get_account_state(account)


def someone() -> str:
    return checksum_address(secrets.token_bytes(20))


class Payee(NamedTuple):
    name: str
    did: str
    account: str


def registered_payee(chain: ChainService) -> Payee:
    name = "p" + secrets.token_hex(5)
    with (
        TemporaryDirectory() as folder,
        VaultStore(directory=Path(folder)) as store,
        new_vault(store, name) as vault,
        holdfast.Client(chain.base_url, vault=vault, timeout=60) as client,
    ):
        made = client.register(handle=name)
        assert made.smart_account
        settled(client, made.smart_account)
    return Payee(name, made.did, made.smart_account)
