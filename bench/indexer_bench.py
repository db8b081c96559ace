"""`python -m bench indexer`: how fast events are indexed, in how much memory, and what a read costs.

The chain's endpoint runs in another process, so that only the indexer's own memory is measured. The endpoint serves
prepared JSON over HTTP, like a chain node without network delay. `python -m bench.indexer_bench --anvil` measures the
real chain, too; `--events` sets the number of events.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp import web
from tests.support import anvil as anvils
from tests.support.availability import why_no_chain
from tests.support.fake_chain import FACTORY, REGISTRY, FakeChain, text_data, topic, word

from bench.report import number
from holdfast.chain.rpc import RpcClient
from holdfast.chain.transports import AiohttpTransport
from holdfast.indexer.answers import Answers
from holdfast.indexer.events import Decoder
from holdfast.indexer.follower import Follower, FollowOptions, Step
from holdfast.indexer.progress import FollowProgress
from holdfast.indexer.reader import RangeReader
from holdfast.indexer.sqlite_store import SqliteIndexStore
from holdfast.indexer.transfers import TransferReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.options import Options
    from bench.report import Report

    Seen = Callable[["Case", dict[str, float], dict[str, float]], None]

ROOT = Path(__file__).resolve().parents[1]
EVENTS_PER_BLOCK = 5
READS = 2_000


@dataclass(frozen=True)
class Case:
    """One case to measure: a store that is filled from an endpoint."""

    name: str
    store: str
    endpoint: str
    registry: str = REGISTRY.hex()
    factory: str = FACTORY.hex()


class PreparedChain:
    """Blocks of registrations with aliases and accounts, as JSON that is ready to send."""

    def __init__(self, events: int) -> None:
        self._rng = random.Random(1)
        self._head = events // EVENTS_PER_BLOCK
        self._logs = [""] + [",".join(self._block(number)) for number in range(1, self._head + 1)]

    def _block(self, number: int) -> list[str]:
        logs: list[str] = []
        for index in range(EVENTS_PER_BLOCK):
            did, controller = self._rng.randbytes(32), self._rng.randbytes(20)
            kind = ("DidRegistered(bytes32,address,string)", [did, controller], text_data(b"bafy" + b"x" * 55))
            if index % EVENTS_PER_BLOCK in {1, 3}:
                kind = ("AliasRegistered(bytes32,bytes32,address)", [self._rng.randbytes(32), did, controller], "")
            logs.append(self._log(number, index, *kind))
        return logs

    def _log(self, number: int, index: int, signature: str, topics: list[bytes], data: str) -> str:
        return json.dumps(
            {
                "address": "0x" + REGISTRY.hex(),
                "topics": [topic(signature), *("0x" + word(each) for each in topics)],
                "data": "0x" + data,
                "blockNumber": hex(number),
                "blockHash": self._hash(number),
                "transactionHash": "0x" + self._rng.randbytes(32).hex(),
                "logIndex": hex(index),
            }
        )

    @staticmethod
    def _hash(number: int) -> str:
        return "0x" + word(number + 1)

    def answer(self, method: str, params: list[Any]) -> str:
        if method == "eth_chainId":
            return '"0x14a34"'
        if method == "eth_getBlockByNumber":
            number = self._head if params[0] == "latest" else int(params[0], 16)
            parent = "0x" + word(number)
            return json.dumps({"number": hex(number), "hash": self._hash(number), "parentHash": parent})
        if "address" not in params[0]:
            return "[]"  # no account on this chain has changed its key
        first, last = self._range(params[0])
        return f"[{','.join(filter(None, self._logs[first : last + 1]))}]"

    @staticmethod
    def _range(criteria: dict[str, str]) -> tuple[int, int]:
        if "blockHash" in criteria:
            number = int(criteria["blockHash"], 16) - 1
            return number, number
        return int(criteria["fromBlock"], 16), int(criteria["toBlock"], 16)

    async def handle(self, request: web.Request) -> web.Response:
        asked = await request.json()
        envelopes = [
            f'{{"jsonrpc":"2.0","id":{each["id"]},"result":{self.answer(each["method"], each["params"])}}}'
            for each in (asked if isinstance(asked, list) else [asked])
        ]
        text = f"[{','.join(envelopes)}]" if isinstance(asked, list) else envelopes[0]
        return web.Response(text=text, content_type="application/json")


def serve(events: int) -> None:
    """Serve the prepared chain: print the port, then respond until killed."""

    async def run() -> None:
        application = web.Application()
        application.router.add_post("/", PreparedChain(events).handle)
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        sys.stdout.write(f"{runner.addresses[0][1]}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()

    asyncio.run(run())


def open_store(where: str) -> SqliteIndexStore:
    return SqliteIndexStore(Path(where))


async def measure(case: Case) -> dict[str, float]:
    """Fill the store as the indexer does, then read from it, and return the figures."""
    store = open_store(case.store)
    await store.open("bench")
    async with aiohttp.ClientSession() as session:
        rpc = RpcClient(case.endpoint, AiohttpTransport(session))
        decoder = Decoder(bytes.fromhex(case.registry), bytes.fromhex(case.factory))
        follower = Follower(RangeReader(rpc, decoder), store, FollowOptions(chain_id=84532))
        before = _memory_mb()
        started, cpu = time.perf_counter(), time.process_time()
        while await follower.step() is not Step.CURRENT:
            pass
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    events, figures = await _reads(store)
    await store.close()
    peak = _memory_mb()
    return {"events": events, "seconds": seconds, "cpu": cpu, "before": before, "peak": peak, **figures}


async def _reads(store: SqliteIndexStore) -> tuple[int, dict[str, float]]:
    transfers = TransferReader(FakeChain(random.Random(0)), None, 0)
    answers = Answers(store, 84532, lambda: True, lambda: FollowProgress(0, 0, 0, 0.0, 0), transfers)
    events = 0
    cursor: str | None = ""
    started = time.perf_counter()
    while cursor is not None:
        body = json.loads(await answers.body("/api/events", f"limit=200{cursor}".encode()))
        events += len(body["events"])
        cursor = None if body["next_cursor"] is None else f"&cursor={body['next_cursor']}"
    pages = time.perf_counter() - started
    names = [row["did_hash"] for row in json.loads(await answers.body("/api/dids", b"limit=200"))["dids"]]
    started = time.perf_counter()
    for turn in range(READS):
        await answers.body(f"/api/dids/{names[turn % len(names)]}", b"")
    point = time.perf_counter() - started
    return events, {"point_us": point / READS * 1e6, "row_us": pages / events * 1e6}


def _memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_case(case: Case) -> dict[str, float]:
    arguments = ["--child", case.name, case.store, case.endpoint, case.registry, case.factory]
    done = subprocess.run(
        [sys.executable, "-m", "bench.indexer_bench", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout))


def show(case: Case, figures: dict[str, float], first: dict[str, float]) -> None:
    rate, base = figures["events"] / figures["seconds"], first["events"] / first["seconds"]
    print(
        f"{case.name:22} {figures['events']:>7.0f} events {rate:>8.0f}/s (x{rate / base:.2f})"
        f" {figures['cpu'] / figures['events'] * 1e6:>5.0f} us CPU/event"
        f" memory {figures['before']:.0f} -> {figures['peak']:.0f} MB"
        f" | point read {figures['point_us']:.0f} us, listed row {figures['row_us']:.1f} us",
        flush=True,
    )


async def fill_anvil(anvil: anvils.Anvil, events: int) -> None:
    """Register DIDs in the real registry, each with a commitment and an alias, which produces two events per DID."""
    each = 250
    for _ in range(events // 2 // each):
        claims = [
            (f"did:web:{anvil.rng.randbytes(8).hex()}", anvil.rng.randbytes(32), anvil.rng.randbytes(20))
            for _ in range(each)
        ]
        for send in (_commitment, _registration):
            for start in range(0, each, 50):
                await asyncio.gather(*(send(anvil, *claim) for claim in claims[start : start + 50]))
                await anvil.mine()


async def _commitment(anvil: anvils.Anvil, did: str, alias: bytes, controller: bytes) -> None:
    # Anyone may send a commitment; here each claimant sends its own, so that claims need not queue for one sender's
    # nonces.
    await anvil.send(controller, anvils.REGISTRY, anvils.commit(did, alias, controller))


async def _registration(anvil: anvils.Anvil, did: str, alias: bytes, controller: bytes) -> None:
    data = anvils.register_foreign(did, alias, "bafy" + "x" * 55)
    await anvil.send(controller, anvils.REGISTRY, data)


async def measure_anvil(folder: Path, events: int, first: dict[str, float]) -> None:
    if why := why_no_chain():
        print(f"{why}: not measured")
        return
    async with anvils.running(random.Random(1)) as anvil:
        await fill_anvil(anvil, events)
        case = Case("sqlite, anvil", str(folder / "anvil.db"), anvil.url, anvils.REGISTRY.hex(), anvils.FACTORY.hex())
        show(case, await asyncio.to_thread(run_case, case), first)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.indexer_bench", description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--anvil", action="store_true", help="also index the real contracts' events from anvil")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    words = parser.parse_args(arguments)
    if words.child:
        print(json.dumps(asyncio.run(measure(Case(*words.child)))))
    elif words.serve:
        serve(words.events)
    else:
        compare(words)
    return 0


def run(options: Options, report: Report) -> None:
    """Run the scenario `indexer`: index `rows` events in each store, in turn."""
    rows: list[list[str]] = []

    def keep(case: Case, figures: dict[str, float], first: dict[str, float]) -> None:
        rate, base = figures["events"] / figures["seconds"], first["events"] / first["seconds"]
        values = (figures["cpu"] / figures["events"] * 1e6, figures["peak"], figures["point_us"], figures["row_us"])
        rows.append([case.name, number(rate), number(rate / base), *map(number, values)])

    compare(argparse.Namespace(events=options.rows, repeat=options.alternations, anvil=False), keep)
    head = ("store", "events a second", "times the first", "CPU us an event", "peak MB", "point read us", "row us")
    report.table(f"Indexing {options.rows:,} events", head, rows)


def compare(words: argparse.Namespace, seen: Seen = show) -> None:
    """Measure the stores in turn, so that other load slows all of them alike, and each in a separate process."""
    command = [sys.executable, "-m", "bench.indexer_bench", "--serve", "--events", str(words.events)]
    with tempfile.TemporaryDirectory() as name, subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as endpoint:
        try:
            assert endpoint.stdout is not None
            url = f"http://127.0.0.1:{int(endpoint.stdout.readline())}/"
            first = turns(Path(name), url, words.repeat, seen)
            if words.anvil:
                asyncio.run(measure_anvil(Path(name), words.events, first))
        finally:
            endpoint.kill()


def turns(folder: Path, url: str, repeat: int, seen: Seen) -> dict[str, float]:
    """Measure repeatedly; return the first figures, with which those of every other turn are compared."""
    first: dict[str, float] = {}
    for turn in range(repeat):
        case = Case("sqlite", str(folder / f"{turn}.db"), url)
        figures = run_case(case)
        first = first or figures
        seen(case, figures, first)
    return first


if __name__ == "__main__":
    raise SystemExit(main())
