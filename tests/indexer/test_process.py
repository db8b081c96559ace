"""The indexer alone, inside the service's process, and as another process to which the service forwards requests."""

import asyncio
import json
import os
import random
import signal
import socket
import sys
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from tests.support.fake_chain import FACTORY, REGISTRY, FakeChain
from tests.support.upstreams import rpc_results, upstream

from holdfast.indexer import LazyApp
from holdfast.service.upstreams.indexer import IndexerBinding
from holdfast.world.processes import free_port

METHODS = ("eth_chainId", "eth_getBlockByNumber", "eth_getLogs")


@asynccontextmanager
async def endpoint(chain):
    def asked(method):
        return lambda *params: chain.answer(method, params, chain.blocks)

    async with upstream() as served:
        served.answer = rpc_results({name: asked(name) for name in METHODS})
        yield served.url


# Does what the `holdfast` script does, wherever that is installed.
COMMAND = (sys.executable, "-c", "from holdfast.cli import main; main()", "indexer")


def environment(folder, rpc_url):
    return {
        "HOLDFAST_DATA_DIR": str(folder),
        "HOLDFAST_RPC_URL": rpc_url,
        "HOLDFAST_CONTRACT_DID_REGISTRY": "0x" + REGISTRY.hex(),
        "HOLDFAST_CONTRACT_APP_FACTORY": "0x" + FACTORY.hex(),
        "HOLDFAST_INDEXER_POLL_SECONDS": "0.02",
        "HOLDFAST_INDEXER_BEHIND_SECONDS": "0",
    }


@asynccontextmanager
async def process(folder, rpc_url, port, *, by_file=False):
    """Run `holdfast indexer` with an environment and an option, or with a file of settings alone."""
    given, words = environment(folder, rpc_url), ["--port", str(port)]
    if by_file:
        file = folder / "settings.env"
        lines = {**given, "HOLDFAST_INDEXER_PORT": str(port)}.items()
        file.write_text("".join(f"{name}={value}\n" for name, value in lines))
        given, words = {}, ["--env-file", str(file)]
    child = await asyncio.create_subprocess_exec(
        *COMMAND, *words, env={**os.environ, **given}, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.communicate()  # read the pipe to its end, so that the loop does not have to


async def healthy(session, url):
    async with asyncio.timeout(60):
        while True:
            try:
                async with session.get(url + "/health") as answer:
                    if (await answer.json()).get("ok"):
                        break
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.05)
    async with session.get(url + "/api/stats") as answer:
        return await answer.json()


async def test_the_log_of_a_process_quotes_neither_the_endpoint_nor_its_address(tmp_path):
    """An endpoint may repeat the URL, with the API key, in an error message, so only the error's code is logged."""
    asked = asyncio.Event()

    def refuse(request, body):
        asks = json.loads(body)
        error = {"code": -32001, "message": f"key hunter2 of {request.url} is not known"}
        every = asks if isinstance(asks, list) else [asks]
        answers = [{"jsonrpc": "2.0", "id": each["id"], "error": error} for each in every]
        asked.set()
        return web.json_response(answers if isinstance(asks, list) else answers[0])

    async with upstream() as served:
        served.answer = refuse
        async with process(tmp_path, f"{served.url}/hunter2", free_port()) as child:
            lines = []
            async with asyncio.timeout(60):
                await asked.wait()
                while not any(b"step failed" in line for line in lines):
                    lines.append(await child.stderr.readline())
            log = b"".join(lines)
    assert b"the endpoint answers with error -32001" in log
    assert b"hunter2" not in log


async def test_a_process_that_was_killed_goes_on_where_it_was_and_ends_when_told(tmp_path, busy_chain):
    port = free_port()
    async with endpoint(busy_chain) as rpc_url, aiohttp.ClientSession() as session:
        async with process(tmp_path, rpc_url, port) as child:
            stats = await healthy(session, f"http://127.0.0.1:{port}")
            assert stats["total_dids"] == len(busy_chain.ledger.dids) > 0
            child.kill()
            await child.wait()
        busy_chain.reorg(5, 9)
        async with process(tmp_path, rpc_url, port, by_file=True) as child:
            stats = await healthy(session, f"http://127.0.0.1:{port}")
            child.send_signal(signal.SIGTERM)
            async with asyncio.timeout(60):
                _, log = await child.communicate()
    assert (stats["total_dids"], stats["last_block_number"]) == (
        len(busy_chain.ledger.dids),
        len(busy_chain.blocks) - 1,
    )
    assert child.returncode == 0
    assert b"indexer: stopped" in log
    assert rpc_url.encode() not in log


async def test_a_taken_port_is_one_clear_line(tmp_path, chain):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with endpoint(chain) as rpc_url, process(tmp_path, rpc_url, port) as child:
            async with asyncio.timeout(60):
                _, log = await child.communicate()
    assert child.returncode == 4
    assert f"cannot listen on 127.0.0.1 port {port}".encode() in log
    assert b"Traceback" not in log


async def test_a_wrong_setting_is_one_clear_line(tmp_path):
    async with process(tmp_path, "nonsense", free_port()) as child:
        _, log = await child.communicate()
    assert child.returncode == 3
    assert log.strip() == b"holdfast: HOLDFAST_RPC_URL: an http:// or https:// address is needed"


@pytest.mark.parametrize("with_lifespan", [True, False])
async def test_the_services_binding_follows(tmp_path, monkeypatch, *, with_lifespan):
    chain = FakeChain(random.Random(9))
    for _ in range(20):
        chain.mine(3)
    async with endpoint(chain) as rpc_url:
        for name, value in environment(tmp_path, rpc_url).items():
            monkeypatch.setenv(name, value)
        app = LazyApp()
        binding = IndexerBinding(app)
        if with_lifespan:
            await binding.start()
        async with asyncio.timeout(60):
            while not json.loads((await binding.get("/health", "", {})).body)["ok"]:
                await asyncio.sleep(0.01)
        answer = await binding.get("/api/dids", "limit=3&active=true", {"Accept": "application/json"})
        assert answer.status == 200
        assert len(json.loads(answer.body)["dids"]) == 3
        assert (await binding.get("/api/dids", "limit=x", {})).status == 400
        await (binding.stop() if with_lifespan else app.built.stop())
        assert not [task for task in asyncio.all_tasks() if task.get_name() == "holdfast-indexer"]


async def test_a_binding_with_a_wrong_setting_says_so(monkeypatch, caplog):
    monkeypatch.setenv("HOLDFAST_INDEXER_START_BLOCK", "never")
    binding = IndexerBinding(LazyApp())
    await binding.start()
    answer = await binding.get("/health", "", {})
    assert (answer.status, json.loads(answer.body)) == (503, {"error": "indexer_not_configured"})
    assert "HOLDFAST_INDEXER_START_BLOCK: a whole number from 0" in caplog.text
    await binding.stop()


async def test_a_binding_logs_that_an_application_did_not_start_without_the_words_of_its_error(caplog):
    async def failing(_scope, receive, send):
        await receive()
        trace = "Traceback (most recent call last):\n  …\nValueError: https://rpc.example/KEY"
        await send({"type": "lifespan.startup.failed", "message": trace})

    await IndexerBinding(failing).start()
    (record,) = [record for record in caplog.records if record.message == "the indexer did not start"]
    assert record.why == "ValueError"
