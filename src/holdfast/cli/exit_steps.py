"""The steps of the command `holdfast vault exit`."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from holdfast.cli import client_vault as common
from holdfast.cli.exits import Exit
from holdfast.cli.output import fail

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from eth_keys.datatypes import PrivateKey

    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.user_operations import UserOperation
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.leaving.bundled import Bundled
    from holdfast.client.leaving.ordinary import Ordinary
    from holdfast.client.leaving.plan import Plan

T = TypeVar("T")
_WITHIN_S = 30.0


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
        import httpx

        from holdfast.chain.rpc import RpcClient
        from holdfast.chain.transports import HttpxTransport

        async with httpx.AsyncClient(timeout=_WITHIN_S) as http:
            transport = HttpxTransport(http)

            def at(url: str | None) -> RpcClient | None:
                return RpcClient(url, transport, batches=False, timeout_s=_WITHIN_S) if url else None

            chain = RpcClient(self.rpc, transport, timeout_s=_WITHIN_S)
            return await question(Reached(chain, at(self.bundler), at(self.paymaster), self.key))


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


def require_way(nodes: Nodes | None) -> None:
    """Raise ValueError unless the person named a node, and exactly one way to send an operation."""
    if nodes is None:
        raise ValueError("--to needs a node of the chain (--rpc)")
    if (nodes.bundler is None) == (nodes.key is None):
        raise ValueError("name a bundler (--bundler), or the key that pays (--sender-key), and not both")


def signed(vault: Vault, plan: Plan) -> UserOperation:
    """Return the plan's operation with the vault's signature, and the second key's where two must sign.

    Raises PluginCallError.
    """
    from holdfast.client.flows.operations import signature_in
    from holdfast.client.types import UserOp

    account, operation = plan.account, UserOp.from_json(plan.operation.to_rpc())
    made = vault.sign_user_op(operation, account.entry_point, account.chain_id)
    own = signature_in(made, plan.hash, account.key, by_name=False)
    return plan.operation.signed(account.signature(own, plan.hash))


@contextmanager
def plain_errors(*, as_json: bool) -> Iterator[None]:
    """Turn errors into a one-line message and an exit code."""
    from holdfast.client.leaving.account import OtherChain
    from holdfast.client.leaving.plan import NothingToMove

    with common.plain_errors(as_json=as_json):
        try:
            yield
        except OtherChain as error:
            fail(Exit.CONFIGURATION, str(error), as_json=as_json)
        except NothingToMove as error:
            fail(Exit.NOT_FOUND, str(error), as_json=as_json)
