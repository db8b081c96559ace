"""Parses the object storage URL in a setting, without network access."""

from __future__ import annotations

import os
import re
import socket
import ssl
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from holdfast.wire.connection_errors import WORDS
from holdfast.wire.file_errors import file_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from obstore.store import ObjectStore

# The allowed query parameters and their names in obstore. `public` is not listed, because its only value, `true`,
# becomes another option.
_OPTIONS: dict[str, dict[str, str]] = {
    "s3": {"endpoint": "endpoint", "region": "region"},
    "gs": {"endpoint": "base_url"},
    "az": {"endpoint": "endpoint", "account": "account_name"},
    "file": {},
}
_CLIENT = {"connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=30)}
# What in the text of obstore's errors says why, and why. Their texts also have URLs, so they are not shown.
_WORDS: tuple[tuple[str, str], ...] = (
    (r"http://169\.254\.", "no credentials are set for it: see its provider's variables, such as AWS_ACCESS_KEY_ID"),
    (r"MissingAccount", "no account is set: write it into the address (account=) or its provider's variables"),
    (r"dns error", WORDS[socket.gaierror]),
    (r"ConnectionRefused", WORDS[ConnectionRefusedError]),
    (r"kind: Timeout|TimedOut", WORDS[TimeoutError]),
    (r"certificate|InvalidContentType", WORDS[ssl.SSLError]),
    (r"status: 404\b", "the bucket was not found"),
    (r"status: 40[13]\b", "it does not accept the credentials, or they do not allow this"),
)
_RETRIES = {"max_retries": 2, "retry_timeout": timedelta(seconds=30)}


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Folder:
    """A local folder, or a bucket with a prefix.

    Attributes:
        scheme: s3, gs, az or file.
        folder: URL of the bucket or folder.
        options: further options for the store's client.
        allow_http: whether the operator configured an endpoint without TLS.
    """

    scheme: str
    folder: str
    options: Mapping[str, str | bool]
    allow_http: bool


def parse_folder(setting: str, url: str) -> Folder:
    """Parse the object storage URL in the environment variable `setting`.

    Raises:
        ValueError: the URL has another form; the message does not repeat it.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ValueError(f"{setting} is not an address.") from None
    scheme = parts.scheme.lower()
    if scheme not in _OPTIONS:
        raise ValueError(f"{setting} starts with s3://, gs://, az:// or file://")
    if re.search(r"[@\s]", parts.netloc) or parts.fragment or bool(parts.netloc) == (scheme == "file"):
        raise ValueError(f"{setting}: write s3://bucket/folder or file:///folder; credentials go into the environment.")
    if scheme == "file" and (not parts.path.strip("/") or parts.path[0] != "/" or os.path.isfile(unquote(parts.path))):  # noqa: PTH113 - no error
        raise ValueError(f"{setting}: file:/// and the path of a folder is needed; it is made if it does not exist.")
    given = _given(setting, scheme, parts.query)
    allow_http = any(str(value).startswith("http://") for value in given.values())
    address = f"{scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    return Folder(scheme=scheme, folder=address, options=given, allow_http=allow_http)


def opened(location: Folder, *, make: bool = False) -> ObjectStore:
    """Open the store for a folder; with `make`, a missing local folder is created. Raises obstore's errors.

    Credentials come from the cloud provider's usual environment variables.
    """
    from obstore.store import from_url  # slow to import, and not every service has object storage

    if location.scheme == "file":
        return from_url(location.folder, mkdir=True) if make else from_url(location.folder)
    client: Any = {**_CLIENT, "allow_http": True} if location.allow_http else _CLIENT
    arguments: Any = {"client_options": client, "retry_config": _RETRIES, **location.options}
    return from_url(location.folder, **arguments)


def storage_words(error: Exception) -> str:
    """Return why the storage failed, without a URL."""
    if isinstance(error, OSError) and error.errno:
        return file_words(error)
    text = str(error)
    if number := re.search(r"\(os error (\d+)\)", text):  # obstore's own form, for a local folder
        return file_words(OSError(int(number[1]), os.strerror(int(number[1]))))
    status = re.search(r"status: (\d{3})\b", text)
    found = next((words for sign, words in _WORDS if re.search(sign, text)), None)
    return found or (f"it answers with status {status[1]}" if status else "no answer")


def missing_folder(location: Folder) -> str | None:
    """Return the path of a local folder that this user cannot find; None for one that exists, or a bucket."""
    path = unquote(urlsplit(location.folder).path)
    return None if location.scheme != "file" or os.path.isdir(path) else path  # noqa: PTH112 - no error


def _given(setting: str, scheme: str, query: str) -> dict[str, str | bool]:
    """Return the URL's options under the names that obstore uses."""
    names = _OPTIONS[scheme]
    given = dict(parse_qsl(query, keep_blank_values=True))
    known = {*names, "public"} if names else set()
    if not given.keys() <= known or given.get("public", "true") != "true":
        allowed = ", ".join(sorted(known)) or "none"
        raise ValueError(f"{setting}: options after '?' known here: {allowed} (public=true: read without credentials).")
    if not given.get("endpoint", "https://").startswith(("https://", "http://")):
        raise ValueError(f"{setting}: endpoint is the https:// or http:// address of a compatible store.")
    options: dict[str, str | bool] = {names[name]: text for name, text in given.items() if name in names}
    return options | ({"skip_signature": True} if "public" in given else {})
