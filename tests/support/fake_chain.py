"""A simulated chain with JSON-RPC, the registry's rules, reorganisations, and endpoints that misbehave in every way.

The simulated chain shares no code with the indexer: events are encoded by hand, and `Ledger` says what the index should
contain.
"""

from __future__ import annotations

import copy
import hashlib
import random
from dataclasses import dataclass, field
from typing import Any

from holdfast.chain.errors import RpcError
from holdfast.wire.keccak import keccak256

REGISTRY = bytes.fromhex("11" * 20)
FACTORY = bytes.fromhex("22" * 20)
CHAIN_ID = 84532
GENESIS_S = 1_800_000_000  # the first block's time; one block every two seconds
KEY_CHANGED = "PublicKeyChanged(uint256,uint256)"
OWNER_ADDED, OWNER_REMOVED = "OwnerAdded(bytes32,bytes,uint48)", "OwnerRemoved(bytes32)"
RECOVERED = "RecoveryFinished(uint32)"


def topic(signature: str) -> str:
    return "0x" + keccak256(signature.encode()).hex()


def word(value: bytes | int) -> str:
    data = value.to_bytes(32, "big") if isinstance(value, int) else value.rjust(32, b"\0")
    return data.hex()


def text_data(text: bytes) -> str:
    return word(32) + word(len(text)) + text.hex() + "00" * (-len(text) % 32)


@dataclass
class Ledger:
    """The expected state of the registry and the factory after all events so far, with which the index is compared."""

    dids: dict[bytes, dict[str, Any]] = field(default_factory=dict)
    aliases: dict[bytes, dict[str, Any]] = field(default_factory=dict)
    accounts: dict[bytes, dict[str, Any]] = field(default_factory=dict)
    events: int = 0
    others_changes: int = 0  # logs that look like new owners, from contracts that are not accounts


@dataclass
class FakeBlock:
    number: int
    hash: bytes
    logs: list[dict[str, Any]]
    after: Ledger


def _matches(topics: list[str], wanted: list[Any]) -> bool:
    """Whether each topic is the wanted one, one of several, or any (None)."""
    return len(topics) >= len(wanted) and all(
        it is None or topic in ([it] if isinstance(it, str) else it) for topic, it in zip(topics, wanted, strict=False)
    )


class FakeChain:
    """A simulated chain; `call` serves JSON-RPC requests, and all random choices come from `rng`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.salt = 0
        self.calls: list[str] = []
        self.blocks: list[FakeBlock] = []
        self.mine(0)

    @property
    def ledger(self) -> Ledger:
        return self.blocks[-1].after

    def mine(self, writes: int) -> FakeBlock:
        number = len(self.blocks)
        self.salt += 1
        block_hash = hashlib.sha256(f"{number}:{self.salt}".encode()).digest()
        after = copy.deepcopy(self.blocks[-1].after) if self.blocks else Ledger()
        block = FakeBlock(number, block_hash, [], after)
        for _ in range(writes):
            self._write(block)
        self.blocks.append(block)
        return block

    def rollback(self, depth: int) -> None:
        del self.blocks[max(1, len(self.blocks) - depth) :]

    def reorg(self, depth: int, new: int, writes: int = 2) -> None:
        self.rollback(depth)
        for _ in range(new):
            self.mine(self.rng.randrange(writes + 1))

    def replace(self) -> None:
        length = len(self.blocks)
        self.blocks = []
        for _ in range(self.rng.randrange(1, length + 3)):
            self.mine(self.rng.randrange(3))

    async def call(self, method: str, params: list[Any]) -> Any:
        self.calls.append(method)
        answer = self.hook(method, params)
        return self.answer(method, params, self.blocks) if answer is ... else answer

    def hook(self, _method: str, _params: list[Any]) -> Any:
        """Answer a call in place of the chain, or return `...`; tests replace this to simulate an endpoint."""
        return ...

    def answer(self, method: str, params: list[Any], blocks: list[FakeBlock]) -> Any:
        if method == "eth_chainId":
            return hex(CHAIN_ID)
        if method == "eth_getBlockByNumber":
            return self._block(params[0], blocks)
        if method == "eth_getLogs":
            return self._logs(params[0], blocks)
        raise RpcError("method not found", -32601)

    @staticmethod
    def _block(which: str, blocks: list[FakeBlock]) -> dict[str, str] | None:
        number = len(blocks) - 1 if which == "latest" else int(which, 16)
        if not 0 <= number < len(blocks):
            return None
        parent = blocks[number - 1].hash if number else bytes(32)
        hashes = {"hash": "0x" + blocks[number].hash.hex(), "parentHash": "0x" + parent.hex()}
        return {"number": hex(number), "timestamp": hex(GENESIS_S + 2 * number), **hashes}

    @staticmethod
    def _logs(criteria: dict[str, Any], blocks: list[FakeBlock]) -> list[dict[str, Any]]:
        addresses = criteria.get("address")
        if "blockHash" in criteria:
            chosen = [block for block in blocks if "0x" + block.hash.hex() == criteria["blockHash"]]
            if not chosen:
                raise RpcError("unknown block", -32001)
        else:
            chosen = blocks[int(criteria["fromBlock"], 16) : int(criteria["toBlock"], 16) + 1]
        return [
            log
            for block in chosen
            for log in block.logs
            if (addresses is None or log["address"] in addresses) and _matches(log["topics"], criteria["topics"])
        ]

    # Every random write follows the registry's rules, so that the contract would allow the resulting state.

    def _write(self, block: FakeBlock) -> None:
        ledger = block.after
        choices = [self._register, self._register, self._account, self._stranger]
        if ledger.dids:
            choices += [self._metadata, self._did_status, self._controller, self._further_alias]
        if ledger.aliases:
            choices += [self._alias_status]
        if ledger.accounts:
            choices += [self._key_change, self._second_owner, self._recovery]
        self.rng.choice(choices)(block)

    def _register(self, block: FakeBlock) -> None:
        did, controller = self.rng.randbytes(32), self.rng.randbytes(20)
        cid = self.rng.choice([b"", b"bafy" + self.rng.randbytes(4).hex().encode(), b"nul\0\xff", "ä€".encode()])
        tx = self.emit(block, "DidRegistered(bytes32,address,string)", [did, controller], text_data(cid))
        shown = cid.decode("utf-8", "replace").replace("\0", "\ufffd")
        block.after.dids[did] = {
            "controller": controller, "cid": shown, "active": True, "block": block.number, "tx": tx,
        }  # fmt: skip
        if self.rng.random() < 0.6:
            self._alias(block, did, controller, tx)

    def _alias(self, block: FakeBlock, did: bytes, controller: bytes, tx: bytes | None = None) -> None:
        alias = self.rng.randbytes(32)
        self.emit(block, "AliasRegistered(bytes32,bytes32,address)", [alias, did, controller], "", tx)
        block.after.aliases[alias] = {"did": did, "active": True}

    def _further_alias(self, block: FakeBlock) -> None:
        did = self._any(block.after.dids)
        self._alias(block, did, block.after.dids[did]["controller"])

    def _metadata(self, block: FakeBlock) -> None:
        did = self._any(block.after.dids)
        cid = self.rng.randbytes(20).hex()
        self.emit(block, "DidMetadataUpdated(bytes32,string)", [did], text_data(cid.encode()))
        block.after.dids[did]["cid"] = cid

    def _did_status(self, block: FakeBlock) -> None:
        did, active = self._any(block.after.dids), self.rng.random() < 0.4
        self.emit(block, "DidStatusChanged(bytes32,bool)", [did], word(int(active)))
        block.after.dids[did]["active"] = active

    def _controller(self, block: FakeBlock) -> None:
        did, new = self._any(block.after.dids), self.rng.randbytes(20)
        old = block.after.dids[did]["controller"]
        self.emit(block, "DidControllerProposed(bytes32,address,address)", [did, old, new], "")
        self.emit(block, "DidControllerChanged(bytes32,address,address)", [did, old, new], "")
        block.after.dids[did]["controller"] = new

    def _alias_status(self, block: FakeBlock) -> None:
        alias, active = self._any(block.after.aliases), self.rng.random() < 0.4
        self.emit(block, "AliasStatusChanged(bytes32,bool)", [alias], word(int(active)))
        block.after.aliases[alias]["active"] = active

    def _account(self, block: FakeBlock) -> None:
        free = [d["controller"] for d in block.after.dids.values() if d["controller"] not in block.after.accounts]
        account, owner = self.rng.choice([*free, self.rng.randbytes(20)]), self.rng.randbytes(20)
        data = word(7) + word(8) + word(9)
        tx = self.emit(
            block, "AccountCreated(address,address,uint256,uint256,uint256)", [account, owner], data, address=FACTORY
        )
        # An owner's ID has 32 bytes, of which events and lists show the last 20.
        block.after.accounts[account] = {"owner": owner, "owners": [owner], "block": block.number, "tx": tx}

    def _key_change(self, block: FakeBlock) -> None:
        """Replace the first of an account's owners, as setPublicKey does."""
        account = self._any(block.after.accounts)
        owners, key = block.after.accounts[account]["owners"], self.rng.randbytes(64)
        self.change_key(block, account, owners[0], key)
        block.after.accounts[account]["owners"] = [keccak256(key)[12:], *owners[1:]]

    def change_key(self, block: FakeBlock, account: bytes, before: bytes, key: bytes) -> None:
        self.add_owner(block, account, key)
        self.emit(block, OWNER_REMOVED, [before], "", address=account)
        self.emit(block, KEY_CHANGED, [], key.hex(), address=account)

    def add_owner(self, block: FakeBlock, account: bytes, key: bytes) -> None:
        self.emit(block, OWNER_ADDED, [keccak256(key)], word(64) + word(0) + word(64) + key.hex(), address=account)

    def _second_owner(self, block: FakeBlock) -> None:
        account, key = self._any(block.after.accounts), self.rng.randbytes(64)
        self.add_owner(block, account, key)
        row = block.after.accounts[account]
        row["owners"] = [*row["owners"], keccak256(key)[12:]]

    def _recovery(self, block: FakeBlock) -> None:
        account, key = self._any(block.after.accounts), self.rng.randbytes(64)
        self.emit(block, RECOVERED, [b"\x01"], "", address=account)
        self.add_owner(block, account, key)
        self.emit(block, KEY_CHANGED, [], key.hex(), address=account)
        block.after.accounts[account]["owners"] = [keccak256(key)[12:]]

    def _stranger(self, block: FakeBlock) -> None:
        """Emit a log that the indexer must ignore: from a different contract or event, or malformed."""
        address, signature = self.rng.choice(
            [
                (b"\x33" * 20, "DidRegistered(bytes32,address,string)"),
                (REGISTRY, "Committed(bytes32)"),
                (FACTORY, "DidStatusChanged(bytes32,bool)"),
                (REGISTRY, "DidMetadataUpdated(bytes32,string)"),
                (self._no_account(block), OWNER_ADDED),
            ]
        )
        if signature == OWNER_ADDED:
            self.add_owner(block, address, self.rng.randbytes(64))
            block.after.events -= 1
            block.after.others_changes += 1
            return
        data = self.rng.choice(["", word(2**255), word(32) + word(2**64), word(32) + word(5) + "aa"])
        self.emit(block, signature, [self.rng.randbytes(32)], data, address=address)
        block.after.events -= 1

    def _no_account(self, block: FakeBlock) -> bytes:
        held = (did["controller"] for did in block.after.dids.values())
        free: list[bytes] = [each for each in held if each not in block.after.accounts]
        return self.rng.choice([*free, REGISTRY, self.rng.randbytes(20)])

    def transfer(self, sender: bytes, recipient: bytes, amount: int, token: bytes) -> bytes:
        parties = [sender.rjust(32, b"\0"), recipient.rjust(32, b"\0")]
        return self.emit(self.mine(0), "Transfer(address,address,uint256)", parties, word(amount), address=token)

    def emit(
        self,
        block: FakeBlock,
        signature: str,
        topics: list[bytes],
        data: str,
        tx: bytes | None = None,
        *,
        address: bytes = REGISTRY,
    ) -> bytes:
        tx = tx or self.rng.randbytes(32)
        block.after.events += 1
        block.logs.append(
            {
                "address": "0x" + address.hex(),
                "topics": [topic(signature), *("0x" + word(each) for each in topics)],
                "data": "0x" + data,
                "blockNumber": hex(block.number),
                "blockHash": "0x" + block.hash.hex(),
                "transactionHash": "0x" + tx.hex(),
                "logIndex": hex(len(block.logs)),
                "removed": False,
            }
        )
        return tx

    def _any(self, rows: dict[bytes, Any]) -> bytes:
        return self.rng.choice(sorted(rows))


class ChaosRpc:
    """An endpoint of the chain that fails, refuses filters, lags, and changes blocks between two calls."""

    def __init__(self, chain: FakeChain) -> None:
        self.chain = chain
        self.calm = False
        self.largest_range = 10**9
        self.wants_addresses = False

    async def call(self, method: str, params: list[Any]) -> Any:
        if self.calm:
            return await self.chain.call(method, params)
        rng = self.chain.rng
        if rng.random() < 0.05:
            raise RpcError("server error", -32000)
        if rng.random() < 0.03:
            self.chain.mine(rng.randrange(4))
        if rng.random() < 0.04:
            depth = rng.choice([1, 2, 5, 20])
            self.chain.reorg(depth, rng.choice([depth, depth + 1, rng.randrange(7)]))
        lag = rng.randrange(1, 4) if rng.random() < 0.03 else 0
        self._refuse(method, params)
        blocks = self.chain.blocks[: max(1, len(self.chain.blocks) - lag)]
        return self.chain.answer(method, params, blocks)

    def _refuse(self, method: str, params: list[Any]) -> None:
        if method == "eth_getLogs" and "fromBlock" in params[0]:
            first, last = int(params[0]["fromBlock"], 16), int(params[0]["toBlock"], 16)
            if last - first >= self.largest_range:
                raise RpcError("query returned more than 10000 results", -32005)
        if method == "eth_getLogs" and self.wants_addresses and "address" not in params[0]:
            raise RpcError("please specify an address in your request", -32701)
