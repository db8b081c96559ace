"""The table of the service's settings: one row for each environment variable."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from holdfast.rules.colours import TEXT_CONTRAST, WHITE, contrast, parse_colour
from holdfast.rules.dids import parse_did
from holdfast.rules.identifiers import Channel
from holdfast.rules.limits import (
    ALL_COUNTRIES,
    CONFIRMATION_DEPTH,
    CONNECTIONS_PER_ADDRESS,
    LARGE_RESPONSES,
    LARGE_RESPONSES_PER_ADDRESS,
    LIMIT_NAMES,
    SEND_TIMEOUT_S,
    Ceilings,
    Limits,
)
from holdfast.rules.multiaddresses import websocket_origin
from holdfast.rules.recovery import parse_guardian_keys
from holdfast.rules.snapshot_quotas import (
    SNAPSHOT_BYTES_PER_DID,
    SNAPSHOT_BYTES_UNCONFIRMED,
    SNAPSHOT_FREE_BYTES,
    SNAPSHOT_PINS_PER_DID,
    SNAPSHOT_READS_PER_ADDRESS_MINUTE,
    SNAPSHOT_REFUSALS_PER_ADDRESS_MINUTE,
    SNAPSHOT_REVISIONS_PER_DID,
    SNAPSHOT_UPLOADS_PER_ADDRESS_HOUR,
)
from holdfast.rules.webhooks import parse_secrets
from holdfast.service.delivery.schemes import EventScheme, MailScheme, SmsScheme
from holdfast.service.settings.sponsor import SPONSOR_ROWS
from holdfast.settings.parsers import (
    MAX_PORT,
    header_name,
    host_names,
    http_url,
    https_origins,
    integer_between,
    module_attribute,
    networks,
    one_of,
    own_origin,
    public_url,
    shown_name,
    url_with,
)
from holdfast.settings.rows import SettingRow
from holdfast.settings.shared import (
    APP_FACTORY,
    CHAIN,
    CHAIN_FILE,
    DATA_DIR,
    DATABASE_URL,
    DID_REGISTRY,
    LOG,
    LOG_LEVEL,
    RPC_URL,
    RPC_URL_8453,
    USDC,
    contract_row,
    main_chain,
)
from holdfast.wire.defaults import SERVICE_URL
from holdfast.wire.errors import Refused
from holdfast.wire.hosts import is_this_machine

if TYPE_CHECKING:
    from collections.abc import Mapping

_COUNTRY = re.compile(r"[A-Z]{2}")
SIGNING_KEY = "ATTESTATION_SIGNING_KEY"  # read apart from the rows (secrets.py)
MAX_AUDIT_DAYS = 36_500
MAX_LIMIT = 1_000_000_000  # about thirty years in seconds, so that times stay within a calendar's range


def _did(text: str) -> str:
    try:
        return parse_did(text)
    except Refused:
        raise ValueError("a DID such as did:web:id.example is needed") from None


def _sender(text: str) -> str:
    # Imported here, because Python's parser of mail headers is slow to import and only the service needs it.
    from holdfast.service.delivery.mail_addresses import sender_address

    sender_address(text)
    return text


def _link(text: str) -> str:
    http_url(text)
    return text


def _own_address(values: Mapping[str, Any]) -> str:
    """Return the default public URL: clients derive their tokens' audience from the address that they connect to."""
    port = values.get("port")
    return SERVICE_URL if not port else f"http://localhost:{port}"


def _environment(values: Mapping[str, Any]) -> str:
    """Return `production` for a public address, so that production's checks apply even if the variable is not set."""
    return "development" if is_this_machine(urlsplit(values["public_url"]).hostname or "") else "production"


def _host_of(values: Mapping[str, Any]) -> str:
    return urlsplit(values["public_url"]).netloc.rpartition("@")[2] or "localhost"


def _sender_of(values: Mapping[str, Any]) -> str:
    host = urlsplit(values["public_url"]).hostname or "localhost"
    # In a mail address, an IPv6 address has the form that RFC 5321, section 4.1.3, defines.
    return f"Holdfast <no-reply@{f'[IPv6:{host}]' if ':' in host else host}>"


def _registrar(values: Mapping[str, Any]) -> str:
    host = _host_of(values)
    if host.startswith("["):
        raise ValueError(
            "an IPv6 address, as in HOLDFAST_PUBLIC_URL, cannot stand in a did:web; set HOLDFAST_PUBLIC_URL to a"
            " host's name (passkeys need one as well), or this to the registrar's DID"
        )
    # In a did:web, the colon before a port is percent-encoded.
    return "did:web:" + host.replace(":", "%3A")


def _countries(text: str) -> tuple[str, ...]:
    codes = tuple(sorted({part.strip().upper() for part in text.split(",") if part.strip()}))
    if text != ALL_COUNTRIES and not (codes and all(_COUNTRY.fullmatch(code) for code in codes)):
        raise ValueError("all, or two-letter codes of countries, separated by commas, are needed")
    return (ALL_COUNTRIES,) if text == ALL_COUNTRIES else codes


_LANGUAGES = ("en", "de")
_WITHOUT = "; to offer no such channel, leave {} out of HOLDFAST_CHANNELS"
_CHANNELS = tuple(channel.value for channel in Channel)


def _channels(text: str) -> tuple[str, ...]:
    chosen = {part.strip() for part in text.split(",")}
    if not chosen <= set(_CHANNELS):
        raise ValueError(f"one or more of {', '.join(_CHANNELS)} are needed, separated by commas")
    return tuple(name for name in _CHANNELS if name in chosen)


def _channels_of(values: Mapping[str, Any]) -> str:
    """Return the default channels: in production, addresses and numbers only if a provider is set."""
    offered = {"email": values["mail_url"], "sms": values["sms_url"]}
    without = values["env"] == "production"
    names = [name for name, url in offered.items() if not (without and url.startswith("outbox:"))]
    return ",".join(["handle", *names])


def _webhook_secrets(text: str) -> str:
    parse_secrets(text)
    return text


def _guardian_key(text: str) -> str:
    if text != "off":
        parse_guardian_keys(text)
    return text


def _contact(text: str) -> str:
    if not text.startswith(("mailto:", "https://", "tel:")) or not text.isprintable() or " " in text:
        raise ValueError("an address that begins with mailto:, https:// or tel: is needed")
    return text


def _pairing_host(text: str) -> str:
    if text:
        websocket_origin(text)
    return text


def _colour(text: str) -> str:
    colour = parse_colour(text)
    if (ratio := contrast(colour, WHITE)) < TEXT_CONTRAST:
        raise ValueError(
            f"its contrast with white is {ratio:.1f}:1 and people could not read text of this colour; choose a darker"
            f" one, with at least {TEXT_CONTRAST}:1 (WCAG 2.2, 1.4.3)"
        )
    return str(colour)


def _languages(text: str) -> tuple[str, ...]:
    chosen = tuple(part.strip() for part in text.split(","))
    if len(set(chosen)) != len(chosen) or not set(chosen) <= set(_LANGUAGES):
        raise ValueError(f"name each language once, of {', '.join(_LANGUAGES)}")
    return chosen


def _depth(values: Mapping[str, Any]) -> str:
    # A chain on this machine is a development chain: it mines on demand and has no reorganisations.
    return "0" if is_this_machine(urlsplit(values["rpc_url"]).hostname or "") else str(CONFIRMATION_DEPTH)


def _ceiling(name: str, about: str) -> SettingRow:
    return SettingRow(f"HOLDFAST_{name.upper()}", str(getattr(Ceilings(), name)), integer_between(0, MAX_LIMIT), about)


def _snapshots(name: str, default: int, about: str) -> SettingRow:
    return SettingRow(f"HOLDFAST_SNAPSHOTS_{name.upper()}", str(default), integer_between(0, 2**53), about)


ROWS: tuple[SettingRow, ...] = (
    SettingRow("HOLDFAST_HOST", "127.0.0.1", str, "address to listen on"),
    SettingRow("HOLDFAST_PORT", "8787", integer_between(0, MAX_PORT), "port to listen on"),
    SettingRow("HOLDFAST_PUBLIC_URL", _own_address, own_origin, "the service's own address, WebAuthn origin"),
    SettingRow(
        "HOLDFAST_ENV", _environment, one_of("development", "production"), "production refuses development choices"
    ),
    DATA_DIR,
    DATABASE_URL,
    SettingRow(
        "HOLDFAST_DATABASE_WAIT",
        "60",
        integer_between(0, 3600),
        "seconds for which a start waits for a database server that does not answer",
    ),
    SettingRow("HOLDFAST_WORKERS", "1", integer_between(1, 64), "processes"),
    SettingRow("HOLDFAST_SERVER", "granian", one_of("granian", "uvicorn"), "HTTP server"),
    SettingRow(
        "HOLDFAST_MAX_CONNECTIONS", "2048", integer_between(1, 1_000_000), "connections that one process keeps open"
    ),
    SettingRow(
        "HOLDFAST_IDLE_TIMEOUT",
        "75",
        integer_between(1, 3600),
        "seconds until a connection without a whole request head ends",
    ),
    SettingRow(
        "HOLDFAST_STOP_DELAY",
        "1",
        integer_between(0, 300),
        "seconds for which a process goes on serving when it is told to stop",
    ),
    SettingRow(
        "HOLDFAST_SEND_TIMEOUT",
        str(SEND_TIMEOUT_S),
        integer_between(1, 3600),
        "seconds until a connection ends whose client does not take its response",
    ),
    SettingRow(
        "HOLDFAST_CONNECTIONS_PER_ADDRESS",
        str(CONNECTIONS_PER_ADDRESS),
        integer_between(0, 1_000_000),
        "connections to one process that an address keeps open; 0: any number",
    ),
    SettingRow(
        "HOLDFAST_LARGE_RESPONSES",
        str(LARGE_RESPONSES),
        integer_between(1, 100_000),
        "responses above 128 KiB (HTTP/2: 16 KiB) that one process sends at the same time",
    ),
    SettingRow(
        "HOLDFAST_LARGE_RESPONSES_PER_ADDRESS",
        str(LARGE_RESPONSES_PER_ADDRESS),
        integer_between(1, 100_000),
        "of these, how many go to one address",
    ),
    SettingRow("HOLDFAST_TLS_CERT", None, Path, "certificate chain, PEM; with it TLS and HTTP/2"),
    SettingRow("HOLDFAST_TLS_KEY", None, Path, "private key of the certificate, PEM"),
    CHAIN_FILE,
    CHAIN,
    RPC_URL_8453,
    RPC_URL,
    SettingRow(
        "HOLDFAST_PUBLIC_RPC_URL",
        lambda values: main_chain(values).public_rpc,
        public_url,
        "what /api/status shows as rpc",
    ),
    SettingRow(
        "HOLDFAST_BUNDLER_URL",
        lambda values: main_chain(values).bundler,
        http_url,
        "ERC-4337 bundler of the chain HOLDFAST_CHAIN",
        secret=True,
    ),
    *SPONSOR_ROWS,
    SettingRow("HOLDFAST_FAUCET_URL", None, public_url, "test USDC for the button on /vault; in development alone"),
    SettingRow("HOLDFAST_INDEXER_APP", None, module_attribute, "indexer in this process, module:attribute"),
    SettingRow("HOLDFAST_INDEXER_URL", None, http_url, "indexer at an address", secret=True),
    SettingRow(
        "HOLDFAST_MAIL_URL",
        "outbox:",
        url_with(*MailScheme, otherwise=_WITHOUT.format("email")),
        "provider of e-mail",
        secret=True,
    ),
    SettingRow("HOLDFAST_MAIL_FROM", _sender_of, _sender, "sender"),
    SettingRow(
        "HOLDFAST_SMS_URL",
        "outbox:",
        url_with(*SmsScheme, otherwise=_WITHOUT.format("sms")),
        "provider of SMS codes",
        secret=True,
    ),
    SettingRow(
        "HOLDFAST_WEBHOOK_SECRET",
        None,
        _webhook_secrets,
        "what signs messages to a webhook: whsec_… (`holdfast keys webhook`); several, separated by spaces",
        secret=True,
    ),
    SettingRow(
        "HOLDFAST_GUARDIAN_KEY",
        None,
        _guardian_key,
        "the service's key as a guardian of accounts (`holdfast keys new`); several, separated by commas: the first is"
        " offered, all sign; off: none. By default one in the data folder, in production none",
        secret=True,
    ),
    SettingRow(
        "HOLDFAST_GUARDIAN_WAIT",
        "86400",
        integer_between(0, 30 * 86400),
        "seconds from the entry of a code until the service signs a recovery as a guardian",
    ),
    SettingRow(
        "HOLDFAST_EVENTS_URL",
        None,
        url_with(*EventScheme),
        "webhook that gets an event for each registration, confirmation, release and so on",
        secret=True,
    ),
    SettingRow(
        "HOLDFAST_REGISTRATION",
        "open",
        one_of("open", "invitation", "closed"),
        "who may register: everyone, people with an invitation code (`holdfast invitation new`), no one",
    ),
    SettingRow("HOLDFAST_CHANNELS", _channels_of, _channels, "what people may register: handle, email, sms"),
    SettingRow("HOLDFAST_CLIENT_IP_HEADER", None, header_name, "the edge's header with the client's address"),
    SettingRow("HOLDFAST_TRUSTED_PROXIES", "127.0.0.1,::1", networks, "peers whose header is believed, or none"),
    SettingRow(
        "HOLDFAST_ENCLAVE_URL",
        None,
        url_with("s3", "gs", "az", "file"),
        "object storage of the latest published enclave",
        secret=True,
    ),
    contract_row("HOLDFAST_CONTRACT_ENTRY_POINT", "entryPoint", "ERC-4337 entry point"),
    DID_REGISTRY,
    contract_row("HOLDFAST_CONTRACT_ACCOUNT_HELPER", "accountHelper", "account helper"),
    contract_row("HOLDFAST_CONTRACT_SESSION_SBT", "sessionSBT", "session token"),
    APP_FACTORY,
    *USDC,
    SettingRow("HOLDFAST_RESERVED_FILE", None, Path, "adds to the reserved handles"),
    SettingRow("HOLDFAST_RESERVED_ALLOW_FILE", None, Path, "takes from the reserved handles"),
    SettingRow(
        "HOLDFAST_REGISTRATION_PROOF",
        "deferred",
        one_of("deferred", "required"),
        "when the chain must have seen the registration",
    ),
    SettingRow(
        "HOLDFAST_CONFIRMATION_DEPTH",
        _depth,
        integer_between(0, 100_000),
        "blocks on top of a registration's before it counts as confirmed",
    ),
    _ceiling("credentials_per_identifier", "credentials that one identifier may have"),
    _ceiling("unconfirmed_per_identifier", "of these, how many may wait for the chain"),
    _ceiling("did_posts_per_address_day", "POST /api/dids from an address in 24 hours, whatever comes of them"),
    _ceiling("checks_per_address_hour", "POST /api/verify/check from an address in an hour"),
    _ceiling("refused_sends_per_address_day", "sends from an address that providers refuse, in 24 hours"),
    _ceiling("operations_per_address_hour", "user operations sponsored or sent for an address in an hour"),
    _ceiling("keyed_requests_per_address_day", "requests with a new Idempotency-Key from an address in 24 hours"),
    _ceiling("chain_reads_per_address_minute", "reads of the chain for an address in a minute, in a process"),
    _ceiling("sms_per_number_hour", "text messages to a number in an hour"),
    _ceiling("sms_per_country_day", "text messages to a country in 24 hours"),
    _ceiling("sms_per_day", "text messages in all in 24 hours"),
    SettingRow(
        "HOLDFAST_SMS_COUNTRIES", ALL_COUNTRIES, _countries, "countries that are sent text messages, as DE,AT,CH"
    ),
    SettingRow(
        "HOLDFAST_SNAPSHOTS",
        "on",
        one_of("on", "off"),
        "stored snapshots; off: their paths are 404",
    ),
    SettingRow(
        "HOLDFAST_SNAPSHOTS_URL",
        lambda values: f"file://{quote(str(values['data_dir'].absolute() / 'snapshots'))}",
        url_with("s3", "gs", "az", "file"),
        "object storage of the blocks of snapshots; with several nodes one that all of them reach",
        secret=True,
    ),
    _snapshots("bytes_per_did", SNAPSHOT_BYTES_PER_DID, "bytes that the snapshots of a DID may have together"),
    _snapshots("bytes_unconfirmed", SNAPSHOT_BYTES_UNCONFIRMED, "the same, until the chain has confirmed it"),
    _snapshots("pins_per_did", SNAPSHOT_PINS_PER_DID, "pins that a DID may have"),
    _snapshots("revisions_per_did", SNAPSHOT_REVISIONS_PER_DID, "different snapshots that a DID may keep"),
    _snapshots("uploads_per_address_hour", SNAPSHOT_UPLOADS_PER_ADDRESS_HOUR, "uploads from an address in an hour"),
    _snapshots(
        "reads_per_address_minute",
        SNAPSHOT_READS_PER_ADDRESS_MINUTE,
        "reads of an address in a minute, in a process",
    ),
    _snapshots(
        "refusals_per_address_minute",
        SNAPSHOT_REFUSALS_PER_ADDRESS_MINUTE,
        "refused tokens of an address in a minute, in a process",
    ),
    _snapshots("free_bytes", SNAPSHOT_FREE_BYTES, "bytes of the disk that uploads leave free (0: unchecked)"),
    SettingRow("HOLDFAST_REGISTRAR_DID", _registrar, _did, "DID that signs attestations"),
    SettingRow(
        "HOLDFAST_RELATED_ORIGINS",
        "none",
        https_origins,
        "other origins whose pages may use the passkeys of this service's host, as https://app.example",
    ),
    SettingRow(
        "HOLDFAST_OWN_PAGES_ONLY",
        "off",
        one_of("on", "off"),
        "on: pages of other origins than these may read, but not register, send codes or upload",
    ),
    SettingRow(
        "HOLDFAST_SECURITY_CONTACT",
        None,
        _contact,
        "where to report a vulnerability, for security.txt: mailto:…, https://… or tel:…",
    ),
    SettingRow("HOLDFAST_PAGES", "on", one_of("on", "off"), "off: the interface alone, without pages for people"),
    SettingRow("HOLDFAST_PAGES_NAME", "Holdfast", shown_name, "the service's name on its pages"),
    SettingRow("HOLDFAST_PAGES_COLOUR", "#1f5fa8", _colour, "the pages' colour, as #rrggbb; checked for contrast"),
    SettingRow("HOLDFAST_PAGES_LOGO", None, Path, "the pages' logo, an SVG or PNG file of at most 256 KiB"),
    SettingRow(
        "HOLDFAST_PAGES_LANGUAGES",
        "en,de",
        _languages,
        "the pages' languages, en and de; the first where a browser prefers neither",
    ),
    SettingRow("HOLDFAST_PAGES_IMPRINT", None, _link, "the address of your imprint, linked at the pages' foot"),
    SettingRow("HOLDFAST_PAGES_PRIVACY", None, _link, "the address of your privacy notice, linked at the pages' foot"),
    SettingRow("HOLDFAST_PAGES_HELP", None, _link, "the address of your help, linked at the pages' foot"),
    SettingRow(
        "HOLDFAST_PAIRING_HOST",
        "",
        _pairing_host,
        "where two browsers meet (`holdfast vault meet`), as /dns4/meet.example/tcp/443/wss/p2p/12D3…",
    ),
    SettingRow(
        "HOLDFAST_AUDIT_DAYS",
        "180",
        integer_between(0, MAX_AUDIT_DAYS),
        "days after which hashes replace the names and DIDs in the audit; 0: never",
    ),
    LOG,
    LOG_LEVEL,
    SettingRow("HOLDFAST_ACCESS_LOG", "off", one_of("on", "off"), "on: a line of the log for each request"),
    SettingRow("HOLDFAST_ADMIN_PORT", None, integer_between(1, MAX_PORT), "port of /metrics and /admin"),
    SettingRow(
        "HOLDFAST_ADMIN_HOSTS",
        "none",
        host_names,
        "host names of the admin port, in addition to addresses, localhost and the public URL's",
    ),
    SettingRow(
        "HOLDFAST_STRICT", "off", one_of("on", "off"), "on: a HOLDFAST_ variable that is not a setting is refused"
    ),
)
LIMIT_ROWS = tuple(
    SettingRow(name, str(getattr(Limits(), name.lower())), integer_between(0, MAX_LIMIT), "") for name in LIMIT_NAMES
)
