"""What `holdfast check` looks at: every upstream, key, clock and permission, each with what to do."""

from __future__ import annotations

import asyncio
import email.utils
import shutil
import stat
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from holdfast.chain.errors import RpcError
from holdfast.service.bootstrap import build_service, database_file
from holdfast.service.ports import DeliveryError, StoreUnavailable
from holdfast.service.providers.workflow import engine_configured
from holdfast.service.secrets import KEY_FILE
from holdfast.service.setting_rows import is_local
from holdfast.service.upstreams.pool import ConnectionPool
from holdfast.service.upstreams.proxy import UpstreamError, fetch

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from holdfast.service.ports import Mailer, SmsVerifier, Store
    from holdfast.service.secrets import Secrets
    from holdfast.service.service import Service
    from holdfast.service.settings import Settings

_LOW_DISK_BYTES = 500 * 1024 * 1024
_CLOCK_TOLERANCE_S = 5.0
_CHECK_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        subject: what.
        state: ok; note (works, but see the fix); fault (must be fixed).
        found: what was seen.
        fix: what to do, empty when there is nothing to do.
    """

    subject: str
    state: Literal["ok", "note", "fault"]
    found: str
    fix: str = ""

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


async def diagnose(settings: Settings, secrets: Secrets, store: Store) -> list[Finding]:
    """Every finding, in the order of the table."""
    service = build_service(settings, secrets, store)
    pool = ConnectionPool()
    try:
        upstreams = await asyncio.gather(
            _sender("e-mail", settings.mail_url, service.senders[0]),
            _sender("SMS", settings.sms_url, service.senders[1]),
            _chain(service),
            _bundler(settings, pool),
            _indexer(settings, service),
            _enclave(settings, service),
            _clock(settings, pool),
        )
    finally:
        await pool.close()
        await service.stop()
    opened = Finding("database", "ok", "opened, schema current")
    at_home = [_key(secrets), *_permissions(settings), _disk(settings), opened, _origin(settings)]
    return [*at_home, *upstreams, _engine()]


def _key(secrets: Secrets) -> Finding:
    if secrets.generated:
        return Finding(
            "signing key", "note", "generated in the data folder", "set ATTESTATION_SIGNING_KEY (holdfast keys new)"
        )
    return Finding("signing key", "ok", f"{len(secrets.signing_keys)} in use, the first signs")


def _permissions(settings: Settings) -> list[Finding]:
    findings = []
    for path in (settings.data_dir, database_file(settings), settings.data_dir / KEY_FILE):
        if path.exists():
            mode = stat.S_IMODE(path.stat().st_mode)
            open_to_others = mode & 0o077
            fix = f"chmod {'700' if path.is_dir() else '600'} {path}" if open_to_others else ""
            findings.append(Finding(path.name, "fault" if open_to_others else "ok", f"mode {mode:03o}", fix))
    return findings


def _disk(settings: Settings) -> Finding:
    free = shutil.disk_usage(settings.data_dir).free
    found = f"{free // 2**20} MiB free"
    if free < _LOW_DISK_BYTES:
        return Finding("disk", "fault", found, "make room: without it every write answers 503")
    return Finding("disk", "ok", found)


def _origin(settings: Settings) -> Finding:
    url = urlsplit(settings.public_url)
    if url.scheme == "https" or is_local(settings.public_host):
        return Finding("public URL", "ok", settings.public_url)
    return Finding("public URL", "fault", settings.public_url, "browsers offer passkeys and payments on https only")


async def _sender(subject: str, url: str, sender: Mailer | SmsVerifier) -> Finding:
    if url.startswith("outbox:"):
        name = "HOLDFAST_MAIL_URL" if subject == "e-mail" else "HOLDFAST_SMS_URL"
        return Finding(subject, "note", "development outbox", f"set {name} before real people come")
    return await _asked(subject, sender.check(), "check the address, credentials and firewall")


async def _chain(service: Service) -> Finding:
    async def ask() -> str:
        chain_id = await service.accounts.chain.client.chain_id()
        return f"answers, chain {chain_id}"

    return await _asked("chain", ask(), "set HOLDFAST_RPC_URL to an endpoint that answers")


async def _bundler(settings: Settings, pool: ConnectionPool) -> Finding:
    if not settings.bundler_url:
        return Finding("bundler", "note", "none", "set HOLDFAST_BUNDLER_URL, or POST /api/bundler answers 503")
    body = b'{"jsonrpc":"2.0","id":1,"method":"eth_supportedEntryPoints","params":[]}'
    url = settings.bundler_url

    async def ask() -> str:
        answer = await fetch(pool.session, "POST", url, {"Content-Type": "application/json"}, body)
        return f"answers {answer.status}"

    return await _asked("bundler", ask(), "check HOLDFAST_BUNDLER_URL")


async def _indexer(settings: Settings, service: Service) -> Finding:
    if service.indexer is None:
        return Finding("indexer", "note", "none", "set HOLDFAST_INDEXER_URL or HOLDFAST_INDEXER_APP")
    indexer = service.indexer

    async def ask() -> str:
        answer = await indexer.get("/health", "", {})
        return f"answers {answer.status}"

    name = "HOLDFAST_INDEXER_APP" if settings.indexer_app else "HOLDFAST_INDEXER_URL"
    return await _asked("indexer", ask(), f"check {name}")


async def _enclave(settings: Settings, service: Service) -> Finding:
    if not settings.enclave_url:
        return Finding("enclave", "ok", "the bundled copy")
    await service.enclaves.refresh()
    if service.enclaves.current().published:
        return Finding("enclave", "ok", "the published copy")
    return Finding(
        "enclave", "fault", "the published copy cannot be used", "check HOLDFAST_ENCLAVE_URL and its log lines"
    )


async def _clock(settings: Settings, pool: ConnectionPool) -> Finding:
    """Compare with the Date header of the chain's endpoint: codes and attestations live by this clock."""
    try:
        session = pool.session()
        async with asyncio.timeout(_CHECK_WITHIN_S), session.get(settings.rpc_url) as answer:
            theirs = email.utils.parsedate_to_datetime(answer.headers["Date"]).timestamp()
    except Exception:  # noqa: BLE001 - whatever it is, there is nothing to compare with
        return Finding("clock", "note", "nothing to compare with", "keep it in step by NTP")
    drift_s = time.time() - theirs
    if abs(drift_s) > _CLOCK_TOLERANCE_S:
        return Finding("clock", "fault", f"{drift_s:+.0f} s beside the chain endpoint's", "set it by NTP")
    return Finding("clock", "ok", "in step with the chain endpoint's")


def _engine() -> Finding:
    if engine_configured():
        return Finding("workflow", "ok", "an engine calls /api/workflow")
    return Finding("workflow", "ok", "none; the service confirms and expires by itself")


async def _asked(subject: str, question: Awaitable[str], fix: str) -> Finding:
    try:
        async with asyncio.timeout(_CHECK_WITHIN_S):
            return Finding(subject, "ok", await question)
    except (DeliveryError, RpcError, UpstreamError, StoreUnavailable, TimeoutError) as error:
        return Finding(subject, "fault", str(error) or type(error).__name__, fix)
