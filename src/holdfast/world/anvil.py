"""The local chain: anvil, listening on loopback, with a given hardfork."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.chain.errors import RpcError
from holdfast.world.ports import HOST, out_of_browsers_reach
from holdfast.world.processes import free_port

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.transports import Transport
    from holdfast.chain.values import Receipt
    from holdfast.world.processes import Supervisor
    from holdfast.world.tools import Tools

CHAIN_ID = 84532
# Named, because anvil's default changes. Osaka has the P-256 precompile at 0x100 (EIP-7951), but Prague does not.
HARDFORK = "osaka"
_READY_WITHIN_S = 120.0
_SAVE_EVERY_S = "20"
_MINED_WITHIN_S, _LOOK_EVERY_S = 60.0, 0.005


@dataclass(frozen=True, slots=True)
class ChainOptions:
    """How the chain runs.

    Attributes:
        port: 0 picks a free one.
        chain_id: the ID that it reports. What is signed for a local chain is valid on a public one of the same ID.
        state: the file that it loads and saves.
        origin: the only web pages that may call it, through `holdfast.world.chain_front`, which then has the port; None
            for all, which is for tests.
    """

    hardfork: str = HARDFORK
    port: int = 0
    state: Path | None = None
    origin: str | None = None
    chain_id: int = CHAIN_ID


@dataclass(frozen=True, slots=True)
class LocalChain:
    """A running anvil, which mines each transaction immediately."""

    rpc_url: str
    rpc: RpcClient
    chain_id: int = CHAIN_ID

    async def transact(self, sender: str, to: str, data: bytes, value: int = 0) -> str:
        """Send a transaction from an account that anvil manages, and return its hash once it is mined.

        Do not call this method concurrently for the same sender, because anvil chooses the nonce. Raises RpcError if
        the transaction fails.
        """
        transaction = {"from": sender, "to": to, "data": "0x" + data.hex(), "value": hex(value)}
        sent = str(await self.rpc.call("eth_sendTransaction", [transaction]))
        receipt = await self._mined(sent)
        if not receipt.succeeded:
            raise RpcError("a transaction of the local world failed")
        return sent

    async def _mined(self, sent: str) -> Receipt:
        try:
            async with asyncio.timeout(_MINED_WITHIN_S):
                while (receipt := await self.rpc.get_transaction_receipt(sent)) is None:  # noqa: ASYNC110 - another process
                    await asyncio.sleep(_LOOK_EVERY_S)
                return receipt
        except TimeoutError:
            raise RpcError("a transaction of the local world was not mined") from None


async def start_chain(supervisor: Supervisor, tools: Tools, transport: Transport, options: ChainOptions) -> LocalChain:
    """Start anvil and wait until it responds."""
    from holdfast.chain.rpc import RpcClient

    host, port = (HOST, options.port or free_port()) if options.origin is None else out_of_browsers_reach()
    url = f"http://{host}:{port}"
    rpc = RpcClient(url, transport)
    child = await supervisor.start("chain", [str(tools.anvil), *_arguments(host, port, options)])
    await supervisor.ready(child, lambda: _answers(rpc), _READY_WITHIN_S)
    return LocalChain(url, rpc, options.chain_id)


def _arguments(host: str, port: int, options: ChainOptions) -> list[str]:
    arguments = ["--chain-id", str(options.chain_id), "--host", host, "--port", str(port)]
    arguments += ["--hardfork", options.hardfork]
    if options.state is not None:
        arguments += ["--state", str(options.state), "--state-interval", _SAVE_EVERY_S]
    if options.origin is not None:
        arguments += ["--allow-origin", options.origin]
    return [*arguments, "--quiet"]


async def _answers(rpc: RpcClient) -> bool:
    # The RPC client's retries are not used, because the supervisor repeats the check itself.
    try:
        result: Any = await rpc.call("anvil_nodeInfo")
    except RpcError:
        return False
    return isinstance(result, dict)
