"""The steps of the command `holdfast vault exit`."""

from __future__ import annotations

import asyncio
import os
import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from holdfast.cli import client_vault as common
from holdfast.cli.exits import Exit
from holdfast.cli.key_file import key_in, read_key
from holdfast.cli.output import fail
from holdfast.client.storage.private_files import write_private
from holdfast.wire.waiting import slow_is_told

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from pathlib import Path

    from eth_keys.datatypes import PrivateKey

    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.transports import Transport
    from holdfast.chain.user_operations import UserOperation
    from holdfast.cli.exit_report import Known
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.flows.accounts import AccountKey
    from holdfast.client.flows.second_key import SecondKey
    from holdfast.client.leaving.bundled import Bundled
    from holdfast.client.leaving.ordinary import Ordinary
    from holdfast.client.leaving.plan import Plan
    from holdfast.client.passkeys import Authenticator

T = TypeVar("T")
SENDER_KEY = "HOLDFAST_SENDER_KEY"
WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Nodes:
    """The endpoints that the person named, and the key that pays for an ordinary transaction."""

    rpc: str
    bundler: str | None = None
    paymaster: str | None = None
    key: PrivateKey | None = None

    def __post_init__(self) -> None:
        from holdfast.client.http.transport import checked_base_url

        for option, url in (("--rpc", self.rpc), ("--bundler", self.bundler), ("--paymaster", self.paymaster)):
            try:
                checked_base_url(url or "http://unused")
            except ValueError:
                raise ValueError(f"{option} must start with http:// or https://") from None

    def ask(self, question: Callable[[Reached], Awaitable[T]]) -> T:
        """Return the answer to a question that asks the endpoints."""
        return asyncio.run(self._ask(question))

    async def _ask(self, question: Callable[[Reached], Awaitable[T]]) -> T:
        import httpx2

        from holdfast.chain.rpc import RpcClient
        from holdfast.chain.transports import Httpx2Transport

        async with httpx2.AsyncClient(timeout=WITHIN_S) as http:
            transport = _Telling(Httpx2Transport(http))

            def at(url: str | None) -> RpcClient | None:
                return RpcClient(url, transport, batches=False, timeout_s=WITHIN_S) if url else None

            chain = RpcClient(self.rpc, transport, timeout_s=WITHIN_S)
            return await question(Reached(chain, at(self.bundler), at(self.paymaster), self.key))


@dataclass(frozen=True, slots=True)
class _Telling:
    """A transport that tells for whom the person waits."""

    transport: Transport

    async def post(self, url: str, body: bytes) -> bytes:
        with slow_is_told(url):
            return await self.transport.post(url, body)


@dataclass(frozen=True, slots=True)
class Reached:
    """Clients for the endpoints."""

    chain: RpcClient
    bundler: RpcClient | None
    paymaster: RpcClient | None
    key: PrivateKey | None

    @property
    def way(self) -> Bundled | Ordinary:
        """The way in which operations reach the chain, after `require_way`."""
        from holdfast.client.leaving.bundled import Bundled
        from holdfast.client.leaving.ordinary import Ordinary

        if self.bundler is not None:
            return Bundled(self.chain, self.bundler, self.paymaster)
        assert self.key is not None
        return Ordinary(self.chain, self.key)


def require_way(rpc: str | None, bundler: str | None, sender_key: Path | None) -> None:
    """Raise ValueError unless the person named a node, and exactly one way to send an operation."""
    if rpc is None:
        raise ValueError("--to needs a node of the chain (--rpc)")
    has_key = sender_key is not None or (bundler is None and bool(os.environ.get(SENDER_KEY)))
    if has_key is (bundler is not None):
        raise ValueError("name a bundler (--bundler), or the key that pays (--sender-key), and not both")


def payer_of(file: Path | None, *, as_json: bool) -> PrivateKey | None:
    """Return the key that pays for an ordinary transaction. A file that does not exist is made, with a new key."""
    if file is None:
        return key_in(SENDER_KEY, as_json=as_json)
    if not os.path.lexists(file):  # False also if it cannot be looked for: writing it then says why
        write_private(file, secrets.token_hex(32).encode() + b"\n", replace=False)
        common.say(f"{file} is new: it has the key of the address that pays, so keep it")
    return read_key(file, as_json=as_json)


@dataclass(frozen=True, slots=True)
class FirstKey:
    """The key that signs: a vault's, or a passkey that owns the account.

    Attributes:
        key: the key, and the account's address.
        known: what the person is told of it.
        own: returns its signature of a plan.
        passkey: the passkey.
    """

    key: AccountKey
    known: Known
    own: Callable[[Plan], bytes]
    passkey: SecondKey | None = None

    def signed(self, plan: Plan) -> UserOperation:
        """Return the plan's operation with this key's signature, and the second key's where two must sign.

        Raises PluginCallError, WebAuthnError.
        """
        return plan.operation.signed(plan.account.signature(self.own(plan), plan.hash))


def of_vault(vault: Vault, address: str | None) -> FirstKey:
    """Return the key of an open vault, for the account at an address or else its first one. Raises PluginCallError."""
    from holdfast.cli.exit_report import known_of
    from holdfast.client.flows.operations import signature_in
    from holdfast.client.leaving.account import key_and_account
    from holdfast.client.types import UserOp

    key = key_and_account(vault.own_key(), address)

    def own(plan: Plan) -> bytes:
        account, operation = plan.account, UserOp.from_json(plan.operation.to_rpc())
        made = vault.sign_user_op(operation, account.entry_point, account.chain_id)
        return signature_in(made, plan.hash)

    return FirstKey(key, known_of(key, vault), own)


def of_passkey(nodes: Nodes | None, chain_id: int, address: str | None, keys: Sequence[Authenticator]) -> FirstKey:
    """Return the passkey that owns the account. Raises ValueError, WebAuthnError, OtherChain, OperationFailed."""
    from holdfast.cli.exit_report import known_of
    from holdfast.client.flows.accounts import AccountKey
    from holdfast.client.leaving.passkeys import owner_passkey

    if nodes is None or address is None:
        raise ValueError("--owner-passkey needs the account (--account) and a node of its chain (--rpc)")
    passkey = nodes.ask(lambda reached: owner_passkey(reached.chain, chain_id, address, keys))
    x, y = (int.from_bytes(part) for part in (passkey.signer[:32], passkey.signer[32:]))
    key = AccountKey(x, y, address)
    return FirstKey(key, known_of(key), lambda plan: cast("bytes", passkey.sign(plan.hash)), passkey)


@contextmanager
def plain_errors(*, as_json: bool) -> Iterator[None]:
    """Turn errors into a one-line message and an exit code. An endpoint's words are marked, because it may lie."""
    from holdfast.chain.errors import RpcError
    from holdfast.client.flows.failures import GasTooDear
    from holdfast.client.leaving.account import OtherChain
    from holdfast.client.leaving.plan import NothingToMove
    from holdfast.wire.client_errors import NetworkError

    with common.plain_errors(as_json=as_json):
        try:
            yield
        except OtherChain as error:
            fail(Exit.CONFIGURATION, str(error), as_json=as_json)
        except GasTooDear as error:
            fail(Exit.FAILED, f"{error}: --max-cost sets the limit", as_json=as_json)
        except NothingToMove as error:
            fail(Exit.NOT_FOUND, str(error), as_json=as_json)
        except NetworkError as error:
            cause = error.__cause__
            if not isinstance(cause, RpcError):
                raise
            words = f" says, in its own words: \u201c{cause}\u201d" if cause.from_endpoint else f": {cause}"
            raise NetworkError(f"the node or bundler{words}") from error
