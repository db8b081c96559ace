"""The event loop behind the blocking classes: threads, interruptions, callbacks, forks."""

import asyncio
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from tests.support.running_service import json_server

import holdfast
from holdfast.client.blocking.loop import run
from holdfast.client.blocking.service_client import ServiceClient
from holdfast.client.callbacks import answered, outside

STATUS = {"chain": "Base Sepolia", "chainId": 84532, "rpc": "https://r", "database": "connected"}


def test_all_calls_share_one_loop_in_another_thread():
    async def where():
        return asyncio.get_running_loop(), threading.current_thread()

    with ThreadPoolExecutor(4) as pool:
        found = {run(where()), *pool.map(lambda _: run(where()), range(8))}
    [(_, thread)] = found
    assert thread is not threading.current_thread()
    assert thread.daemon


def test_callbacks_run_in_the_calling_thread_and_may_block_call_or_be_coroutine_functions():
    def ask(question):
        assert threading.current_thread() is threading.main_thread()
        time.sleep(0.01)
        return f"{question}, {run(answer())}"

    async def answer():
        return "answered"

    async def flow():
        return await answered(ask, "asked"), await outside(ask, "outside"), await answered(answer)

    assert run(flow()) == ("asked, answered", "outside, answered", "answered")


def test_under_asyncio_callbacks_stay_in_the_loop_and_what_blocks_leaves_it():
    async def flow():
        here = threading.current_thread()
        return await answered(threading.current_thread) is here, await outside(threading.current_thread) is here

    assert asyncio.run(flow()) == (True, False)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, LookupError])
def test_what_a_callback_raises_ends_the_call_alone(raised):
    seen = []

    def stop():
        raise raised

    async def flow():
        try:
            await answered(stop)
        except BaseException as error:
            seen.append(type(error))
            raise

    for _ in range(2):
        with pytest.raises(raised):
            run(flow())
    assert seen == [raised] * 2
    assert run(asyncio.sleep(0, "alive")) == "alive"


@pytest.fixture
def interruptible():
    """Make SIGINT raise KeyboardInterrupt, although shells make background processes ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_cancels_and_waits_for_the_end():
    seen = []

    async def flow():
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    with pytest.raises(KeyboardInterrupt):
        run(flow())
    assert seen == ["cancelled"]


def test_in_the_loops_own_thread_it_says_so():
    async def flow():
        return run(asyncio.sleep(0))

    with pytest.raises(RuntimeError, match="use the asynchronous classes"):
        run(flow())


def test_the_blocking_client_works_where_an_event_loop_runs():
    async def application():
        with json_server(lambda *_: (200, STATUS)) as url, ServiceClient(url) as client:
            return client.status().chain_id

    assert asyncio.run(application()) == 84532


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_a_loop_and_connections_of_its_own():
    with json_server(lambda *_: (200, STATUS)) as url, ServiceClient(url) as client, holdfast.Vault() as vault:
        assert client.status().chain_id == 84532
        child = os.fork()
        if child == 0:
            os._exit(_as_child(client, vault))
        assert os.waitpid(child, 0)[1] == 0
        assert client.status().chain_id == 84532
        assert vault.status().initialized is False


def _as_child(client, vault):
    """Return 0 if the client works and the vault reports that it stayed with the parent."""
    try:
        client.status()
        vault.status()
    except holdfast.PluginCallError as error:
        return 0 if "process" in str(error) else 2
    except BaseException:  # noqa: BLE001 - the exit code tells the parent
        return 3
    return 1


def test_a_transport_that_only_blocks_is_refused():
    with pytest.raises(TypeError, match="AsyncBaseTransport"):
        ServiceClient("http://s", transport=httpx2.WSGITransport(app=None))
