"""The service's settings, read from the environment into one validated value.

The rows (`setting_rows`) list each variable once, with its default, parser and purpose. The command line, the
documentation and the startup banner use the same rows.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.rules.limits import Ceilings, Limits
from holdfast.rules.snapshot_quotas import SnapshotLimits
from holdfast.service.settings.rows import LIMIT_ROWS, ROWS
from holdfast.service.settings.unknown import unknown_settings
from holdfast.service.store.kinds import FILE_ADDRESSES
from holdfast.service.telemetry.trace_settings import traces_configured
from holdfast.settings.parsers import http_url
from holdfast.settings.rows import SettingError, SettingRow, read_rows
from holdfast.wire.defaults import SERVICE_URL
from holdfast.wire.hosts import is_this_machine
from holdfast.wire.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from ipaddress import IPv4Network, IPv6Network
    from pathlib import Path

    from holdfast.service.settings.sponsor import SponsorKey
    from holdfast.settings.chain_file import ChainFile

_ENGINE_URLS = (
    "INNGEST_DEV", "INNGEST_BASE_URL", "INNGEST_API_BASE_URL", "INNGEST_EVENT_API_BASE_URL", "INNGEST_SERVE_ORIGIN",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of the service, validated. Field names are the rows' names in lower case."""

    host: str
    port: int
    public_url: str
    data_dir: Path
    database_url: str
    database_wait: int
    workers: int
    server: str
    max_connections: int
    idle_timeout: int
    stop_delay: int
    send_timeout: int
    connections_per_address: int
    large_responses: int
    large_responses_per_address: int
    tls_cert: Path | None
    tls_key: Path | None
    chain_file: ChainFile | None
    chain: int
    rpc_url_8453: str
    rpc_url: str
    public_rpc_url: str | None
    bundler_url: str | None
    sponsor_key: SponsorKey | None
    sponsor_chains: tuple[int, ...]
    sponsor_day: int
    sponsor_did_day: int
    sponsor_contracts: dict[str, int | None]
    sponsor_max_fee: int
    sponsor_low: int
    faucet_url: str | None
    indexer_app: str | None
    indexer_url: str | None
    mail_url: str
    mail_from: str
    sms_url: str
    webhook_secret: str | None
    guardian_key: str | None
    guardian_wait: int
    events_url: str | None
    registration: str
    channels: tuple[str, ...]
    client_ip_header: str | None
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...]
    enclave_url: str | None
    contract_entry_point: str
    contract_did_registry: str
    contract_account_helper: str
    contract_session_sbt: str
    contract_app_factory: str
    usdc_84532: str
    usdc_8453: str
    reserved_file: Path | None
    reserved_allow_file: Path | None
    registration_proof: str
    confirmation_depth: int
    credentials_per_identifier: int
    unconfirmed_per_identifier: int
    did_posts_per_address_day: int
    checks_per_address_hour: int
    refused_sends_per_address_day: int
    operations_per_address_hour: int
    keyed_requests_per_address_day: int
    chain_reads_per_address_minute: int
    sms_per_number_hour: int
    sms_per_country_day: int
    sms_per_day: int
    sms_countries: tuple[str, ...]
    snapshots: str
    snapshots_url: str
    snapshots_bytes_per_did: int
    snapshots_bytes_unconfirmed: int
    snapshots_pins_per_did: int
    snapshots_revisions_per_did: int
    snapshots_uploads_per_address_hour: int
    snapshots_reads_per_address_minute: int
    snapshots_refusals_per_address_minute: int
    snapshots_free_bytes: int
    registrar_did: str
    related_origins: tuple[str, ...]
    own_pages_only: str
    security_contact: str | None
    pages: str
    pages_name: str
    pages_colour: str
    pages_logo: Path | None
    pages_languages: tuple[str, ...]
    pages_imprint: str | None
    pages_privacy: str | None
    pages_help: str | None
    pairing_host: str
    audit_days: int
    log: str
    log_level: str
    env: str
    access_log: str
    admin_port: int | None
    admin_hosts: tuple[str, ...]
    strict: str
    limits: Limits

    @property
    def public_host(self) -> str:
        """The host of the public URL, which is also the relying party ID, the registrar and the sender's domain."""
        return urlsplit(self.public_url).hostname or "localhost"

    @property
    def ceilings(self) -> Ceilings:
        """The limits that Holdfast adds to those of the interface."""
        return Ceilings(**{field.name: getattr(self, field.name) for field in fields(Ceilings)})

    @property
    def snapshot_limits(self) -> SnapshotLimits:
        """How many snapshots and bytes one DID may store."""
        return SnapshotLimits(
            self.snapshots_bytes_per_did,
            self.snapshots_pins_per_did,
            self.snapshots_revisions_per_did,
            self.snapshots_bytes_unconfirmed,
        )

    @property
    def blocks_stay_here(self) -> bool:
        """Whether snapshot blocks are stored in a local folder although the database may also serve other machines."""
        return (
            self.snapshots == "on"
            and self.snapshots_url.startswith("file:")
            and not self.database_url.startswith(FILE_ADDRESSES)
        )

    @property
    def production(self) -> bool:
        """Whether development settings are refused: HOLDFAST_ENV is `production`, or the public URL is not local."""
        return self.env == "production" or not is_this_machine(self.public_host)


def warn_of_local_url(settings: Settings) -> str | None:
    """Return a sentence if production has a public URL that only this machine reaches."""
    if settings.production and is_this_machine(settings.public_host):
        return f"{settings.public_url}: only this machine reaches it, though the service is in production"
    return None


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the effective settings. Raises SettingError for the first variable that cannot be read."""
    given = os.environ if environment is None else environment
    limits = Limits(**read_rows(LIMIT_ROWS, given))
    settings = Settings(**read_rows(ROWS, given), limits=limits)
    if settings.strict == "on" and (unknown := unknown_settings(given)):
        raise SettingError("; ".join(unknown))
    _require_both_tls_files(settings)
    _require_two_ports(settings)
    traces_configured(given)
    _require_engine(given)
    if settings.production:
        _refuse_development_choices(settings, given)
    elif not is_this_machine(settings.host) and not given.get("HOLDFAST_PUBLIC_URL"):
        raise SettingError(
            "HOLDFAST_PUBLIC_URL: with HOLDFAST_HOST the service is open to other machines, and in development its log"
            " and outbox contain their codes; set the address at which they reach it (https://…), or for tests on this"
            f" machine {settings.public_url}"
        )
    return settings


def _require_two_ports(settings: Settings) -> None:
    if settings.admin_port == settings.port:
        raise SettingError("HOLDFAST_ADMIN_PORT: HOLDFAST_PORT is the same port; choose another")


def _require_both_tls_files(settings: Settings) -> None:
    """Require a readable certificate and a readable key for TLS.

    Without this check, the error from granian or uvicorn would be less clear.
    """
    files = {"HOLDFAST_TLS_CERT": settings.tls_cert, "HOLDFAST_TLS_KEY": settings.tls_key}
    if not any(files.values()):
        return
    for name, file in files.items():
        if file is None:
            raise SettingError(f"{name}: TLS needs both HOLDFAST_TLS_CERT and HOLDFAST_TLS_KEY")
        if not os.access(file, os.R_OK) or not file.is_file():
            raise SettingError(f"{name}: no such file, or this user cannot read it")
    import ssl  # only here, so that commands without TLS start without it

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_cert or "", settings.tls_key, password="")
    except ssl.SSLError:
        needed = "this file and that of HOLDFAST_TLS_KEY must be a certificate and its key, in PEM, without a password"
        raise SettingError(f"HOLDFAST_TLS_CERT: {needed}") from None


def engine_unsigned(environment: Mapping[str, str]) -> bool:
    """Return whether the workflow SDK is in development mode, in which it accepts unsigned calls."""
    return environment.get("INNGEST_DEV", "").strip().lower() not in {"", "0", "false"}  # otherwise a flag or a URL


def engine_configured(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether a workflow engine that can call the workflow functions is configured.

    The SDK serves functions if it has a signing key or is in development mode. An event key alone only lets the SDK
    send events.
    """
    given = os.environ if environment is None else environment
    return bool(given.get("INNGEST_SIGNING_KEY")) or engine_unsigned(given)


def _require_engine(given: Mapping[str, str]) -> None:
    is_flag = not set(given.get("INNGEST_DEV", "")) & set(":./")
    for name in _ENGINE_URLS[is_flag:]:
        SettingRow(name, None, http_url, "").read(given, {})  # the SDK ignores an address that it cannot read
    if engine_configured(given) and not all(find_spec(name) for name in ("inngest", "fastapi")):
        name = "INNGEST_SIGNING_KEY" if given.get("INNGEST_SIGNING_KEY") else "INNGEST_DEV"
        raise SettingError(f"{name}: it needs the extra: {install_command('workflow')}; or unset it")


def _refuse_development_choices(settings: Settings, given: Mapping[str, str]) -> None:
    """Refuse settings that are only safe in development, with one message that lists all of them."""
    refused = [f"{name}: {why}" for name, why in _development_choices(settings, given)]
    if refused:
        raise SettingError("; ".join(refused))


def _development_choices(settings: Settings, given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if settings.env == "development":
        yield "HOLDFAST_ENV", "development needs a HOLDFAST_PUBLIC_URL on this machine, such as " + SERVICE_URL
    providers = {"email": ("HOLDFAST_MAIL_URL", settings.mail_url), "sms": ("HOLDFAST_SMS_URL", settings.sms_url)}
    for channel, (name, value) in providers.items():
        if value.startswith("outbox:") and (given.get(name) or channel in settings.channels):
            yield name, f"the outbox is for development; name a provider, or leave {channel} out of HOLDFAST_CHANNELS"
    if settings.faucet_url:
        yield "HOLDFAST_FAUCET_URL", "the local world's faucet is for development; in production unset it"
    if urlsplit(settings.public_url).scheme == "http" and not is_this_machine(settings.public_host):
        yield "HOLDFAST_PUBLIC_URL", "in production it must be https"
    if engine_unsigned(given):
        yield "INNGEST_DEV", "it lets anyone call the workflow; in production set INNGEST_SIGNING_KEY"
