"""The checks of upstreams in `holdfast check`. Each check sends a request whose correct response is known."""

from __future__ import annotations

import asyncio
import email.utils
import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from holdfast.chain.errors import RpcError
from holdfast.chain.rpc import RpcClient
from holdfast.chain.transports import AiohttpTransport
from holdfast.rules.chains import CHAINS
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.settings.values import engine_configured
from holdfast.service.snapshots.port import BlocksUnavailable
from holdfast.service.store.database import SchemaTooNew
from holdfast.service.store.findings import Finding
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.telemetry.trace_settings import traces_address, traces_configured
from holdfast.service.upstreams.proxy import UpstreamAnswer, UpstreamError, fetch
from holdfast.service.workflow.engine import engine_address
from holdfast.wire.hosts import is_this_machine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from holdfast.rules.chains import Chain
    from holdfast.service.delivery.webhook import Webhook
    from holdfast.service.lifecycle.service import Service
    from holdfast.service.mail.port import Mailer
    from holdfast.service.settings.values import Settings
    from holdfast.service.sms.port import SmsSender, SmsVerifier
    from holdfast.service.upstreams.indexer import Indexer
    from holdfast.service.upstreams.pool import ConnectionPools

CLOCK_TOLERANCE_S = 5.0
CHECK_WITHIN_S = 10.0
SETTLE_S = 8.0
_LOOK_AGAIN_S = 0.2
_OK = 200
_ENTRY_POINTS = b'{"jsonrpc":"2.0","id":1,"method":"eth_supportedEntryPoints","params":[]}'


class WrongAnswer(Exception):
    """An upstream's response is not the one that the check expects.

    The message describes the response without quoting it.
    """


async def see_sender(subject: str, url: str | None, sender: Mailer | SmsVerifier | SmsSender) -> Finding:
    """Check the connection, certificate, credentials and sender's address of the mail or SMS provider.

    No message is sent. `url` is None if the service does not offer the channel.
    """
    if url is None:
        return Finding(subject, "ok", "off (HOLDFAST_CHANNELS)")
    name = "HOLDFAST_MAIL_URL" if subject == "e-mail" else "HOLDFAST_SMS_URL"
    if url.startswith("outbox:"):
        return Finding(subject, "note", "development outbox", f"set {name} before people use the service")
    return await _finding(subject, sender.check(), f"check {name} (address, credentials) and the firewall")


async def see_events(webhook: Webhook | None, *, send: bool) -> Finding:
    """Check that the receiver of events answers; with `send`, that it accepts a signed message of type `check`."""
    if webhook is None:
        return Finding("events", "ok", "off (HOLDFAST_EVENTS_URL)")
    fix = "check HOLDFAST_EVENTS_URL, and that the receiver verifies with HOLDFAST_WEBHOOK_SECRET"
    found = await _finding("events", webhook.check() if send else webhook.reach(), fix)
    if send or found.state != "ok":
        return found
    return replace(found, found=f"{found.found}; holdfast check --send-event sends a signed message")


async def see_chain(settings: Settings, chain: int, client: RpcClient) -> Finding:
    """Check that the JSON-RPC endpoint serves this chain (eth_chainId, EIP-695).

    A chain that no setting names serves only balances, so an error of its public endpoint is a note.
    """

    async def ask() -> str:
        answered = await client.chain_id()
        _require(answered == chain, f"answers for chain {answered}, not {chain}")
        return f"answers, chain {answered}"

    fix = f"{_endpoint_setting(settings, chain)} to an endpoint of chain {chain} that answers"
    found = await _finding("chain" if chain == settings.chain else f"chain {chain}", ask(), fix)
    return found if found.state == "ok" or _is_set(settings, chain) else replace(found, state="note")


async def see_public_endpoint(settings: Settings, chain: Chain, pools: ConnectionPools) -> Finding | None:
    """Check that the endpoint that clients are told serves the chain, unless it is the one that the service uses.

    Clients that pay their own gas read the chain through it. A key in the service's endpoint stays secret.
    """
    public = chain.shown_rpc
    subject = "public RPC" if chain.chain_id == settings.chain else f"public RPC {chain.chain_id}"
    if is_this_machine(urlsplit(public).hostname or "") and not is_this_machine(settings.public_host):
        found = Finding(subject, "note", f"clients are told {public}, which only this machine reaches")
    elif public == chain.rpc:
        return None
    else:
        client = RpcClient(public, AiohttpTransport(pools.of("public")()), timeout_s=CHECK_WITHIN_S)
        found = await see_chain(settings, chain.chain_id, client)
        found = replace(found, subject=subject, found=f"clients are told {public}: {found.found}")
    is_main = chain.chain_id == settings.chain
    where = "HOLDFAST_PUBLIC_RPC_URL" if is_main else "its `public_rpc` in HOLDFAST_CHAIN_FILE"
    fix = f"set {where} to an endpoint that anyone may use"
    return found if found.state == "ok" else replace(found, state="note", fix=fix)


def _is_set(settings: Settings, chain: int) -> bool:
    """Return whether a setting or the chain file names the chain or its endpoint."""
    in_file = settings.chain_file is not None and chain in settings.chain_file.chains
    other = chain == 8453 and settings.rpc_url_8453 != CHAINS[8453].rpc  # noqa: PLR2004 - a chain
    return chain == settings.chain or in_file or other


def _endpoint_setting(settings: Settings, chain: int) -> str:
    if chain == settings.chain:
        return "set HOLDFAST_RPC_URL"
    return "set HOLDFAST_RPC_URL_8453" if chain == 8453 else "set its `rpc` in HOLDFAST_CHAIN_FILE"  # noqa: PLR2004


async def see_bundler(settings: Settings, pools: ConnectionPools) -> Finding:
    """Check that the bundler serves the configured entry point (ERC-4337, eth_supportedEntryPoints)."""
    if not settings.bundler_url:
        advice = "set HOLDFAST_BUNDLER_URL, or POST /api/bundler answers 503 and registrations are not put on the chain"
        return Finding("bundler", "note", "none", advice)
    url, entry_point = settings.bundler_url, settings.contract_entry_point

    async def ask() -> str:
        reply = await fetch(pools.of("bundler"), "POST", url, {"Content-Type": "application/json"}, _ENTRY_POINTS)
        served = _json(reply).get("result")
        if not isinstance(served, list):
            raise WrongAnswer("answers, but not eth_supportedEntryPoints")
        known = {entry.lower() for entry in served if isinstance(entry, str)}
        _require(entry_point.lower() in known, f"does not serve the entry point {entry_point}")
        return f"serves the entry point {entry_point}"

    return await _finding("bundler", ask(), "check HOLDFAST_BUNDLER_URL and HOLDFAST_CONTRACT_ENTRY_POINT")


async def see_indexer(settings: Settings, service: Service) -> Finding:
    """Check that the indexer reports the right chain and that it agrees with that chain (interface: /health)."""
    if service.indexer is None:
        return Finding("indexer", "note", "none", "set HOLDFAST_INDEXER_URL or HOLDFAST_INDEXER_APP")
    indexer = service.indexer

    async def ask() -> str:
        await indexer.start()
        health = await _settled_health(indexer, SETTLE_S if settings.indexer_app else 0)
        _require(type(health.get("chain")) is int, "answers, but not as an indexer's /health does")
        chain = health["chain"]
        _require(chain == settings.chain, f"follows chain {chain}, not {settings.chain}")
        _require(health.get("ok") is True, "reports that it does not agree with its chain yet")
        return f"agrees with chain {chain}"

    name = "HOLDFAST_INDEXER_APP" if settings.indexer_app else "HOLDFAST_INDEXER_URL"
    return await _finding("indexer", ask(), f"check {name}")


async def _settled_health(indexer: Indexer, wait_s: float) -> dict[str, Any]:
    """Return the indexer's health. An indexer in this process has only just started, so it gets `wait_s` seconds."""
    until = time.monotonic() + wait_s
    health = _json(await indexer.get("/health", "", {}))
    while health.get("ok") is not True and time.monotonic() < until:
        await asyncio.sleep(_LOOK_AGAIN_S)
        health = _json(await indexer.get("/health", "", {}))
    return health


async def see_enclave(settings: Settings, service: Service) -> Finding:
    """Check whether a published enclave is configured and can be used."""
    if not settings.enclave_url:
        return Finding("enclave", "ok", "the bundled copy")
    verdict = await service.enclaves.verdict()
    if verdict is None:
        return Finding("enclave", "ok", "the published copy")
    return Finding("enclave", "error", verdict, "check HOLDFAST_ENCLAVE_URL: holdfast enclave verify")


async def see_clock(settings: Settings, pools: ConnectionPools) -> Finding:
    """Compare this machine's clock, by which codes expire, with the Date header of the chain's endpoint."""
    try:
        session = pools.of("clock")()
        async with asyncio.timeout(CHECK_WITHIN_S), session.get(settings.rpc_url) as answer:
            theirs = email.utils.parsedate_to_datetime(answer.headers["Date"]).timestamp()
    except Exception:  # noqa: BLE001 - whatever the error is, there is nothing to compare with
        return Finding("clock", "note", "nothing to compare with", "synchronise it by NTP")
    drift_s = time.time() - theirs
    if abs(drift_s) > CLOCK_TOLERANCE_S:
        return Finding("clock", "error", f"{drift_s:+.0f} s from the chain endpoint's", "synchronise it by NTP")
    return Finding("clock", "ok", "agrees with the chain endpoint's")


async def see_snapshots(settings: Settings, service: Service) -> Finding:
    """Check that the snapshot storage accepts a block, returns it and removes it."""
    snapshots = service.snapshots
    if snapshots is None:
        return Finding("snapshots", "note", "off: no vault is kept here", "unset HOLDFAST_SNAPSHOTS to keep them")
    try:
        await snapshots.blocks.check()
        gone, vaults = await snapshots.missing()
    except BlocksUnavailable as error:
        fix = "compare HOLDFAST_SNAPSHOTS_URL and the storage's credentials, and make room"
        return Finding("snapshots", "error", str(error), fix)
    except (StoreUnavailable, SchemaTooNew, OSError):
        return Finding("snapshots", "note", "not compared with the database, which cannot be read", "see the database")
    if gone:
        fix = "restore the storage's copy of the same time; a vault's next upload replaces what is lost of it"
        return Finding("snapshots", "error", f"{gone} blocks of {vaults} vaults' snapshots are missing", fix)
    if settings.blocks_stay_here:
        fix = "with several nodes set HOLDFAST_SNAPSHOTS_URL to one bucket, or to one folder that all nodes share"
        return Finding("snapshots", "note", "blocks lie in a folder of this machine, the database is PostgreSQL", fix)
    whole = "; every kept block is there" if snapshots.index.lists_objects else ""
    return Finding("snapshots", "ok", f"a block was written, read back and removed{whole}")


async def see_engine(environment: Mapping[str, str], pools: ConnectionPools) -> Finding:
    """Check that the workflow engine's address responds, but not whether the service is registered with the engine."""
    if not engine_configured(environment):
        return Finding("workflow", "ok", "no engine; the service confirms and expires by itself")
    url = engine_address(environment)

    async def ask() -> str:
        await fetch(pools.of("engine"), "GET", url, {})
        return "the engine's address answers; the service hands over once it has registered"

    return await _finding("workflow", ask(), "check INNGEST_DEV or INNGEST_BASE_URL, or unset them")


async def see_traces(environment: Mapping[str, str], pools: ConnectionPools) -> Finding:
    """Send the trace collector an empty batch, which it must accept (OTLP specification, OTLP/HTTP)."""
    if not traces_configured(environment):
        return Finding("traces", "ok", "off")
    from opentelemetry.util.re import parse_env_headers  # needs the extra, which is installed if traces are configured

    given = environment.get("OTEL_EXPORTER_OTLP_TRACES_HEADERS") or environment.get("OTEL_EXPORTER_OTLP_HEADERS", "")
    headers = {**parse_env_headers(given, liberal=True), "Content-Type": "application/x-protobuf"}

    async def ask() -> str:
        answer = await fetch(pools.of("traces"), "POST", traces_address(environment), headers, b"")
        _require(answer.status == _OK, f"the collector answers with status {answer.status}")
        return "the collector takes them"

    return await _finding("traces", ask(), "check OTEL_EXPORTER_OTLP_ENDPOINT, or unset it")


def _json(answer: UpstreamAnswer) -> dict[str, Any]:
    """Return the JSON object from a healthy upstream's response. Raises WrongAnswer."""
    _require(answer.status == _OK, f"answers with status {answer.status}")
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        value = None
    if type(value) is not dict:
        raise WrongAnswer("answers, but not with a JSON object")
    return value


def _require(condition: object, why: str) -> None:
    if not condition:
        raise WrongAnswer(why)


async def _finding(subject: str, question: Awaitable[str], fix: str) -> Finding:
    try:
        async with asyncio.timeout(CHECK_WITHIN_S):
            return Finding(subject, "ok", await question)
    except (DeliveryError, UpstreamError, WrongAnswer) as error:
        return Finding(subject, "error", str(error), fix)
    except RpcError as error:
        return Finding(subject, "error", error.in_our_words, fix)
    except TimeoutError:
        return Finding(subject, "error", "no answer in time", fix)
