"""The enclave that the service hands out: the bundled copy, until object storage holds a later one that is valid.

Requests read an attribute; fetching, validating and replacing happen beside them.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from holdfast.service.providers.enclave_place import Place, parse_place

if TYPE_CHECKING:
    from obstore import GetOptions, GetResult
    from obstore.store import ObjectStore

log = logging.getLogger("holdfast.enclave")

MAX_BYTES = 8 * 1024 * 1024
CHUNK_BYTES = 1024 * 1024
FETCH_S = 60.0
CURRENT = "current"
MAGIC = b"\0asm\x01\0\0\0"  # a core module of version 1 (WebAssembly core specification, section 5.5.16)
_CLIENT = {"connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=30)}
_RETRIES = {"max_retries": 2, "retry_timeout": timedelta(seconds=30)}


@dataclass(frozen=True, slots=True)
class Enclave:
    """A module as it is served.

    Attributes:
        body: the WebAssembly binary.
        etag: strong entity tag (RFC 9110 section 8.8.3), quotes included, of the body alone.
        published: whether it came from object storage; False for the bundled copy.
    """

    body: bytes
    etag: str
    published: bool


class Unusable(Exception):
    """The object cannot take the enclave's place; the message says why, without naming where it lies."""


class EnclaveSource:
    """Keeps the latest valid enclave at hand.

    Args:
        url: HOLDFAST_ENCLAVE_URL: s3://, gs://, az:// or file://; None or empty: only the bundled copy is served.
        bundled: the copy that came with this release.
        fetch_s: longest time of one fetch.

    Raises:
        ValueError: for an address of another form, without repeating it.
    """

    def __init__(self, url: str | None, bundled: bytes, fetch_s: float = FETCH_S) -> None:
        self._place = parse_place(url) if url else None
        self._current = _enclave(bundled, published=False)
        self._fetch_s = fetch_s
        self._store: ObjectStore | None = None
        self._seen_etag: str | None = None
        self._seen_digest = b""
        self._verdict = "bundled"  # what became of the object seen last
        self._state = "bundled"  # what the log was last told
        self._busy = asyncio.Lock()

    def current(self) -> Enclave:
        """The enclave to serve now; never waits."""
        return self._current

    async def refresh(self) -> bool:
        """Look for a newer published enclave; True when one took its place.

        Never raises for what storage does or holds: the last good enclave stays, and the log has one line for each
        change between working and failing.
        """
        if self._place is None:
            return False
        async with self._busy:
            before = self._current
            self._tell(await self._outcome(self._place))
            return self._current is not before

    async def _outcome(self, place: Place) -> str:
        """Fetch and judge; `current`, or why it is not."""
        try:
            async with asyncio.timeout(self._fetch_s):
                fetched = await self._fetch(place)
            if fetched is not None:
                etag, body = fetched
                self._verdict = await self._judged(body)
                self._seen_etag = etag  # only now: an object whose judgement was interrupted must be fetched again
        except Unusable as error:
            return str(error)
        except TimeoutError:
            return "object storage did not answer in time"
        return self._verdict

    async def _judged(self, body: bytes) -> str:
        """Replace the current enclave where the body may do so; what became of it."""
        digest = hashlib.sha256(body).digest()
        if digest == self._seen_digest:
            return self._verdict
        try:
            await asyncio.to_thread(validate, body)
        except Unusable as error:
            verdict = str(error)
        else:
            self._current = _enclave(body, published=True)
            verdict = CURRENT
            log.info("published enclave in use: %d bytes, etag %s", len(body), self._current.etag)
        self._seen_digest = digest
        return verdict

    async def _fetch(self, place: Place) -> tuple[str | None, bytes] | None:
        """The object's entity tag and bytes; None when it is the one seen last. Raises Unusable."""
        import obstore  # slow to import, and not every service has object storage
        from obstore.exceptions import BaseError, NotModifiedError

        try:
            if self._store is None:
                self._store = _opened(place)
            result = await obstore.get_async(self._store, place.name, options=_unless(self._seen_etag))
            return result.meta["e_tag"], await _bounded(result)
        except NotModifiedError:
            return None
        except FileNotFoundError:
            raise Unusable("object storage has no enclave at the configured address") from None
        except (BaseError, OSError, ValueError) as error:
            raise Unusable(f"object storage cannot be read ({type(error).__name__})") from None

    def _tell(self, state: str) -> None:
        """One line for each change of state."""
        if state == self._state:
            return
        self._state = state
        if state == CURRENT:
            log.info("enclave: the published copy is current")
        else:
            log.warning("enclave: %s; the last good copy stays", state)


def validate(body: bytes) -> None:
    """Raise Unusable unless this is a WebAssembly module that compiles. Takes CPU time: call it in a thread."""
    if not body.startswith(MAGIC):  # wasmtime would take the text format and components too
        raise Unusable("the published enclave is not a WebAssembly module")
    import wasmtime

    config = wasmtime.Config()
    config.parallel_compilation = False  # the other cores serve requests
    config.cranelift_opt_level = "none"
    try:
        wasmtime.Module(wasmtime.Engine(config), body)
    except wasmtime.WasmtimeError:
        raise Unusable("the published enclave does not compile") from None


def _unless(etag: str | None) -> GetOptions:
    return {} if etag is None else {"if_none_match": etag}


async def _bounded(result: GetResult) -> bytes:
    """The object's bytes. Raises Unusable past the limit, whatever size storage stated."""
    size, body = result.meta["size"], bytearray()
    if size <= MAX_BYTES:
        async for chunk in result.stream(min_chunk_size=CHUNK_BYTES):
            body += memoryview(chunk)
            size = len(body)
            if size > MAX_BYTES:
                break
    if size > MAX_BYTES:
        raise Unusable(f"the published enclave is larger than {MAX_BYTES} bytes")
    return bytes(body)


def _opened(place: Place) -> ObjectStore:
    """The store of an address; credentials come from the cloud's usual environment variables."""
    from obstore.store import from_url

    if place.scheme == "file":
        return from_url(place.folder)
    client: Any = {**_CLIENT, "allow_http": True} if place.allow_http else _CLIENT
    arguments: Any = {"client_options": client, "retry_config": _RETRIES, **place.options}
    return from_url(place.folder, **arguments)


def _enclave(body: bytes, *, published: bool) -> Enclave:
    return Enclave(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"', published)
