"""The rows of the settings table."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from holdfast.chain.contracts.addresses import DEFAULT_CONTRACT_SET
from holdfast.rules.chains import CHAINS
from holdfast.rules.dids import parse_did
from holdfast.rules.limits import ALL_COUNTRIES, CONFIRMATION_DEPTH, Ceilings
from holdfast.service.store.kinds import KINDS, default_url
from holdfast.wire.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")
_DIGITS = re.compile(r"[0-9]{1,18}")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_COUNTRY = re.compile(r"[A-Z]{2}")
_MAX_PORT = 65535
MAX_LIMIT = 1_000_000_000  # as seconds some thirty years: times stay within what a calendar can hold


@dataclass(frozen=True, slots=True)
class Row:
    """One setting.

    Attributes:
        name: environment variable.
        default: text, or what computes it from the settings read before, or None for "not set".
        parse: text to value; raises ValueError with a sentence that does not repeat the text.
        about: one line for people.
        secret: masked wherever it is shown.
    """

    name: str
    default: str | Callable[[Mapping[str, Any]], str] | None
    parse: Callable[[str], Any]
    about: str
    secret: bool = False

    @property
    def field(self) -> str:
        """Attribute of `Settings`."""
        return self.name.removeprefix("HOLDFAST_").lower()

    def default_of(self, values: Mapping[str, Any]) -> str | None:
        """The default's text, given what was read so far. Raises ValueError where none can be made of that."""
        return self.default(values) if callable(self.default) else self.default


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """A parser of whole numbers in decimal ASCII digits, both ends included."""

    def parse(text: str) -> int:
        if not _DIGITS.fullmatch(text) or not low <= int(text) <= high:
            raise ValueError(f"a whole number from {low} to {high} is needed")
        return int(text)

    return parse


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError("one of these is needed: " + ", ".join(choices))
        return text

    return parse


def _http_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("an http:// or https:// address is needed")
    return text.rstrip("/")


def _public_url(text: str) -> str:
    """An address that people and pages are shown, so nothing in it may be a secret."""
    parts = urlsplit(_http_url(text))
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("an address without user, password, query and fragment is needed: it is shown to everybody")
    return text.rstrip("/")


def _url_with(*schemes: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.partition(":")[0] not in schemes:
            raise ValueError("an address that begins with one of these is needed: " + ", ".join(schemes))
        return text

    return parse


def _address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise ValueError("0x and 40 hex digits are needed")
    return text


def _address_or_none(text: str) -> str:
    return "" if text == "none" else _address(text)


def _header(text: str) -> str:
    if not _HEADER.fullmatch(text):
        raise ValueError("the name of a header is needed")
    return text.lower()


def _networks(text: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    if text == "none":
        return ()
    try:
        return tuple(ipaddress.ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip())
    except ValueError:
        raise ValueError("addresses or CIDR blocks, separated by commas, or none are needed") from None


def _did(text: str) -> str:
    try:
        return parse_did(text)
    except Refused:
        raise ValueError("a DID is needed") from None


def _sender(text: str) -> str:
    if "\r" in text or "\n" in text or "@" not in text:
        raise ValueError("an address, with or without a name before it, is needed")
    return text


def _binding(text: str) -> str:
    module, colon, attribute = text.partition(":")
    if not (colon and _DOTTED.fullmatch(module) and _DOTTED.fullmatch(attribute)):
        raise ValueError("module:attribute of an ASGI application is needed")
    return text


def _data_dir(_values: Mapping[str, Any]) -> str:
    # Imported here: only a service that was given no folder asks the platform for one.
    import platformdirs

    return platformdirs.user_data_dir("holdfast", appauthor=False)


def is_local(host: str) -> bool:
    """Whether a host of the public URL is this machine: localhost (RFC 6761) or a loopback address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _environment(values: Mapping[str, Any]) -> str:
    """An address that others can reach counts as production, so that forgetting the variable is no open door."""
    return "development" if is_local(urlsplit(values["public_url"]).hostname or "") else "production"


def _host_of(values: Mapping[str, Any]) -> str:
    return urlsplit(values["public_url"]).netloc.rpartition("@")[2] or "localhost"


def _sender_of(values: Mapping[str, Any]) -> str:
    host = urlsplit(values["public_url"]).hostname or "localhost"
    # Mail writes an IPv6 address as RFC 5321, section 4.1.3, does.
    return f"Holdfast <no-reply@{f'[IPv6:{host}]' if ':' in host else host}>"


def _registrar(values: Mapping[str, Any]) -> str:
    host = _host_of(values)
    if host.startswith("["):
        raise ValueError(
            "an IPv6 address, as in HOLDFAST_PUBLIC_URL, cannot stand in a did:web; set HOLDFAST_PUBLIC_URL to a"
            " host's name (passkeys need one as well), or this to the registrar's DID"
        )
    # did:web writes a port with an encoded colon.
    return "did:web:" + host.replace(":", "%3A")


def _countries(text: str) -> tuple[str, ...]:
    codes = tuple(sorted({part.strip().upper() for part in text.split(",") if part.strip()}))
    if text != ALL_COUNTRIES and not (codes and all(_COUNTRY.fullmatch(code) for code in codes)):
        raise ValueError("all, or two-letter codes of countries, separated by commas, are needed")
    return (ALL_COUNTRIES,) if text == ALL_COUNTRIES else codes


def _depth(values: Mapping[str, Any]) -> str:
    # A chain on this machine is a development chain: it does not reorganise, and mines when it is told to.
    return "0" if is_local(urlsplit(values["rpc_url"]).hostname or "") else str(CONFIRMATION_DEPTH)


def _ceiling(name: str, about: str) -> Row:
    return Row(f"HOLDFAST_{name.upper()}", str(getattr(Ceilings(), name)), whole_number(0, MAX_LIMIT), about)


def _contract(name: str) -> str:
    return str(DEFAULT_CONTRACT_SET[name])


ROWS: tuple[Row, ...] = (
    Row("HOLDFAST_HOST", "127.0.0.1", str, "address to listen on"),
    Row("HOLDFAST_PORT", "8787", whole_number(0, _MAX_PORT), "port to listen on"),
    Row("HOLDFAST_PUBLIC_URL", "http://localhost:8787", _public_url, "the service's own address, WebAuthn origin"),
    Row("HOLDFAST_ENV", _environment, _one_of("development", "production"), "production refuses development choices"),
    Row("HOLDFAST_DATA_DIR", _data_dir, Path, "embedded database, generated secrets, outbox"),
    Row(
        "HOLDFAST_DATABASE_URL",
        lambda values: default_url(values["data_dir"]),
        _url_with(*KINDS),
        "where registrations are kept",
        secret=True,
    ),
    Row("HOLDFAST_WORKERS", "1", whole_number(1, 64), "processes"),
    Row("HOLDFAST_SERVER", "granian", _one_of("granian", "uvicorn"), "HTTP server"),
    Row("HOLDFAST_MAX_CONNECTIONS", "2048", whole_number(1, 1_000_000), "connections that one process keeps open"),
    Row(
        "HOLDFAST_IDLE_TIMEOUT",
        "75",
        whole_number(1, 3600),
        "seconds until a connection without a whole request head ends",
    ),
    Row("HOLDFAST_TLS_CERT", None, Path, "certificate chain, PEM; with it TLS and HTTP/2"),
    Row("HOLDFAST_TLS_KEY", None, Path, "private key of the certificate, PEM"),
    Row("HOLDFAST_RPC_URL", CHAINS[84532].public_rpc, _http_url, "JSON-RPC of chain 84532", secret=True),
    Row("HOLDFAST_RPC_URL_8453", CHAINS[8453].public_rpc, _http_url, "JSON-RPC of chain 8453", secret=True),
    Row("HOLDFAST_PUBLIC_RPC_URL", None, _public_url, "what /api/status shows as rpc"),
    Row("HOLDFAST_BUNDLER_URL", None, _http_url, "ERC-4337 bundler of chain 84532", secret=True),
    Row("HOLDFAST_INDEXER_APP", None, _binding, "indexer in this process, module:attribute"),
    Row("HOLDFAST_INDEXER_URL", None, _http_url, "indexer at an address", secret=True),
    Row(
        "HOLDFAST_MAIL_URL",
        "outbox:",
        _url_with("smtp", "smtps", "smtp+starttls", "resend", "outbox"),
        "provider of e-mail",
        secret=True,
    ),
    Row("HOLDFAST_MAIL_FROM", _sender_of, _sender, "sender"),
    Row("HOLDFAST_SMS_URL", "outbox:", _url_with("twilio", "outbox"), "provider of SMS codes", secret=True),
    Row("HOLDFAST_CLIENT_IP_HEADER", None, _header, "the edge's header with the client's address"),
    Row("HOLDFAST_TRUSTED_PROXIES", "127.0.0.1,::1", _networks, "peers whose header is believed, or none"),
    Row(
        "HOLDFAST_ENCLAVE_URL",
        None,
        _url_with("s3", "gs", "az", "file"),
        "object storage of the latest published enclave",
        secret=True,
    ),
    Row("HOLDFAST_CONTRACT_ENTRY_POINT", _contract("entryPoint"), _address, "ERC-4337 entry point"),
    Row("HOLDFAST_CONTRACT_DID_REGISTRY", _contract("didRegistry"), _address, "DID registry"),
    Row("HOLDFAST_CONTRACT_ACCOUNT_HELPER", _contract("accountHelper"), _address, "account helper"),
    Row("HOLDFAST_CONTRACT_SESSION_SBT", _contract("sessionSBT"), _address, "session token"),
    Row("HOLDFAST_CONTRACT_APP_FACTORY", _contract("appFactory"), _address, "account factory"),
    Row("HOLDFAST_USDC_84532", CHAINS[84532].usdc, _address_or_none, "USDC on chain 84532, or none"),
    Row("HOLDFAST_USDC_8453", CHAINS[8453].usdc, _address_or_none, "USDC on chain 8453, or none"),
    Row("HOLDFAST_RESERVED_FILE", None, Path, "adds to the reserved handles"),
    Row("HOLDFAST_RESERVED_ALLOW_FILE", None, Path, "takes from the reserved handles"),
    Row(
        "HOLDFAST_REGISTRATION_PROOF",
        "deferred",
        _one_of("deferred", "required"),
        "when the chain must have seen the registration",
    ),
    Row(
        "HOLDFAST_CONFIRMATION_DEPTH",
        _depth,
        whole_number(0, 100_000),
        "blocks on top of a registration's before it counts as confirmed",
    ),
    _ceiling("credentials_per_identifier", "credentials that one identifier may have"),
    _ceiling("unconfirmed_per_identifier", "of these, how many may wait for the chain"),
    _ceiling("did_posts_per_address_day", "POST /api/dids from an address in 24 hours, whatever comes of them"),
    _ceiling("checks_per_address_hour", "POST /api/verify/check from an address in an hour"),
    _ceiling("refused_sends_per_address_day", "sends from an address that providers refuse, in 24 hours"),
    _ceiling("operations_per_address_hour", "user operations sponsored or sent for an address in an hour"),
    _ceiling("sms_per_number_hour", "text messages to a number in an hour"),
    _ceiling("sms_per_country_day", "text messages to a country in 24 hours"),
    _ceiling("sms_per_day", "text messages in all in 24 hours"),
    Row("HOLDFAST_SMS_COUNTRIES", ALL_COUNTRIES, _countries, "countries that are sent text messages, as DE,AT,CH"),
    Row("HOLDFAST_REGISTRAR_DID", _registrar, _did, "DID that signs attestations"),
    Row("HOLDFAST_LOG", "auto", _one_of("auto", "text", "json"), "form of the log"),
    Row("HOLDFAST_ADMIN_PORT", None, whole_number(1, _MAX_PORT), "port of /metrics"),
)
