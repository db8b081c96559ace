"""The published enclave as an object in object storage, read within limits and replaced atomically."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from holdfast.service.enclave_source.contract import Unusable
from holdfast.service.object_folder import opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from obstore import GetOptions, GetResult
    from obstore.store import ObjectStore

    from holdfast.service.enclave_source.place import ObjectAddress

MAX_BYTES = 8 * 1024 * 1024
CHUNK_BYTES = 1024 * 1024
TRANSFER_S = 60.0


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
    from obstore.exceptions import BaseError, NotModifiedError

    try:
        result = await obstore.get_async(store, name, options=_unless(etag))
        return result.meta["e_tag"], await _bounded(result)
    except NotModifiedError:
        return None
    except FileNotFoundError:
        raise Absent("object storage has no enclave at the configured address") from None
    except (BaseError, OSError, ValueError) as error:
        raise Unreachable(f"object storage cannot be read ({type(error).__name__})") from None


async def published(place: ObjectAddress) -> tuple[bytes, str | None]:
    """Return the object and the digest that was published with it; None for a missing digest. Raises as `fetch`."""
    async with _in_time():
        store = open_store(place)
        found = await fetch(store, place.name)
        assert found is not None  # without a tag the result cannot be None
        return found[1], await _digest(store, place)


async def publish(place: ObjectAddress, body: bytes) -> str:
    """Write the module, read it back, and write its digest next to it as `NAME.sha256`; returns the digest.

    Each object is replaced atomically: a service that reads in the meantime gets the old module or the new one.

    Raises:
        Unreachable: storage cannot be written, or returns other bytes than were written.
    """
    import obstore
    from obstore.exceptions import BaseError

    digest = hashlib.sha256(body).hexdigest()
    async with _in_time():
        try:
            store = open_store(place)
            await obstore.put_async(store, place.name, body)
            back = await fetch(store, place.name)
            if back is None or back[1] != body:
                raise Unreachable("object storage gives back another enclave than was written")
            # This call is synchronous and runs in a separate thread. The publishing command ends right afterwards, and
            # the thread that obstore uses for awaited calls could abort the process while the interpreter shuts down.
            await asyncio.to_thread(obstore.put, store, _digest_name(place), f"{digest}  {place.name}\n".encode())
        except (BaseError, OSError, ValueError) as error:
            raise Unreachable(f"object storage cannot be written ({type(error).__name__})") from None
    return digest


async def _digest(store: ObjectStore, place: ObjectAddress) -> str | None:
    try:
        found = await fetch(store, _digest_name(place))
    except Absent:
        return None
    words = found[1].decode("ascii", "replace").split() if found else []
    return words[0] if words else ""


def _digest_name(place: ObjectAddress) -> str:
    return f"{place.name}.sha256"


def open_store(place: ObjectAddress) -> ObjectStore:
    """Open the object store of a location. Raises Unreachable if the storage client rejects the location."""
    from obstore.exceptions import BaseError

    try:
        return opened(place)
    except (BaseError, OSError, ValueError) as error:
        raise Unreachable(f"object storage cannot be opened ({type(error).__name__})") from None


@asynccontextmanager
async def _in_time() -> AsyncIterator[None]:
    """Limit a whole transfer to TRANSFER_S seconds. Raises Unreachable after this time."""
    try:
        async with asyncio.timeout(TRANSFER_S):
            yield
    except TimeoutError:
        raise Unreachable("object storage did not answer in time") from None


def _unless(etag: str | None) -> GetOptions:
    return {} if etag is None else {"if_none_match": etag}


async def _bounded(result: GetResult) -> bytes:
    """Return the object's bytes. Raises Unusable beyond the limit, whatever size storage stated."""
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
