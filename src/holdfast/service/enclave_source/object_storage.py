"""The published enclave as an object in object storage, read within limits and replaced atomically."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.service.enclave_source.contract import Unusable
from holdfast.service.object_folder import missing_folder, opened, storage_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from obstore import GetOptions
    from obstore.store import ObjectStore

    from holdfast.service.enclave_source.address import ObjectAddress

MAX_BYTES = 8 * 1024 * 1024
CHUNK_BYTES = 1024 * 1024


class Absent(Unusable):
    """The object storage has no object with that name."""


class Unreachable(Unusable):
    """Storage returned no usable response."""


async def fetch(store: ObjectStore, name: str, etag: str | None = None) -> tuple[str | None, bytes] | None:
    """Return an object's entity tag and bytes; None if the entity tag is still `etag`.

    Raises:
        Unusable: the object is larger than MAX_BYTES.
        Absent: there is no such object.
        Unreachable: storage cannot be read.
    """
    import obstore  # slow to import, and not every service has object storage
    from obstore.exceptions import NotModifiedError

    with _reading():
        try:
            result = await obstore.get_async(store, name, options=_unless(etag))
        except NotModifiedError:
            return None
        _require_small(result.meta["size"])
        body = bytearray()
        async for chunk in result.stream(min_chunk_size=CHUNK_BYTES):
            body += memoryview(chunk)
            _require_small(len(body))  # whatever size storage stated
        return result.meta["e_tag"], bytes(body)


# The following functions block, for commands that end right afterwards: the thread that obstore uses for awaited calls
# could abort the process while the interpreter shuts down. The store's own time limits end them.


def published(address: ObjectAddress) -> tuple[bytes, str | None]:
    """Return the object and the digest that was published with it; None for a missing digest. Raises as `fetch`."""
    store = open_store(address)
    body = _read(store, address.name)
    try:
        words = _read(store, _digest_name(address)).decode("ascii", "replace").split()
    except Absent:
        return body, None
    return body, words[0] if words else ""


def publish(address: ObjectAddress, body: bytes) -> str:
    """Write the module, read it back, and write its digest next to it as `NAME.sha256`; returns the digest.

    Each object is replaced atomically: a service that reads in the meantime gets the old module or the new one.

    Raises:
        Unreachable: storage cannot be written, or returns other bytes than were written.
    """
    import obstore
    from obstore.exceptions import BaseError

    digest = hashlib.sha256(body).hexdigest()
    try:
        store = open_store(address)
        obstore.put(store, address.name, body)
        if _read(store, address.name) != body:
            raise Unreachable("object storage gives back another enclave than was written")
        obstore.put(store, _digest_name(address), f"{digest}  {address.name}\n".encode())
    except (BaseError, OSError, ValueError) as error:
        raise Unreachable(f"object storage cannot be written: {storage_words(error)}") from None
    return digest


def _read(store: ObjectStore, name: str) -> bytes:
    """Return an object's bytes. Raises as `fetch`."""
    import obstore

    with _reading():
        result = obstore.get(store, name)
        _require_small(result.meta["size"])
        body = bytearray()
        for chunk in result.stream(min_chunk_size=CHUNK_BYTES):
            body += memoryview(chunk)
            _require_small(len(body))
        return bytes(body)


@contextmanager
def _reading() -> Iterator[None]:
    """Turn obstore's errors into those of `fetch`."""
    from obstore.exceptions import BaseError

    try:
        yield
    except FileNotFoundError:
        raise Absent("object storage has no enclave at the configured address") from None
    except (BaseError, OSError, ValueError) as error:
        raise Unreachable(f"object storage cannot be read: {storage_words(error)}") from None


def _digest_name(address: ObjectAddress) -> str:
    return f"{address.name}.sha256"


def open_store(address: ObjectAddress) -> ObjectStore:
    """Open the object store of a location. Raises Unreachable if the storage client rejects the location."""
    from obstore.exceptions import BaseError

    if (missing := missing_folder(address)) is not None:
        raise Unreachable(f"there is no folder {missing}")

    try:
        return opened(address)
    except (BaseError, OSError, ValueError) as error:
        raise Unreachable(f"object storage cannot be opened: {storage_words(error)}") from None


def _unless(etag: str | None) -> GetOptions:
    return {} if etag is None else {"if_none_match": etag}


def _require_small(size: int) -> None:
    if size > MAX_BYTES:
        raise Unusable(f"the published enclave is larger than {MAX_BYTES} bytes")
