"""Mails about recoveries that start on the chain: once for each recovery and address, whatever the indexer says."""

import asyncio
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from aiohttp import web
from tests.support.api import MAIL
from tests.support.guarded_account import ACCOUNT, DID, SECRETS, GuardedAccount, has_addresses
from tests.support.receivers import receiving
from tests.support.upstreams import rpc_results, upstream

from holdfast.chain.account_reads import RECOVERY_STARTED
from holdfast.rules.events import GIVE_UP_S, subscription_of
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.mail.code_mail import mail_identity
from holdfast.service.mail.smtp_mailer import SmtpMailer, SmtpServer
from holdfast.service.operations import recovery_events
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import keccak256

WORK = "ann@work.example"
STRANGER = "0x" + "cd" * 20


def shows(*accounts, last=100, cursor=None, kind="RecoveryStarted"):
    """Return an indexer that shows events of this kind, of these accounts."""

    def answer(request, _body):
        if request.path == "/api/stats":
            return web.json_response({"last_block_number": last})
        assert request.path == "/api/events"
        shown = accounts if request.query["kind"] == kind else ()
        return web.json_response({"events": [{"account_address": it} for it in shown], "next_cursor": cursor})

    return answer


def log_of(emitter, topic, block):
    numbers = {"blockNumber": hex(block), "logIndex": "0x0"}
    hashes = {"blockHash": topic, "transactionHash": topic}
    return {"address": emitter.lower(), "topics": [topic, "0x" + "00" * 32], "data": "0x", **numbers, **hashes}


@pytest.fixture
async def watched(make_api):
    async with upstream() as rpc, upstream() as indexer, upstream() as other:
        account, other.answer = GuardedAccount(nonce=4), rpc_results({"eth_blockNumber": "0x1", "eth_getLogs": []})
        rpc.answer, indexer.answer = account.rpc(), shows(ACCOUNT)
        api = make_api(rpc_url=rpc.url, rpc_url_8453=other.url, indexer_url=indexer.url, secrets=SECRETS)
        api.other_chain = other
        await has_addresses(api, MAIL, WORK)
        account.ready_at = int(api.clock.now) + 3600
        yield api, account, indexer


async def test_each_address_is_told_once_of_a_recovery(watched):
    api, account, _ = watched
    await asyncio.gather(*(api.service.recovery_mails.run() for _ in range(4)))
    assert sorted(to for to, _ in api.mailer.notices) == [MAIL, WORK]
    notice = api.mailer.notices[0][1]
    assert notice == (f"84532:{ACCOUNT}:3", "started", ACCOUNT, float(account.ready_at), "")
    ready_at = account.ready_at
    for nonce, until, told in ((4, ready_at, 2), (5, ready_at, 4), (6, 2**40, 4)):  # the last has a time without a date
        account.nonce, account.ready_at = nonce, until
        api.clock.now += 600
        await api.service.recovery_mails.run()
        assert len(api.mailer.notices) == told


@pytest.mark.parametrize("filled", [None, "bytes", "count"])
async def test_recoveries_on_every_chain_of_the_service_are_told(watched, caplog, filled):
    """The other chains have no indexer, and any contract can emit the events there, also more than a response holds."""
    api, main, indexer = watched
    account, ranges, head, receipts = GuardedAccount(nonce=9, ready_at=int(api.clock.now) + 60), [], 100_000, []
    indexer.answer, main.asked = shows(), []
    topics = [to_hex(RECOVERY_STARTED), to_hex(keccak256(b"RecoveryFinished(uint32)"))]
    emitted = {STRANGER: (topics[0], "0x" + "cd" * 3 * 2**20), STRANGER[:-2] + "00": ("0x" + "77" * 32, "0x")}
    emitted[ACCOUNT.lower()] = (topics[0], "0x")

    def logs(criteria):
        first, last = (int(criteria[name], 16) for name in ("fromBlock", "toBlock"))
        ranges.append((first, last))
        emitters = (STRANGER, STRANGER, ACCOUNT) if first <= 99_000 <= last else ()
        found = [log_of(it, topic, 99_000) for topic in criteria["topics"][0] for it in emitters]
        if filled and emitters:
            return "too many logs" if filled == "count" else [{**it, "data": "0x" + "cd" * 2**20} for it in found]
        return found if last - first < 900 else "too many blocks"

    def receipt(sent):
        receipts.append(sent)
        emitter = "0x" + sent[-40:]
        topic, data = emitted[emitter]
        mined = {"transactionHash": sent, "blockHash": "0x" + "bb" * 32, "blockNumber": hex(99_000)}
        log = {**log_of(emitter, topic, 99_000), "data": data, **mined}
        return {**mined, "status": "0x1", "gasUsed": "0x1", "logs": [log]}

    sent = ["0x" + emitter[2:].rjust(64, "0") for emitter in emitted]
    block = {"hash": "0x" + "bb" * 32, "transactions": sent}
    asked = {"eth_getBlockByNumber": block, "eth_getTransactionReceipt": receipt}
    api.other_chain.answer = account.rpc(eth_blockNumber=hex(head), eth_getLogs=logs, **asked)
    for _ in range(12):
        await api.service.recovery_mails.run()
    assert {notice.name for _, notice in api.mailer.notices} == {f"8453:{ACCOUNT}:8"} and len(api.mailer.notices) == 2
    assert set(account.asked_of) == {ACCOUNT.lower()} and main.asked == []
    assert ranges[0][0] == head - 50_000 and ranges[-1][1] == head and receipts == sent * bool(filled)
    assert [record.why for record in caplog.records if record.name == "holdfast.recoveries"] == []


@pytest.mark.parametrize("refusal", ["reverts", "fills", "busy"])
async def test_a_strangers_contract_hides_no_recovery(watched, refusal):
    """A DID can give itself a contract as its account, which emits the event and then reverts or returns megabytes."""
    api, _, indexer = watched
    indexer.answer, failed, head = shows(), [], 1000
    await has_addresses(api, MAIL, account=STRANGER)
    account = GuardedAccount(nonce=9, ready_at=int(api.clock.now) + 60)
    emitters = [log_of(it, to_hex(RECOVERY_STARTED), 900) for it in (STRANGER, ACCOUNT)]

    def logs(criteria):
        return emitters if int(criteria["fromBlock"], 16) <= 900 <= int(criteria["toBlock"], 16) else []

    def answer(request, body):
        asked = json.loads(body)
        if asked["method"] == "eth_call" and asked["params"][0]["to"] == STRANGER:
            failed.append(asked)
        elif not (failed and refusal == "busy"):
            return account.rpc(eth_blockNumber=hex(head), eth_getLogs=logs)(request, body)
        error = {"error": {"code": -32000, "message": "no"}}
        refused = {"result": "0x" + "00" * 2**22} if refusal == "fills" else error
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], **refused})

    api.other_chain.answer = answer
    await api.service.recovery_mails.run()
    assert {notice.account for _, notice in api.mailer.notices} == ({ACCOUNT} if refusal != "busy" else set())
    refusal, head, api.clock.now = "reverts", 2000, api.clock.now + 21  # the endpoint has recovered
    await api.service.recovery_mails.run()
    assert {notice.account for _, notice in api.mailer.notices} == {ACCOUNT}


@pytest.mark.parametrize("pages", [300, 2])
async def test_strangers_events_hide_no_recovery(watched, monkeypatch, pages):
    """An account can start as many recoveries as its owner pays for."""
    api, _, indexer = watched
    monkeypatch.setattr(recovery_events, "PAGES", pages)
    emitted = [(STRANGER, 90 + number // 300) for number in range(2300)] + [(ACCOUNT, 98)]

    def answer(request, _body):
        if request.path == "/api/stats":
            return web.json_response({"last_block_number": 1000 if len(indexer.requests) < 5 else 2000})
        at = int(request.query.get("cursor", "at-0")[3:])
        later = [it for it in emitted if it[1] >= int(request.query["from_block"])]
        events = [{"account_address": it, "block_number": str(block)} for it, block in later[at : at + 200]]
        following = f"at-{at + 200}" if len(later) > at + 200 else None
        return web.json_response({"events": events, "next_cursor": following})

    indexer.answer = answer
    for _ in range(10):
        await api.service.recovery_mails.run()
    assert {notice.account for _, notice in api.mailer.notices} == {ACCOUNT}


async def test_a_chain_whose_endpoint_gives_no_logs_is_not_read_by_transaction(watched):
    api, _, indexer = watched
    asked, indexer.answer = [], shows()
    blocks = {"eth_blockNumber": "0x1", "eth_getBlockByNumber": lambda *it: asked.append(it)}
    api.other_chain.answer = GuardedAccount().rpc(**blocks)
    for _ in range(4):
        await api.service.recovery_mails.run()
    assert asked == []


async def test_a_chain_that_hangs_delays_no_mail_of_another(watched):
    api, _, _ = watched
    mails, told, send = api.service.recovery_mails, asyncio.Event(), api.mailer.send_notice

    class Hangs:
        async def since(self, _block):
            async with asyncio.timeout(60):
                await told.wait()
            return recovery_events.Found([], [], 0)

    async def send_notice(*mail):
        await send(*mail)
        told.set()

    mails.watched = [mails.watched[0], mails.watched[1]._replace(events=Hangs())]
    mails.mailer = SimpleNamespace(send_notice=send_notice)
    assert (await mails.run())["sent"] == 2


async def test_each_recovery_that_was_finished_is_told_once(watched):
    api, account, indexer = watched
    store = api.service.store

    async def told():
        found = await store.outbox.due("webhook", api.clock.now, 100)
        return sorted((event.action, event.key, event.did) for event in found)

    await store.take_lease(subscription_of("webhook"), "all", api.clock.now, GIVE_UP_S)
    indexer.answer = shows(ACCOUNT, STRANGER, kind="RecoveryFinished")
    await api.service.recovery_mails.run()
    assert await told() == [], "the chain decides, not the indexer"
    account.finished = 1
    await asyncio.gather(*(api.service.recovery_mails.run() for _ in range(4)))
    await api.service.recovery_mails.run()
    assert await told() == [("recovered", MAIL, DID), ("recovered", WORK, DID)]
    account.finished = 2
    await api.service.recovery_mails.run()
    assert len(await told()) == 4 and api.mailer.notices == []


async def test_nothing_is_sent_without_a_recovery_on_the_chain_of_the_dids_account(watched):
    api, account, indexer = watched
    account.did = "did:new:0x" + "ee" * 32
    await api.service.recovery_mails.run()
    account.did, account.asked = DID, []
    indexer.answer = shows(*[ACCOUNT] * 200, STRANGER)
    account.ready_at = 0
    await api.service.recovery_mails.run()
    assert api.mailer.notices == []
    assert len(account.asked) == 2, "an account is asked for once, however often the indexer names it"


@pytest.mark.parametrize("answer", [
    lambda _request, _body: web.Response(status=500), lambda _request, _body: web.Response(body=b"\xff{"),
    lambda _request, _body: web.json_response([]), lambda _request, _body: web.Response(body=b'{"x":' + b"[" * 100_000),
    lambda _request, _body: web.json_response({"events": [{}], "last_block_number": 1}),
    shows(ACCOUNT, last="soon"), shows(STRANGER, last=10**30), shows("0xzz"), shows("0x12"),
    shows(STRANGER, cursor="../../x"), shows(STRANGER, cursor="again"),
])  # fmt: skip
async def test_a_lying_indexer_neither_spams_nor_ends_the_job(watched, answer):
    api, _, indexer = watched
    indexer.answer = answer
    assert await api.service.recovery_mails.run() == {"noted": 0, "sent": 0, "removed": 0}
    assert len(indexer.requests) <= 21
    indexer.answer = shows(ACCOUNT)
    assert (await api.service.recovery_mails.run())["sent"] == 2


async def test_a_dead_indexer_and_a_dead_chain_are_told(make_api, caplog):
    dead = make_api(indexer_url="http://127.0.0.1:9", rpc_url_8453="http://127.0.0.1:9", secrets=SECRETS)
    assert (await dead.service.recovery_mails.run())["sent"] == 0
    told = [record for record in caplog.records if record.msg == "recoveries not looked for"]
    assert [line.chain_id for line in told] == [84532, 8453]
    assert told[0].why == "nothing listens at this address"


async def test_the_blocks_that_were_looked_through_are_not_again(watched):
    api, _, indexer = watched
    indexer.answer = shows(ACCOUNT, last=60000)
    await api.service.recovery_mails.run()
    indexer.answer = shows(ACCOUNT, last=60100)
    await api.service.recovery_mails.run()
    indexer.answer = shows(ACCOUNT, last=30)  # it follows the chain afresh
    await api.service.recovery_mails.run()
    events = [path for _, path, _, _ in indexer.requests if "RecoveryStarted" in path]
    assert [path.partition("from_block=")[2].partition("&")[0] for path in events] == ["10000", "59936", "30"]


async def test_what_a_provider_refuses_is_tried_again(watched):
    api, _, _ = watched
    api.mailer.failure = DeliveryError("unreachable", "down")
    assert (await api.service.recovery_mails.run())["sent"] == 0
    api.mailer.failure = None
    await api.service.recovery_mails.run()
    assert api.mailer.notices == [], "not before the lease is over"
    api.clock.now += 301
    assert (await api.service.recovery_mails.run())["sent"] == 2


async def test_what_a_provider_may_have_sent_is_sent_again_ever_more_rarely(watched):
    api, account, _ = watched
    api.mailer.failure = DeliveryError("timeout", "no answer")

    async def asked_after(seconds):
        api.clock.now += seconds
        before = api.mailer.asked
        await api.service.recovery_mails.run()
        return api.mailer.asked - before

    assert await asked_after(0) == 2
    mails = api.service.recovery_mails
    api.service.recovery_mails = replace(mails)  # another process, or this one after a restart
    assert [await asked_after(seconds) for seconds in (299, 1, 299, 1, 599, 1, 1199, 1)] == [0, 2] * 4
    api.clock.now = account.ready_at + 3 * 86400
    assert await asked_after(0) == 2
    assert await asked_after(10 * 86400) == 0 and api.mailer.notices == []


async def test_addresses_that_a_provider_refuses_hold_up_no_others(watched):
    api, _, _ = watched
    await has_addresses(api, *(f"ann{number}@example.org" for number in range(8)))
    api.mailer.failure = DeliveryError("refused", "no such address", of_recipient=True)
    await api.service.recovery_mails.run()
    assert api.mailer.asked == 10
    api.mailer.failure = DeliveryError("refused", "HTTP 429")
    api.clock.now += 301
    await api.service.recovery_mails.run()
    assert api.mailer.asked == 14, "a provider that refuses everything is asked no more in this run"


async def test_mails_that_may_have_arrived_hold_up_no_others(watched):
    api, account, _ = watched
    await has_addresses(api, *(f"ann{number}@example.org" for number in range(4)))
    api.mailer.failure = DeliveryError("timeout", "no answer")
    for seconds in (0, 0, 301, 0):
        api.clock.now += seconds
        await api.service.recovery_mails.run()
    api.mailer.failure, account.nonce = None, account.nonce + 1
    api.clock.now += 299
    assert await api.service.recovery_mails.run() == {"noted": 6, "sent": 6, "removed": 0}
    assert {notice.name for _, notice in api.mailer.notices} == {f"84532:{ACCOUNT}:4"}


async def test_a_mail_server_that_hangs_neither_delays_nor_loses_anything(watched):
    """The server takes each message and never answers. Later it does, and each address gets its mail."""
    api, account, indexer = watched
    identity, mails = mail_identity("no-reply@vault.example", "vault.example"), api.service.recovery_mails
    async with receiving() as receiver:
        receiver.delay_s = 3600
        server = SmtpServer("127.0.0.1", receiver.port, "none", "", "", None, connections=2, total_s=0.2, command_s=0.2)
        mails.mailer = SmtpMailer(server, identity)
        assert await mails.run() == {"noted": 2, "sent": 0, "removed": 0}
        account.finished, indexer.answer = 1, shows(ACCOUNT, kind="RecoveryFinished")
        await api.service.store.take_lease(subscription_of("webhook"), "all", api.clock.now, GIVE_UP_S)
        await mails.run()
        events = await api.service.store.outbox.due("webhook", api.clock.now, 100)
        assert [event.action for event in events] == ["recovered"] * 2
        receiver.delay_s = 0
        api.clock.now += 301
        mails.mailer = SmtpMailer(replace(server, total_s=60, command_s=60), identity)
        assert (await mails.run())["sent"] == 2
        await mails.mailer.close()
    assert sorted(it for envelope, _ in receiver.mails for it in envelope.rcpt_tos) == [MAIL, WORK]
    assert all(ACCOUNT.encode() in (envelope.original_content or b"") for envelope, _ in receiver.mails)
