"""What the service's own sponsor approves, reserves and charges, on a chain that these tests control."""

import asyncio
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import msgspec
import pytest
from eth_keys.datatypes import PrivateKey, Signature
from tests.support.api import Clock
from tests.support.store_cases import admit, handle, session

from holdfast.chain import account_calls, calls
from holdfast.chain.abi import call_data, encode
from holdfast.chain.account_calls import PERMISSION, Permission
from holdfast.chain.approvals import Approver, approval_hash
from holdfast.chain.contracts import ADDRESSES, commitment, predict_account
from holdfast.chain.contracts.create2 import clone_code
from holdfast.chain.entry_points import V07
from holdfast.chain.errors import RpcError, UserOperationError
from holdfast.chain.packed_operations import pack
from holdfast.chain.posted_commitments import REGISTRY
from holdfast.chain.transactions import Transaction
from holdfast.chain.user_operations import UserOperation
from holdfast.chain.values import Receipt
from holdfast.client.flows.failures import is_stale
from holdfast.rules.pseudonyms import Pseudonyms
from holdfast.rules.sponsoring import (
    DATA,
    LIMIT_EXCEEDED,
    OF_COMMITMENTS,
    OF_PERMISSIONS,
    SPONSOR,
    STUB,
    VALID_FOR_S,
    SponsorLimits,
)
from holdfast.service.operations import commitment_transactions
from holdfast.service.operations.commitment_transactions import COMMIT_GAS, CommitmentTransactions
from holdfast.service.operations.sponsor import MAX_CALL_DATA_BYTES, Sponsor
from holdfast.service.operations.sponsor_charges import RANGES_AT_ONCE
from holdfast.service.operations.sponsor_settlement import SponsorSettlement
from holdfast.service.store.sponsorships import NewSponsorship, SponsorshipKey
from holdfast.service.store.sqlite.store import SqliteStore
from holdfast.wire.abi import selector
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.errors import BUNDLER_ERROR, Refused
from holdfast.wire.keccak import alias_hash, did_hash, did_of_key, keccak256
from holdfast.wire.requests import CallBundler

CHAIN, USDC, GWEI = 8453, "0x" + "c5" * 20, 10**9
X, Y = 7, 8
DID = did_of_key(X, Y)
ACCOUNT = predict_account(X, Y, 0)
KEY = PrivateKey(b"\x07" * 32)
ZERO = to_hex(bytes(32))
EVENT = keccak256(b"UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)")
GAS = 100_000  # what the bundler estimates for each limit
COST = (3 * GAS + 60_001) * 2  # gwei at a fee of 2 gwei
LIMITS = SponsorLimits(
    did_day=3 * COST, day=5 * COST, contracts={USDC: 4 * COST, REGISTRY.lower(): 4 * COST}, max_fee=5 * GWEI, low=10**7
)


DID_OF, COMMITTED_AT, PUBLIC_KEY, GET_NONCE, PERMISSION_STATE = map(selector, (
    "didOf(address)", "committedAt(bytes32)", "publicKey()", "getNonce(address,uint192)", f"permissionState({PERMISSION})"
))  # fmt: skip


@dataclass
class Chain:
    now: int = 1_800_000_000
    block: int = 100
    deposit: int = 10**18
    dids: dict[str, bytes] = field(default_factory=dict)
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    committed: dict[bytes, int] = field(default_factory=dict)
    nonces: dict[str, int] = field(default_factory=dict)  # of the owners' next operations
    granted: set[bytes] = field(default_factory=set)  # permissions' words
    mined: list[dict[str, Any]] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    hangs: bool = False
    refusal: str = ""
    mines: bool = True
    base_fee: int = GWEI // 2
    waiting: int = 0  # transactions

    async def call(self, method, params=()):
        if self.hangs:
            await asyncio.Event().wait()
        return getattr(self, method)(*params)

    async def block_time(self):
        return self.now

    def eth_getBlockByNumber(self, _number, _full):  # noqa: N802
        return {"number": hex(self.block), "timestamp": hex(self.now), "baseFeePerGas": hex(self.base_fee)}

    def eth_maxPriorityFeePerGas(self):  # noqa: N802
        return hex(GWEI * 4 // 5)

    def eth_getTransactionCount(self, _address, block):  # noqa: N802
        return hex(len(self.sent) - (block == "latest") * self.waiting)

    def eth_sendRawTransaction(self, raw):  # noqa: N802
        if self.refusal:
            raise RpcError(self.refusal, -32000)
        self.sent.append(raw)
        return to_hex(keccak256(from_hex(raw)))

    def eth_getLogs(self, asked):  # noqa: N802
        event, _, senders, paymaster = asked["topics"]
        blocks = range(int(asked["fromBlock"], 16), int(asked["toBlock"], 16) + 1)
        assert (asked["address"], event) == (V07.address, to_hex(EVENT))
        found = [log for log in self.mined if int(log["blockNumber"], 16) in blocks]
        return [log for log in found if log["topics"][2] in senders and log["topics"][3] == paymaster]

    async def eth_call(self, to, data, at_least=32):
        name = data[:4]
        if name == GET_NONCE:
            assert to == V07.address
            key = int.from_bytes(data[36:68])
            return ((key << 64) + (0 if key else self.nonces.get("0x" + data[16:36].hex(), 0))).to_bytes(32)
        if name == PERMISSION_STATE:
            return (data[4:] in self.granted).to_bytes(32) + bytes(4 * 32)
        if name == COMMITTED_AT:
            block = self.committed.get(data[4:36], 0)
            return block.to_bytes(32) + (self.now if block else 0).to_bytes(32)
        if name == DID_OF:
            return self.dids.get("0x" + data[16:36].hex(), bytes(32))
        if name == PUBLIC_KEY:
            return b"".join(word.to_bytes(32) for word in self.keys[to.lower()])
        return self.deposit.to_bytes(32)

    async def get_code(self, address):
        key = self.keys.get(address.lower())
        return b"" if key is None else clone_code(ADDRESSES["VaultAccount"], *key)

    async def get_balance(self, _address):
        return 10**16

    async def chain_id(self):
        return self.id

    async def block_number(self):
        self.block += self.mines
        return self.block

    async def get_transaction_receipt(self, sent):
        return Receipt(from_hex(sent), self.block, bytes(32), True, 46_000, ())

    def use(self, operation, cost, paymaster):
        topics = [EVENT, bytes(32), operation.sender.rjust(32, b"\0"), from_hex(paymaster).rjust(32, b"\0")]
        data = b"".join(word.to_bytes(32) for word in (operation.nonce, 1, cost, 1))
        place = {"blockNumber": hex(self.block), "logIndex": "0x0", "blockHash": ZERO, "transactionHash": ZERO}
        self.mined.append({"address": V07.address, "topics": [*map(to_hex, topics)], "data": to_hex(data), **place})


@dataclass
class Estimates:
    refusal: Exception | None = None
    asked: int = 0

    async def estimated(self, operation, _margin):
        self.asked += 1
        if self.refusal:
            raise self.refusal
        return replace(operation, call_gas_limit=GAS, verification_gas_limit=GAS, pre_verification_gas=GAS)


@dataclass
class World:
    store: SqliteStore
    chain: Chain = field(default_factory=Chain)
    bundler: Estimates = field(default_factory=Estimates)
    clock: Clock = field(default_factory=Clock)
    limits: SponsorLimits = LIMITS
    chain_id: int = CHAIN

    @property
    def sponsor(self):
        chain, bundler = self.chain, self.bundler
        chain.id, max_fee = self.chain_id, self.limits.max_fee
        return Sponsor(
            store=self.store.sponsorships, approver=Approver(KEY, self.chain_id), chain_id=self.chain_id,
            entry_point=V07.address, limits=self.limits, connect=lambda: chain, bundler=lambda: bundler,
            commitments=CommitmentTransactions(self.store, KEY, self.chain_id, lambda: chain, self.clock, max_fee),
            names=Pseudonyms(b"k" * 32), clock=self.clock,
        )  # fmt: skip

    async def ask(self, operation, method=SPONSOR, *more, address="ours"):
        params = [{k: v for k, v in operation.to_rpc().items() if v is not None}, V07.address, *more]
        request = CallBundler(method=method, id=msgspec.Raw(b"7"), params=msgspec.Raw(msgspec.json.encode(params)))
        answer = msgspec.json.decode(await self.sponsor.answer(request, address))
        assert (answer.pop("jsonrpc"), answer.pop("id")) == ("2.0", 7)
        return answer

    async def ask_next(self, operation):
        """Ask for an operation after the account's earlier ones were mined."""
        self.chain.nonces[to_hex(operation.sender)] = operation.nonce
        return await self.ask(operation)

    async def error(self, operation, method=SPONSOR, *more):
        return str((await self.ask(operation, method, *more))["error"]["message"])

    async def spent(self):
        rows = await self.store.sponsorships.spent(self.chain_id, int(self.clock() // 86_400))
        spent = {name: gwei for name, gwei in rows if gwei and not name.endswith((OF_PERMISSIONS, OF_COMMITMENTS))}
        return {("did" if name.startswith("hash ") else name): gwei for name, gwei in spent.items()}

    async def settle(self, depth=0):
        await SponsorSettlement({self.chain_id: self.sponsor}, depth).run()


@pytest.fixture
async def world(tmp_path):
    store = SqliteStore(tmp_path / "holdfast.db")
    await store.open_session(session(did=DID), admit)
    yield World(store)
    await store.close()


def payment(nonce=0, to=USDC, fee=2 * GWEI, x=X):
    return UserOperation(
        sender=from_hex(predict_account(x, Y, 0)), nonce=nonce, call_data=calls.execute((to, 0, b"pay")),
        max_fee_per_gas=fee, max_priority_fee_per_gas=min(fee, GWEI), factory=from_hex(ADDRESSES["AppFactory"]),
        factory_data=calls.create_account(x, Y),
    )  # fmt: skip


def deployed(world, key=(X, Y), at=ACCOUNT, nonce=1):
    """A payment by an account that exists, whose key is `key`."""
    world.chain.keys[at.lower()], world.chain.nonces[at.lower()] = key, nonce
    return replace(payment(nonce), sender=from_hex(at), factory=None, factory_data=None)


def greedy(operation, gwei):
    """The operation with gas limits, as anyone can choose them, at which it may take so much."""
    used = (60_001 + GAS) * operation.max_fee_per_gas
    return replace(
        operation, verification_gas_limit=GAS, call_gas_limit=(gwei * GWEI - used) // operation.max_fee_per_gas
    )


def spending(world, salt=0, *, granted=True):
    """An app's payment by a permission of the account, whose nonce has the permission's key."""
    permission = Permission(key_id=b"\5" * 32, token=USDC, allowance=10**6, period=0, start=0, salt=salt)
    if granted:
        world.chain.granted.add(encode([PERMISSION], [astuple(permission)]))
    data = account_calls.spend(ACCOUNT, permission, "0x" + "aa" * 20, 5)[2]
    return replace(deployed(world), nonce=int.from_bytes(permission.id[:24]) << 64, call_data=data)


def completed(operation, answer):
    return UserOperation.from_rpc({**operation.to_rpc(), **answer["result"]})


async def test_an_operation_of_a_known_did_is_approved_by_every_method_and_its_greatest_cost_reserved(world):
    stub = (await world.ask(payment(), STUB, hex(CHAIN), {}))["result"]
    assert stub["isFinal"] is False and await world.spent() == {}
    limits = dict.fromkeys(("call_gas_limit", "verification_gas_limit", "pre_verification_gas"), GAS)
    final = (await world.ask(replace(payment(), **limits), DATA, hex(CHAIN), None))["result"]
    assert final.keys() == {"paymaster", "paymasterData"} and final["paymaster"] == stub["paymaster"]
    assert len(final["paymasterData"]) == len(stub["paymasterData"]) and (await world.spent())["all"] == COST
    paid = completed(payment(), await world.ask(payment()))
    assert paid.greatest_cost == COST * GWEI
    assert await world.spent() == {"all": COST, "did": COST, f"contract {USDC}": COST}
    data = paid.paymaster_data or b""
    assert int.from_bytes(data[:6]) == world.chain.now + VALID_FOR_S
    digest = keccak256(b"\x19Ethereum Signed Message:\n32" + approval_hash(pack(paid), V07.address, CHAIN, data[:12]))
    signature = Signature(vrs=(data[76] - 27, int.from_bytes(data[12:44]), int.from_bytes(data[44:76])))
    assert signature.recover_public_key_from_msg_hash(digest) == KEY.public_key
    others = [
        (paid, CHAIN), (paid, 1), (replace(paid, call_gas_limit=GAS + 1), CHAIN), (replace(paid, max_fee_per_gas=3 * GWEI), CHAIN),
    ]  # fmt: skip
    assert len({approval_hash(pack(it), V07.address, chain, data[:12]) for it, chain in others}) == 4


async def test_a_turn_that_does_not_come_ends_no_other_process_s(world, monkeypatch):
    first, second, third = (world.sponsor.commitments for _ in range(3))
    async with first.turn():
        with monkeypatch.context() as hurried:
            hurried.setattr(commitment_transactions, "TURN_WITHIN_S", 0.01)
            for late in (second, third):
                with pytest.raises(TimeoutError):
                    async with late.turn():
                        pytest.fail("two processes have the turn")
    async with second.turn():
        pass


async def test_a_lease_whose_response_never_came_is_given_back(world, monkeypatch):
    take, taken = world.store.take_lease, asyncio.Event()

    async def take_and_say_nothing(*lease):
        await take(*lease)
        taken.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(world.store, "take_lease", take_and_say_nothing)
        turn = asyncio.create_task(world.sponsor.commitments.turn().__aenter__())
        await taken.wait()
        turn.cancel()
        await asyncio.wait([turn])
    assert await world.store.take_lease(f"sponsor {CHAIN}", "another", world.clock(), 1)


async def test_no_one_spends_the_budget_of_another_did(world):
    """An account may name anyone's key as its owner: what counts is its address, or what the registry says."""
    mallory = predict_account(X + 1, Y, 0)
    assert "registered at this service" in await world.error(deployed(world, at=mallory))
    world.chain.dids[mallory.lower()] = did_hash(did_of_key(X + 1, Y))
    for named in ({}, {"did": DID}):
        assert "registered at this service" in await world.error(deployed(world, at=mallory), SPONSOR, named)
    assert "result" in await world.ask(deployed(world))
    world.chain.dids[ACCOUNT.lower()] = did_hash(DID)
    recovered = deployed(world, key=(9, 9))
    assert "registered at this service" in await world.error(recovered)
    assert "result" in await world.ask(recovered, SPONSOR, {"did": DID}), "an account with new keys names its DID"


async def test_calls_that_share_their_data_huge_gas_limits_and_a_fee_far_above_the_chains_are_not_paid_for(world):
    words = [32, 240, *[32 * 240] * 240, int(USDC, 16), 0, 96, 0]
    shared = selector("executeBatch((address,uint256,bytes)[])") + b"".join(word.to_bytes(32) for word in words)
    assert len(shared) <= MAX_CALL_DATA_BYTES
    assert "at most 51 calls" in await world.error(replace(payment(), call_data=shared))
    wide = replace(payment(), call_gas_limit=12 * GAS, verification_gas_limit=GAS, pre_verification_gas=GAS)
    error = (await world.ask(wide, DATA, hex(CHAIN)))["error"]  # the penalty of gas that is not used counts
    assert error["code"] == LIMIT_EXCEEDED and "more than the sponsor's budget of this DID" in error["message"]
    world.limits = replace(LIMITS, max_fee=20 * GWEI)  # an account may be its own bundler
    assert "offers 9 gwei per unit of gas; the sponsor pays at most 8 gwei" in await world.error(payment(fee=9 * GWEI))
    assert await world.spent() == {}


@pytest.mark.parametrize("block", [
    None, {}, {"number": 5, "timestamp": "0x1"}, {"number": "0x1", "timestamp": "0xffffffffffff"},
    {"number": "0x1", "timestamp": "0x1", "baseFeePerGas": "0x" + "f" * 64},  # more than an operation can offer
])  # fmt: skip
async def test_a_chain_that_lies_about_its_newest_block_is_a_bundler_error(world, monkeypatch, block):
    operation = replace(deployed(world), max_fee_per_gas=0)
    monkeypatch.setattr(world.chain, "eth_getBlockByNumber", lambda _number, _full: block)
    with pytest.raises(Refused) as refused:
        await world.ask(operation)
    assert refused.value.row is BUNDLER_ERROR


@pytest.mark.parametrize(("operation", "why"), [
    (payment(x=X + 1), "registered at this service"),
    (replace(payment(), factory=None, factory_data=None), "not an account of the factory"),
    (replace(payment(), sender=b"\1" * 20), "not the account that the operation's factory data creates"),
    (payment(to="0x" + "bb" * 20), "does not pay for calls to 0x" + "bb" * 20),
    (payment(fee=6 * GWEI), "offers 6 gwei per unit of gas; the sponsor pays at most 5 gwei"),
    (replace(payment(), call_data=b"\1\2\3\4"), "does not pay for calls to"),
    (replace(payment(), call_data=calls.execute((USDC, 0, bytes(9000)))), "bytes of call data"),
])  # fmt: skip
async def test_what_is_not_paid_for(world, operation, why):
    assert why in await world.error(operation)
    assert world.bundler.asked == 0 and await world.spent() == {}


async def test_malformed_parameters_and_other_chains_and_entry_points_are_no_server_errors(world):
    for method in (SPONSOR, STUB, DATA):
        for params in (b"[]", b"{}", b"5", b'[{},"0x"]', b'[{"sender":5},"",1]', b'["",""]', b"[[[[["):
            request = CallBundler(method=method, params=msgspec.Raw(params))
            answer = msgspec.json.decode(await world.sponsor.answer(request, "ours"))
            assert (answer["id"], answer["error"]["code"]) == (None, -32602)
    for context in ({"did": 5}, {"verificationGasMargin": "x"}, 5, [], "x"):
        assert "error" in await world.ask(deployed(world, key=(9, 9)), SPONSOR, context)
    assert "expected a user operation" in await world.error(payment(), SPONSOR, {"verificationGasMargin": "-0x1"})
    for operation, entry_point, error in (
        (payment(), "0x" + "11" * 20, b"at the entry point"), (replace(payment(), call_data=bytes(40_000)), V07.address, b"-32602"),
    ):  # fmt: skip
        params = msgspec.json.encode([{k: v for k, v in operation.to_rpc().items() if v}, entry_point])
        assert error in await world.sponsor.answer(CallBundler(method=SPONSOR, params=msgspec.Raw(params)), "ours")
    assert "on chain 1" in await replace(world, chain_id=1).error(payment(), STUB, hex(CHAIN))


async def test_a_hung_chain_gets_the_documented_error_and_the_bundlers_refusal_is_passed_on(world):
    world.chain.hangs = True
    params = msgspec.Raw(msgspec.json.encode([{k: v for k, v in payment().to_rpc().items() if v}, V07.address]))
    with pytest.raises(Refused) as refused:
        await replace(world.sponsor, within_s=0.01).answer(CallBundler(method=SPONSOR, params=params), "ours")
    assert refused.value.row is BUNDLER_ERROR
    world.chain.hangs = False
    world.bundler.refusal = UserOperationError("refused")
    world.bundler.refusal.__cause__ = RpcError("execution reverted", -32521, "0x1234")
    error = (await world.ask(payment()))["error"]
    assert error == {"code": -32521, "message": "execution reverted", "data": "0x1234"}
    assert await world.spent() == {}


async def test_what_was_mined_is_charged_and_what_was_not_comes_back(world):
    for nonce in range(3):
        await world.ask_next(payment(nonce))
    world.chain.use(payment(1), 5 * GWEI - 1, world.sponsor.approver.paymaster)
    world.chain.use(payment(2), 10**18, "0x" + "ee" * 20)  # another paymaster paid
    await world.settle()
    assert (await world.spent())["all"] == 2 * COST + 5
    world.chain.now += VALID_FOR_S + 1
    world.chain.block += 3000
    await world.settle()
    assert await world.spent() == {"all": 5, "did": 5, f"contract {USDC}": 5}
    assert await world.store.sponsorships.open_sponsorships(CHAIN, 9) == []


WORD = "0x" + from_hex(ACCOUNT).rjust(32, b"\0").hex()


@pytest.mark.parametrize("lie", [
    {"data": "0x" + "11" * 64}, {"topics": []}, {"address": USDC}, {"blockNumber": "0x1"}, {"blockNumber": "0xffff"},
    {"topics": [to_hex(EVENT), *[WORD] * 3]}, {"topics": [WORD] * 4},
])  # fmt: skip
async def test_a_chain_that_lies_about_an_event_settles_nothing(world, lie, monkeypatch):
    await world.ask(payment())
    world.chain.use(payment(), GWEI, world.sponsor.approver.paymaster)
    event = {**world.chain.mined.pop(), **lie}
    with monkeypatch.context() as lying:
        lying.setattr(world.chain, "eth_getLogs", lambda _asked: [event])
        with pytest.raises(RpcError):
            await world.settle()
    assert (await world.spent())["all"] == COST


async def test_a_chain_that_lies_about_its_height_is_not_read_without_end(world, monkeypatch):
    await world.ask(payment())
    asked = []
    with monkeypatch.context() as lying:
        lying.setattr(world.chain, "mines", 2**47)
        lying.setattr(world.chain, "eth_getLogs", lambda criteria: asked.append(criteria) or [])
        await world.settle()
    assert 0 < len(asked) <= RANGES_AT_ONCE + 1


async def test_an_approval_from_when_the_endpoint_was_far_behind_does_not_keep_the_others_from_settling(world):
    await world.ask(payment())
    started, head = world.chain.now, 10_000_000

    def block(number, _full):
        time = world.chain.now - (0 if number == "latest" else 2 * (world.chain.block - int(number, 16)))
        return {"number": hex(world.chain.block), "timestamp": hex(time), "baseFeePerGas": hex(GWEI // 2)}

    world.chain.eth_getBlockByNumber, world.chain.block = block, head
    await world.ask_next(payment(1))
    world.chain.use(payment(1), 5 * GWEI, world.sponsor.approver.paymaster)
    await world.settle()
    assert (await world.spent())["all"] == 2 * COST, "the first one is still valid"
    world.clock.now = world.chain.now = started + VALID_FOR_S + 1
    for _ in range(2):
        await world.settle()
    assert (await world.spent())["all"] == COST + 5


@pytest.mark.parametrize(("cost", "charged"), [(GWEI, 1), (2**256 - 1, COST)], ids=["its cost", "what was reserved"])
async def test_only_blocks_that_are_deep_enough_count(world, cost, charged):
    await world.ask(payment())
    world.chain.block += 10
    world.chain.use(payment(), cost, world.sponsor.approver.paymaster)
    for blocks, spent in ((0, COST), (12, charged)):
        world.chain.block += blocks
        await world.settle(depth=12)
        assert (await world.spent())["all"] == spent


def registration(alias="ann"):
    """Return a registration with an alias, and the commitment that it needs."""
    call = calls.register(REGISTRY, X, Y, alias=alias)
    needed = commitment(did_hash(DID), alias_hash(alias), ACCOUNT)
    return replace(payment(), call_data=calls.execute(call)), needed


FEE = 2  # gwei: twice the base fee, and the tip and a quarter


async def test_a_commitment_is_posted_once_and_charged(world):
    operation, needed = registration()
    assert "result" in await world.ask(operation)
    assert (await world.spent())["all"] == 46_000 * FEE + COST
    world.chain.committed[needed] = 50
    assert "result" in await world.ask(operation)
    assert len(world.chain.sent) == 1, "it stands"
    world.chain.committed[needed] = soon = world.chain.block + 2  # mined after the newest block was asked for
    assert "result" in await world.ask(operation) and world.chain.block > soon


async def test_a_commitment_that_the_chain_refuses_is_the_clients_to_post_and_costs_nothing(world, caplog):
    world.chain.refusal = "https://rpc.example/hunter2: insufficient funds for gas * price + value"
    world.bundler.refusal = UserOperationError("refused: NotCommitted")
    assert "NotCommitted" in await world.error(registration()[0])
    assert await world.spent() == {} and "hunter2" not in caplog.text, "an endpoint may quote its URL, with its key"
    assert [record.why for record in caplog.records] == ["the endpoint answers with error -32000"]


@pytest.mark.parametrize("answered", [True, False])
async def test_a_commitment_that_was_not_seen_is_charged_and_of_several_all_or_none_are_posted(
    world, monkeypatch, answered
):
    async def never(*_):
        raise TimeoutError

    def unanswered(raw):
        world.chain.sent.append(raw)
        raise RpcError("no answer in time")

    with monkeypatch.context() as unseen:
        if not answered:
            unseen.setattr(world.chain, "eth_sendRawTransaction", unanswered)
        unseen.setattr("holdfast.service.operations.commitment_transactions.mined", never)
        await world.ask(registration()[0])
    await _time_passes(world)
    charged = dict.fromkeys(("all", "did", f"contract {REGISTRY.lower()}"), COMMIT_GAS * FEE)
    assert await world.spent() == charged
    claims = [calls.register(REGISTRY, X, Y, alias=alias) for alias in ("bob", "bobby", "robert")]
    operation = replace(payment(), call_data=calls.execute_batch(claims))
    world.limits = replace(LIMITS, did_day=2 * 3 * COMMIT_GAS * FEE, day=10**9, contracts={REGISTRY.lower(): 10**9})
    world.bundler.refusal = UserOperationError("refused: NotCommitted")
    assert "NotCommitted" in await world.error(operation)
    assert len(world.chain.sent) == 1 and await world.spent() == charged


async def test_commitments_that_wait_below_the_base_fee_make_room_for_later_ones(world):
    async def reserve(_key, _wei):
        return 0

    post = replace(world.sponsor.commitments, max_fee=9 * GWEI).within(reserve).post
    await post([b"1" * 32, b"2" * 32, b"3" * 32])
    world.chain.waiting, world.chain.base_fee = 2, 3 * GWEI
    world.chain.refusal = "insufficient funds"
    await post([b"0" * 32])
    world.chain.refusal = ""
    await post([b"4" * 32, b"5" * 32, b"6" * 32])
    usual = {"chain_id": CHAIN, "max_fee_per_gas": 7 * GWEI, "gas": COMMIT_GAS, "to": from_hex(REGISTRY)}
    for nonce, (tip, raw) in enumerate(zip([GWEI * 5 // 4 + 1] * 2 + [GWEI], world.chain.sent[3:], strict=True), 1):
        data = call_data("commit(bytes32)", str(nonce + 3).encode() * 32)
        assert raw == to_hex(Transaction(nonce=nonce, max_priority_fee_per_gas=tip, data=data, **usual).signed(KEY))


async def test_commitments_end_with_the_budget(world):
    """A request that is never sent costs the sponsor a transaction, so each one counts, also of the same commitment."""
    operation, _ = registration()
    world.bundler.refusal = UserOperationError("never sent")
    most = LIMITS.did_day // 2 // (46_000 * 2)
    for _ in range(most + 5):
        assert await world.error(operation) == "never sent"
    assert len(world.chain.sent) <= most
    assert COMMIT_GAS * 2 + (await world.spent())["did"] > LIMITS.did_day // 2
    world.bundler.refusal = None
    assert "result" in await world.ask(payment()), "half is left for what the account signs"


async def test_a_chain_that_fails_does_not_keep_the_others_from_settling(world):
    await world.ask(payment())
    world.chain.use(payment(), GWEI, world.sponsor.approver.paymaster)
    there = replace(world, chain=Chain(), chain_id=1)
    await there.ask(replace(payment(), call_gas_limit=GAS), DATA, "0x1")

    async def fails():
        raise RpcError("no answer in time")

    there.chain.block_number = fails
    with pytest.raises(RpcError):
        await SponsorSettlement({1: there.sponsor, CHAIN: world.sponsor}, 0).run()
    assert (await world.spent())["all"] == 1
    assert (await there.spent())["all"] > 1


async def test_a_low_deposit_is_logged_once_and_the_key_is_in_no_text(world, caplog):
    settlement = SponsorSettlement({CHAIN: world.sponsor}, 0)
    world.chain.deposit = 9 * 10**15
    for _ in range(3):
        await settlement.run()
    assert [record.message for record in caplog.records] == ["the sponsor's deposit is low: holdfast sponsor deposit"]
    secret = KEY.to_hex().removeprefix("0x")
    for shown in (repr(world.sponsor), str(world.sponsor), repr(world.sponsor.approver)):
        assert secret not in shown and str(int(secret, 16)) not in shown


# The proportions of the settings' defaults.
USUAL = replace(
    LIMITS, did_day=10**6, day=20 * 10**6, contracts=dict.fromkeys((USDC, REGISTRY.lower(), "account"), 20 * 10**6)
)


@pytest.fixture
async def many(world):
    """A world in which the DIDs of 40 keys are known."""
    for x in range(X + 1, X + 40):
        opened = session(handle(f"p{x}"), did_of_key(x, Y), ip=f"192.0.2.{x}")
        await world.store.open_session(opened, admit)
    world.limits = USUAL
    return world


@pytest.mark.parametrize("method", [DATA, SPONSOR])
async def test_a_stranger_reserves_nothing_for_nonces_and_accounts_that_are_not_the_next(world, method):
    more = (hex(CHAIN),) if method == DATA else ()
    error = await world.error(payment(1), method, *more)
    assert is_stale(UserOperationError(f"refused: {error}")), "clients prepare the operation again"
    for nonce in (5 << 64, (1 << 255) + 1):
        await world.error(payment(nonce), method, *more)
    other = replace(payment(), sender=from_hex(predict_account(X, Y, 1)), factory_data=calls.create_account(X, Y, 1))
    await world.error(other, method, *more)
    assert "AA25" in await world.error(deployed(world, nonce=3) and payment(0), method, *more)
    assert await world.spent() == {} and world.bundler.asked == 0


async def test_what_a_stranger_reserves_for_a_persons_nonce_leaves_them_their_budget_and_is_settled_as_it_is_used(
    many, monkeypatch
):
    monkeypatch.setattr("holdfast.service.operations.sponsor_charges.AT_ONCE", 1)
    first = SponsorshipKey(CHAIN, "0x00", "0x0")  # another account's, which ends before
    await many.store.sponsorships.reserve(
        NewSponsorship(key=first, day=0, gwei=1, budgets=(), valid_until=many.chain.now, block=1)
    )
    wide = greedy(payment(), USUAL.did_day)
    assert "result" in await many.ask(wide, DATA, hex(CHAIN), address="stranger")
    assert (await many.spent())["did"] >= USUAL.did_day - 2
    assert "result" in await many.ask(payment())
    many.chain.use(payment(), 5 * GWEI, many.sponsor.approver.paymaster)
    assert "result" in await many.ask_next(payment(1))
    assert (await many.spent())["did"] == COST + 5


async def test_permissions_reserve_half_of_the_budget_and_only_those_that_are_granted(many):
    for refused in (spending(many, 1, granted=False), replace(spending(many), nonce=7 << 64)):
        assert "that of the permission" in await many.error(refused)
    assert await many.spent() == {}
    for salt in range(3):
        wide = greedy(spending(many, salt), USUAL.did_day // 3)
        asked = await many.ask(wide, DATA, hex(CHAIN), address="stranger")
        assert ("result" in asked) == (salt == 0)
    apps, owners = greedy(spending(many), USUAL.did_day // 3), greedy(deployed(many), USUAL.did_day // 2)
    for operation in (apps, owners):
        assert "result" in await many.ask(operation, DATA, hex(CHAIN))


@pytest.mark.parametrize(("address", "most"), [("stranger", 1), ("network/{x}", 10)], ids=["an address", "a network"])
async def test_no_address_and_no_network_of_ipv6_reserves_the_budget_of_all(many, address, most):
    for x in range(X + 1, X + 40):
        wide = greedy(payment(x=x), USUAL.did_day // 2)
        await many.ask(wide, DATA, hex(CHAIN), address=address.format(x=x))
    assert (await many.spent())["all"] // 10 <= most * USUAL.did_day // 10
    assert "result" in await many.ask(payment(), address="network2/1")


async def _time_passes(world, seconds=VALID_FOR_S + 1):
    world.chain.now += seconds
    world.clock.now += seconds
    await world.settle()


async def test_an_address_gets_back_what_was_used_and_most_of_what_ended(many):
    wide = [greedy(payment(x=x), USUAL.did_day * 3 // 4) for x in (X, X + 1, X + 2)]

    async def approved(operation):
        return "result" in await many.ask(operation, DATA, hex(CHAIN))

    assert [await approved(each) for each in wide] == [True, False, False]
    many.chain.use(wide[0], GWEI, many.sponsor.approver.paymaster)
    await many.settle()
    assert [await approved(each) for each in wide[1:]] == [True, False]
    await _time_passes(many)
    assert [await approved(each) for each in wide[1:]] == [True, False]
    await _time_passes(many)
    assert not await approved(wide[2])
    await _time_passes(many, 86_400)
    assert await approved(wide[2])


@pytest.mark.parametrize("renews", [True, False])
@pytest.mark.parametrize("small", [True, False])
async def test_what_addresses_reserve_in_vain_holds_a_budget_for_minutes_alone(many, renews, small):
    budget = USUAL.did_day - 1 if small else 2 * USUAL.did_day
    many.limits = replace(USUAL, contracts={USDC: budget})
    many.clock.now = many.chain.now = 1_800_000_000 // 86_400 * 86_400
    held = 0
    for turn in range(12):
        for which in range(1 if small else 2):
            wide = greedy(payment(x=X + 1 + which), min(budget, USUAL.did_day))
            await many.ask(wide, DATA, hex(CHAIN), address=f"stranger {which}")
        held += "error" in await many.ask(greedy(payment(), 400_000), DATA, hex(CHAIN), address=f"person {turn}")
        await _time_passes(many, VALID_FOR_S - 1 if renews else VALID_FOR_S + 1)
    assert 1 <= held <= 3
