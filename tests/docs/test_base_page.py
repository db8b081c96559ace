"""The commands of docs/base.md run on a local chain with the ID of Base, which has none of Holdfast's contracts."""

import asyncio
import os
import re
import secrets
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from eth_keys import keys
from tests.support.availability import needs_chain

from holdfast.chain.contracts import load
from holdfast.chain.transports import AiohttpTransport
from holdfast.rules.chains import CHAINS
from holdfast.wire.encoding import to_hex
from holdfast.world.accounts import unlock
from holdfast.world.alto import start_bundler
from holdfast.world.anvil import ChainOptions, LocalChain, start_chain
from holdfast.world.deployment import deploy_entry_points
from holdfast.world.processes import Supervisor, free_port
from holdfast.world.tools import find_tools

PAGE = (Path(__file__).parents[2] / "docs" / "base.md").read_text("utf-8")
BASE = 8453
PAYEE = "0x00000000000000000000000000000000000000A1"
WEI_FOR_DEPLOYMENT, WEI_FOR_TRIAL = 10**17, 10**15
READY_WITHIN_S = 60
LOCAL = "only this machine reaches it"  # the public URL of this test


@dataclass(frozen=True)
class Place:
    """A chain with entry points and a bundler, and the folder in which the commands run."""

    chain: LocalChain
    bundler_url: str
    folder: Path
    supervisor: Supervisor


@asynccontextmanager
async def bare_base(folder):
    """Run a local chain with the ID of Base, with entry points and a bundler, without contracts and sponsor."""
    tools = await find_tools(lambda _: None)
    async with AsyncExitStack() as opened:
        transport = AiohttpTransport(await opened.enter_async_context(aiohttp.ClientSession()))
        supervisor = await opened.enter_async_context(Supervisor(folder / "logs"))
        chain = await start_chain(supervisor, tools, transport, ChainOptions(chain_id=BASE))
        accounts = await unlock(chain.rpc, chain.rpc_url, BASE)
        await deploy_entry_points(chain, tools, accounts.tester.address)
        await chain.rpc.call("anvil_setCode", [CHAINS[BASE].usdc, to_hex(load("DevUSDC").runtime)])
        bundler_url = await start_bundler(supervisor, tools, transport, chain.rpc_url, accounts)
        mining = asyncio.create_task(mine(chain))
        yield Place(chain, bundler_url, folder, supervisor)
        mining.cancel()


async def mine(chain):
    """Mine continuously, as public chains do, because a commitment counts from the next block on."""
    while True:
        await chain.rpc.call("evm_mine")
        await asyncio.sleep(0.5)


class Reader:
    """Runs the page's blocks one after another in a terminal, with values for the words in capitals."""

    def __init__(self, place, port):
        self._place, self._values = place, {
            "https://BASE_ENDPOINT": place.chain.rpc_url,
            "https://BASE_BUNDLER": place.bundler_url,
            "https://mainnet.base.org": place.chain.rpc_url,
            "https://id.example": f"http://localhost:{port}",
            "START_BLOCK=BLOCK": "START_BLOCK=0",
            "--key-file deployer.key": "--key-file deployer.key --yes",
            "holdfast balance": "holdfast balance --json",
            "holdfast whoami": "holdfast whoami --json",
        }  # fmt: skip
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")} | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOLDFAST_VAULT_PASSWORD": "correct horse battery staple",
            "HOLDFAST_PORT": str(port),
        }
        self._said = []  # the exports of blocks before

    async def copies(self, block, failing=""):
        """Run a block in the folder; returns its standard output. Of its lines, only `failing` may begin with FAIL."""
        text = self.with_own_values(block)
        script = "set -e\n" + "\n".join([*self._said, text])
        self._said += [line for line in text.splitlines() if line.startswith("export ")]
        done = await asyncio.create_subprocess_exec(
            "bash", "-c", script, cwd=self._place.folder, env=self._environment,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, err = await done.communicate()
        found = [line for line in out.decode().splitlines() if line.startswith("FAIL")]
        as_expected = failing in found[0] if len(found) == 1 else not found
        assert as_expected and (done.returncode != 0) == bool(failing), f"{text}\n{out.decode()}\n{err.decode()}"
        return out.decode()

    async def serves(self, block):
        """Run the block with the service until the end of the test, and wait until the service is ready."""
        command = ["bash", "-c", f"cd {self._place.folder} && exec {self.with_own_values(block).strip()}"]
        child = await self._place.supervisor.start("service", command, self._environment)
        await self._place.supervisor.ready(child, self._ready, READY_WITHIN_S)

    def with_own_values(self, text):
        for written, own in self._values.items():
            text = text.replace(written, own)
        return text

    async def _ready(self):
        asked = await asyncio.create_subprocess_exec(
            "holdfast", "ready", env=self._environment, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        return await asked.wait() == 0


def blocks():
    found = re.findall(r"^    ```sh\n(.*?)^    ```$", PAGE, re.DOTALL | re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in found]


@pytest.mark.soak  # two local chains and every command of a page; test_several_chains.py pays on Base's ID in the gate
@needs_chain
async def test_every_command_leads_to_a_registration_and_a_payment(tmp_path):
    named, looked, deployed, configured, checked, served, made, registered = blocks()
    async with bare_base(tmp_path) as place:
        reader, deployer = Reader(place, free_port()), keys.PrivateKey(secrets.token_bytes(32))
        (tmp_path / "deployer.key").write_text(deployer.to_hex())
        (tmp_path / "deployer.key").chmod(0o600)
        await fund(place, deployer.public_key.to_checksum_address(), WEI_FOR_DEPLOYMENT)
        await reader.copies(named)
        assert "some are missing" in await reader.copies(looked)
        assert "with exactly our code" in await reader.copies(deployed)
        assert "some are missing" not in await reader.copies(looked)
        await reader.copies(configured)
        assert "ok   contracts    all 5 there, exactly this release's code" in await reader.copies(checked, LOCAL)
        await reader.serves(served)
        account = re.search(r'"account":\s*"(0x\w{40})"', await reader.copies(made))
        assert account is not None
        await fund(place, account[1], WEI_FOR_TRIAL)
        told = await reader.copies(registered)
        assert "trial-of-mine" in told and account[1] in told
        assert await place.chain.rpc.get_balance(PAYEE) == 1000


async def fund(place, address, wei):
    await place.chain.rpc.call("anvil_setBalance", [address, hex(wei)])
