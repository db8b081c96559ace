"""A service on a chain of real money pays for a registration and payments with its own sponsor, until a budget ends.

The chain is a local one that a chain file describes, mines by itself, and has a bundler that sponsors nothing.
"""

import asyncio
import json
import os
import secrets
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from tests.support.availability import needs_chain

from holdfast.chain.abi import call_data
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.transports import AiohttpTransport
from holdfast.world.accounts import unlock
from holdfast.world.alto import start_bundler
from holdfast.world.anvil import ChainOptions, LocalChain, start_chain
from holdfast.world.deployment import deploy_contracts, deploy_entry_points
from holdfast.world.processes import Supervisor, free_port
from holdfast.world.tools import find_tools

COAST = 4217
PAYEE = "0x00000000000000000000000000000000000000A1"
CHAIN_FILE = """
[[chain]]
id = {id}
name = "Coast"
rpc = "{rpc}"
bundler = "{bundler}"
tokens = {{ USDC = "{usdc}" }}
real_money = true
"""


@dataclass(frozen=True)
class Coast:
    """A chain that is said to have real money, and the environment of an operator and of a person."""

    chain: LocalChain
    tester: str
    supervisor: Supervisor
    environment: dict[str, str]

    async def holdfast(self, *arguments):
        """Run a command; return its exit code and what it printed."""
        done = await asyncio.create_subprocess_exec(
            _program(), *arguments, env=self.environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await done.communicate()
        return done.returncode or 0, out.decode(), err.decode()

    async def done(self, *arguments):
        """Return the JSON that a command prints, which must succeed."""
        code, out, err = await self.holdfast(*arguments, "--json")
        assert code == 0, (arguments, out, err)
        return json.loads(out)

    async def is_ready(self):
        return (await self.holdfast("ready"))[0] == 0


def _program():
    return str(Path(sys.executable).parent / "holdfast")


@asynccontextmanager
async def coast(folder):
    tools, key = await find_tools(lambda _: None), folder / "sponsor.key"
    key.write_text(secrets.token_hex(32))
    key.chmod(0o600)
    async with AsyncExitStack() as opened:
        transport = AiohttpTransport(await opened.enter_async_context(aiohttp.ClientSession()))
        supervisor = await opened.enter_async_context(Supervisor(folder / "logs"))
        chain = await start_chain(supervisor, tools, transport, ChainOptions(chain_id=COAST))
        accounts = await unlock(chain.rpc, chain.rpc_url, COAST)
        await deploy_entry_points(chain, tools, accounts.tester.address)
        await deploy_contracts(chain, accounts.tester.address)
        bundler = await start_bundler(supervisor, tools, transport, chain.rpc_url, accounts)
        file = folder / "chains.toml"
        file.write_text(CHAIN_FILE.format(id=COAST, rpc=chain.rpc_url, bundler=bundler, usdc=ADDRESSES["DevUSDC"]))
        mining = asyncio.create_task(mine(chain))
        yield Coast(chain, accounts.tester.address, supervisor, _environment(folder, file, key))
        mining.cancel()


def _environment(folder, chain_file, key):
    port = free_port()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    return kept | {
        "HOLDFAST_PORT": str(port),
        "HOLDFAST_PUBLIC_URL": f"http://localhost:{port}",
        "HOLDFAST_DATA_DIR": str(folder / "data"),
        "HOLDFAST_CHAIN_FILE": str(chain_file),
        "HOLDFAST_CHAIN": str(COAST),
        "HOLDFAST_SPONSOR_KEY": str(key),
        "HOLDFAST_SPONSOR_DID_DAY": "0.02",
        "HOLDFAST_SPONSOR_CONTRACTS": "registry,usdc=0.0007,account",
        "HOLDFAST_SPONSOR_LOW": "0.05",
        "HOLDFAST_SERVICE_URL": f"http://localhost:{port}",
        "HOLDFAST_VAULT_DIR": str(folder / "vault"),
        "HOLDFAST_VAULT_PASSWORD": "correct horse battery staple",
    }


async def mine(chain):
    """Mine continuously, as public chains do, because a commitment counts from the next block on."""
    while True:
        await chain.rpc.call("evm_mine")
        await asyncio.sleep(0.5)


@pytest.mark.soak
@needs_chain
async def test_the_sponsor_pays_until_its_budget_ends(tmp_path):
    async with coast(tmp_path) as place:
        address = (await place.holdfast("sponsor", "status", "--json"))[1]
        found = json.loads(address)
        assert (found["deployed"], found["low"]) == (False, True)
        await fund(place, found["address"])
        await place.done("sponsor", "deploy", "--yes")
        await place.done("sponsor", "deposit", "0.06", "--yes")
        assert (await place.done("sponsor", "balance"))["deposit"] == "0.06 ETH"
        await serve(place)

        account = (await place.done("vault", "create", "--password"))["account"]
        await place.done("register", "--handle", "ada-of-the-coast")
        assert await place.chain.rpc.get_balance(account) == 0
        await give(place, account)
        payments, told = await pay_until_refused(place)
        assert payments > 0
        assert "the sponsor's budget for calls to 0x" in told and "It is full again at 00:00 UTC" in told
        assert account in told  # where to send ETH instead
        assert await place.chain.rpc.get_balance(PAYEE) == 0
        await settled(place)
        assert (await place.done("sponsor", "withdraw", "0.01", PAYEE, "--yes"))["transaction"]
        assert await place.chain.rpc.get_balance(PAYEE) == 10**16


async def fund(place, address):
    await place.chain.rpc.call("anvil_setBalance", [address, hex(10**17)])


async def give(place, account):
    data = call_data("mint(address,uint256)", account, 10**6)
    await place.chain.transact(place.tester, ADDRESSES["DevUSDC"], data)


async def serve(place):
    child = await place.supervisor.start("service", [_program(), "serve"], place.environment)
    await place.supervisor.ready(child, place.is_ready, 60)


async def pay_until_refused(place):
    """Return how many payments were made, and why the next one was not."""
    for made in range(20):
        code, _, err = await place.holdfast(
            "pay", PAYEE, str(1000 + made), "--token", ADDRESSES["DevUSDC"], "--yes", "--json"
        )
        if code:
            return made, err
    pytest.fail("the budget never ends")


async def settled(place):
    """Wait until everything is charged, and compare the charges with what left the deposit."""
    async with asyncio.timeout(60):
        while (found := json.loads((await place.holdfast("sponsor", "status", "--json"))[1]))["open"]:
            await asyncio.sleep(1)
    budgets = {row["subject"]: float(row["spent"].split()[0]) for row in found["budgets"]}
    taken = 0.06 - float(found["deposit"].split()[0])
    commitments = 0.1 - 0.06 - float(found["coin"].split()[0])
    assert taken <= budgets["all"] <= taken + commitments
    assert budgets[f"contract {ADDRESSES['DevUSDC'].lower()}"] < 0.0007
