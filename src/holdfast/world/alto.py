"""The Alto bundler, run as a separate process.

Alto's licence is the GPL, so Alto is run as a program and never imported.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.chain.entry_points import ENTRY_POINTS
from holdfast.chain.errors import RpcError
from holdfast.world.ports import out_of_browsers_reach

if TYPE_CHECKING:
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.transports import Transport
    from holdfast.world.accounts import DevelopmentAccounts
    from holdfast.world.processes import Supervisor
    from holdfast.world.tools import Tools

LOOPBACK_PRELOAD = Path(__file__).with_name("loopback.mjs")
_READY_WITHIN_S = 120.0


async def start_bundler(
    supervisor: Supervisor, tools: Tools, transport: Transport, rpc_url: str, accounts: DevelopmentAccounts
) -> str:
    """Start Alto for the chain at `rpc_url`, and return its address once it serves every entry point."""
    from holdfast.chain.rpc import RpcClient

    host, port = out_of_browsers_reach()
    command = [tools.node, "--import", f"{LOOPBACK_PRELOAD.as_uri()}?{host}", str(tools.alto)]
    child = await supervisor.start("bundler", [*command, *_arguments(port, rpc_url, accounts)])
    url = f"http://{host}:{port}"
    rpc = RpcClient(url, transport, batches=False)
    await supervisor.ready(child, lambda: _serves(rpc), _READY_WITHIN_S)
    return url


def _arguments(port: int, rpc_url: str, accounts: DevelopmentAccounts) -> list[str]:
    options = {
        "entrypoints": ",".join(entry_point.address for entry_point in ENTRY_POINTS),
        "rpc-url": rpc_url,
        "port": str(port),
        "executor-private-keys": accounts.executor.private_key,
        "utility-private-key": accounts.utility.private_key,
        # Safe mode is off, because ERC-7562's storage rules need a tracer, and Alto cannot parse anvil's tracer output.
        "safe-mode": "false",
        "log-level": "error",
        "min-bundle-interval": "50",
        "max-bundle-interval": "100",
    }
    return [word for name, value in options.items() for word in (f"--{name}", value)]


async def _serves(rpc: RpcClient) -> bool:
    try:
        served = await rpc.call("eth_supportedEntryPoints")
    except RpcError:
        return False
    return isinstance(served, list) and len(served) == len(ENTRY_POINTS)
