"""The address of the published enclave: parses `HOLDFAST_ENCLAVE_URL` without network access."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from obstore.store import ObjectStore

SETTING = "HOLDFAST_ENCLAVE_URL"
OBJECT = "enclave.wasm"
# The options after '?', and obstore's names for them. `public` is separate, as its value is a choice.
_OPTIONS: dict[str, dict[str, str]] = {
    "s3": {"endpoint": "endpoint", "region": "region"},
    "gs": {"endpoint": "base_url"},
    "az": {"endpoint": "endpoint", "account": "account_name"},
    "file": {},
}
_CLIENT = {"connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=30)}
_RETRIES = {"max_retries": 2, "retry_timeout": timedelta(seconds=30)}


@dataclass(frozen=True, slots=True, repr=False)
class ObjectAddress:
    """An object in a store.

    Attributes:
        scheme: s3, gs, az or file.
        folder: address of the bucket or folder.
        name: the object's name in it.
        options: further options for the store's client.
        allow_http: whether the operator named an endpoint without TLS.
    """

    scheme: str
    folder: str
    name: str
    options: Mapping[str, str | bool]
    allow_http: bool


def parse_place(url: str) -> ObjectAddress:
    """Return the place that a setting names: an object if it ends in `.wasm`, else `enclave.wasm` in that folder.

    Raises:
        ValueError: for a URL of another form; the message does not repeat it.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ValueError(f"{SETTING} is not an address.") from None
    scheme = parts.scheme.lower()
    if scheme not in _OPTIONS:
        raise ValueError(f"{SETTING} starts with s3://, gs://, az:// or file://")
    if "@" in parts.netloc or parts.fragment or bool(parts.netloc) == (scheme == "file"):
        raise ValueError(f"{SETTING}: write s3://bucket/folder or file:///folder; credentials go into the environment.")
    given = _given(scheme, parts.query)
    folder, _, last = parts.path.rpartition("/")
    if not last.endswith(".wasm"):
        folder, last = parts.path.rstrip("/"), OBJECT
    allow_http = any(str(value).startswith("http://") for value in given.values())
    return ObjectAddress(scheme, f"{scheme}://{parts.netloc}{folder}", last, given, allow_http)


def opened(place: ObjectAddress) -> ObjectStore:
    """Return the store of a place. Credentials come from the cloud's environment variables. Raises obstore's errors."""
    from obstore.store import from_url  # slow to import, and not every service has object storage

    if place.scheme == "file":
        return from_url(place.folder)
    client: Any = {**_CLIENT, "allow_http": True} if place.allow_http else _CLIENT
    arguments: Any = {"client_options": client, "retry_config": _RETRIES, **place.options}
    return from_url(place.folder, **arguments)


def _given(scheme: str, query: str) -> dict[str, str | bool]:
    """Return the options with the store client's names."""
    names = _OPTIONS[scheme]
    given = dict(parse_qsl(query, keep_blank_values=True))
    known = {*names, "public"} if names else set()
    if not given.keys() <= known or given.get("public", "true") != "true":
        allowed = ", ".join(sorted(known)) or "none"
        raise ValueError(f"{SETTING}: options after '?' known here: {allowed} (public=true: read without credentials).")
    if not given.get("endpoint", "https://").startswith(("https://", "http://")):
        raise ValueError(f"{SETTING}: endpoint is the https:// or http:// address of a compatible store.")
    options: dict[str, str | bool] = {names[name]: text for name, text in given.items() if name in names}
    return options | ({"skip_signature": True} if "public" in given else {})
