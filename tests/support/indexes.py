"""Functions that create an index on a store, and return its actual and expected contents, for the indexer's tests."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from typing import Any

from tests.support.fake_chain import CHAIN_ID, FACTORY, REGISTRY, FakeChain, Ledger

from holdfast.indexer.answers import Answers
from holdfast.indexer.events import Decoder
from holdfast.indexer.follower import Follower, FollowOptions, Step
from holdfast.indexer.progress import FollowProgress
from holdfast.indexer.queries import ListQuery
from holdfast.indexer.reader import ChainMoved, RangeReader
from holdfast.indexer.sqlite_store import SqliteIndexStore
from holdfast.indexer.transfers import TransferReader
from holdfast.wire.keccak import checksum_address

OPTIONS = FollowOptions(chain_id=CHAIN_ID, poll_s=0.01, behind_patience_s=0.0)


def follower(rpc: Any, store: SqliteIndexStore, options: FollowOptions = OPTIONS, **more: Any) -> Follower:
    return Follower(RangeReader(rpc, Decoder(REGISTRY, FACTORY)), store, options, **more)


async def catch_up(follower: Follower) -> None:
    for _ in range(10_000):
        with suppress(ChainMoved):
            if await follower.step() is Step.CURRENT:
                return
    raise AssertionError("the follower does not arrive")


async def ask(store: SqliteIndexStore, path: str, query: str = "") -> Any:
    nothing = TransferReader(FakeChain(random.Random(0)), None, 0)
    answers = Answers(store, CHAIN_ID, lambda: True, lambda: FollowProgress(0, 0, 0, 0.0, 0), nothing)
    return json.loads(await answers.body(path, query.encode()))


async def whole_list(store: SqliteIndexStore, name: str, query: str = "", limit: int = 200) -> list[Any]:
    rows: list[Any] = []
    cursor = ""
    while True:
        page = await ask(store, f"/api/{name}", "&".join(filter(None, [query, f"limit={limit}", cursor])))
        rows += page[name]
        if page["next_cursor"] is None:
            return rows
        cursor = f"cursor={page['next_cursor']}"


async def contents(store: SqliteIndexStore) -> dict[str, Any]:
    lists = {name: await whole_list(store, name) for name in ("dids", "aliases", "accounts", "events")}
    return {**lists, "owners": await owners(store, lists), "stats": await ask(store, "/api/stats")}


async def owners(store: SqliteIndexStore, lists: dict[str, list[Any]]) -> dict[str, set[str]]:
    """Return the accounts of each key that ever owned one and still does."""
    told = [event.get("key_owner", event.get("owner_address")) for event in lists["events"]]
    found: dict[str, set[str]] = {}
    for key in {each[2:].lower() for each in told if each}:
        rows = await store.accounts(ListQuery("accounts", (("key_owner", bytes.fromhex(key)),), limit=1_000_000))
        found |= {key: {row.account_address.hex() for row in rows}} if rows else {}
    return found


def expected(ledger: Ledger, last_block: int) -> dict[str, Any]:
    """Return what the index should serve, without events and with lists sorted by key."""
    dids = [
        {
            "found": True,
            "did_hash": "0x" + did.hex(),
            "controller": checksum_address(row["controller"]),
            "metadata_cid": row["cid"],
            "active": row["active"],
            "block_number": str(row["block"]),
            "tx_hash": "0x" + row["tx"].hex(),
        }
        for did, row in sorted(ledger.dids.items())
    ]
    aliases = [
        {
            "found": True,
            "alias_hash": "0x" + alias.hex(),
            "did_hash": "0x" + row["did"].hex(),
            "active": row["active"],
            "controller": checksum_address(ledger.dids[row["did"]]["controller"]),
        }
        for alias, row in sorted(ledger.aliases.items())
    ]
    accounts = [
        {
            "found": True,
            "account_address": checksum_address(account),
            "owner_address": checksum_address(row["owner"]),
            "block_number": str(row["block"]),
            "tx_hash": "0x" + row["tx"].hex(),
        }
        for account, row in sorted(ledger.accounts.items())
    ]
    owned: dict[str, set[str]] = {}
    for account, row in ledger.accounts.items():
        for key in row["owners"]:
            owned.setdefault(key.hex(), set()).add(account.hex())
    stats = {
        "total_dids": len(dids),
        "active_dids": sum(row["active"] for row in ledger.dids.values()),
        "total_aliases": len(aliases),
        "total_accounts": len(accounts),
        "last_block_number": last_block,
    }
    return {"dids": dids, "aliases": aliases, "accounts": accounts, "owners": owned, "stats": stats}


def by_key(held: dict[str, Any]) -> dict[str, Any]:
    keys = {"dids": "did_hash", "aliases": "alias_hash", "accounts": "account_address"}
    lists = {name: _sorted(held[name], key) for name, key in keys.items()}
    return {**lists, "owners": held["owners"], "stats": held["stats"]}


def _sorted(rows: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: str(row[key]).lower())
