"""The findings of `holdfast check` about each upstream, key, clock and permission, each with a remedy."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from typing import TYPE_CHECKING

from holdfast.service.bootstrap.events import event_webhook
from holdfast.service.bootstrap.services import build_service
from holdfast.service.bootstrap.stores import database
from holdfast.service.diagnosis.contracts import see_contracts
from holdfast.service.diagnosis.sponsor import see_sponsors
from holdfast.service.diagnosis.upstreams import (
    see_bundler,
    see_chain,
    see_clock,
    see_enclave,
    see_engine,
    see_events,
    see_indexer,
    see_public_endpoint,
    see_sender,
    see_snapshots,
    see_traces,
)
from holdfast.service.settings.secrets import KEY_FILE
from holdfast.service.settings.unknown import unknown_settings
from holdfast.service.settings.values import warn_of_local_url
from holdfast.service.store.findings import Finding
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.unopened import UnopenedStore
from holdfast.service.upstreams.pool import ConnectionPools
from holdfast.wire.hosts import is_this_machine

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.service.lifecycle.service import Service
    from holdfast.service.settings.secrets import Secrets
    from holdfast.service.settings.values import Settings
    from holdfast.service.store.port import Store

_LOW_DISK_BYTES = 500 * 1024 * 1024


async def diagnose(settings: Settings, secrets: Secrets, store: Store, *, send_event: bool = False) -> list[Finding]:
    """Return all findings, those about this machine first.

    With `send_event`, the receiver of events gets a signed message of type `check`.
    """
    service = build_service(settings, secrets, store)
    pools = ConnectionPools()
    try:
        upstreams = await asyncio.gather(
            see_sender("e-mail", _if_offered(settings, "email", settings.mail_url), service.senders[0]),
            see_sender("SMS", _if_offered(settings, "sms", settings.sms_url), service.senders[1]),
            see_bundler(settings, pools),
            see_indexer(settings, service),
            see_enclave(settings, service),
            see_snapshots(settings, service),
            see_clock(settings, pools),
            see_engine(os.environ, pools),
            see_events(event_webhook(settings, pools), send=send_event),
            see_traces(os.environ, pools),
        )
        sponsors = await see_sponsors(service.sponsors)
        chains = await asyncio.gather(
            *(_see_chain(settings, service, chain_id, pools) for chain_id in service.chains.served),
        )
    finally:
        await pools.close()
        await service.stop()
    at_home = [
        *_unknown_settings(),
        _key(secrets),
        *permissions(settings),
        disk(settings),
        *_database(settings, store),
        _origin(settings),
    ]
    return [*at_home, *(finding for of_chain in chains for finding in of_chain), *sponsors, *upstreams]


async def _see_chain(settings: Settings, service: Service, chain_id: int, pools: ConnectionPools) -> list[Finding]:
    chain, reader = service.chains.served[chain_id].chain, service.balances.chains[chain_id]
    endpoint = await see_chain(settings, chain_id, reader.client)
    public = await see_public_endpoint(settings, chain, pools)
    return [endpoint, *([public] if public else []), await see_contracts(settings, chain, reader, endpoint)]


def _if_offered(settings: Settings, channel: str, url: str) -> str | None:
    return url if channel in settings.channels else None


def _unknown_settings() -> list[Finding]:
    fix = "correct the name, or remove the variable"
    return [Finding("settings", "note", sentence, fix) for sentence in unknown_settings(os.environ)]


def _key(secrets: Secrets) -> Finding:
    if secrets.generated:
        return Finding(
            "signing key", "note", "generated in the data folder", "set ATTESTATION_SIGNING_KEY (holdfast keys new)"
        )
    return Finding("signing key", "ok", f"{len(secrets.signing_keys)} in use, the first signs")


def permissions(settings: Settings) -> list[Finding]:
    """Return a finding for the data folder and each file in it that holds secrets: its owner, and who may read it."""
    owner = settings.data_dir.stat().st_uid
    files = (settings.data_dir, *database(settings).files, settings.data_dir / KEY_FILE)
    return [_owned(path, owner) or _mode(path) for path in files if path.exists()]


def _owned(path: Path, owner: int) -> Finding | None:
    """Return an error if the folder's user does not own the file, because root ran a command before the service."""
    found = path.stat().st_uid
    if found == owner:
        return None
    problem = f"belongs to user {found}, the data folder to {owner}"
    return Finding(path.name, "error", problem, f"chown -R {owner} the data folder, and run commands as that user")


def _mode(path: Path) -> Finding:
    mode = stat.S_IMODE(path.stat().st_mode)
    if not mode & 0o077:
        return Finding(path.name, "ok", f"mode {mode:03o}")
    return Finding(path.name, "error", f"mode {mode:03o}", f"chmod {'700' if path.is_dir() else '600'} {path}")


def disk(settings: Settings) -> Finding:
    """Return the finding on the room that is left for the data folder."""
    free = shutil.disk_usage(settings.data_dir).free
    found = f"{free // 2**20} MiB free"
    if free < _LOW_DISK_BYTES:
        return Finding("disk", "error", found, "make room: without it every write answers 503")
    return Finding("disk", "ok", found)


def _database(settings: Settings, store: Store) -> list[Finding]:
    """Check that the database can write to its disk, because opening the database may have written nothing."""
    fix = "make it reachable and writable for this user, make room, and end whatever keeps it locked"
    if isinstance(store, UnopenedStore):
        return [Finding("database", "error", f"cannot be opened: {store.why}", fix)]
    opened = database(settings)
    found = Finding("database", "ok", "opened, schema current, takes writes")
    findings: list[Finding] = []
    try:
        if (chain := opened.chain()) not in {None, settings.chain}:
            other = f"belongs to chain {chain}, not {settings.chain}"
            return [Finding("database", "error", other, f"set HOLDFAST_CHAIN={chain}, or name an empty database")]
        findings = opened.findings(settings.workers)
        opened.try_write()
    except StoreUnavailable as error:
        found = Finding("database", "error", str(error), fix)
    return [found, *findings]


def _origin(settings: Settings) -> Finding:
    """Check the public URL. A URL without https was already refused when the settings were read."""
    fix = "set HOLDFAST_PUBLIC_URL to the service's https address"
    if (warning := warn_of_local_url(settings)) is not None:
        return Finding("public URL", "error", warning, fix)
    if is_this_machine(settings.public_host):
        return Finding("public URL", "note", f"{settings.public_url}: this machine only", fix)
    return Finding("public URL", "ok", settings.public_url)
