"""The enclave that the service serves: the bundled copy, or a valid module from object storage.

Requests only read an attribute. Fetching, validation and replacement run in the background.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from typing import TYPE_CHECKING

from holdfast.service.enclave_source.address import ObjectAddress, parse_address
from holdfast.service.enclave_source.contract import ModuleContract, Unusable, contract_of
from holdfast.service.enclave_source.object_storage import fetch, open_store
from holdfast.service.enclave_source.port import ServedEnclave
from holdfast.service.telemetry.calls import calling

if TYPE_CHECKING:
    from obstore.store import ObjectStore

log = logging.getLogger("holdfast.enclave")

FETCH_S = 60.0
CURRENT = "current"


class EnclaveSource:
    """Holds the latest valid enclave.

    Args:
        url: HOLDFAST_ENCLAVE_URL: s3://, gs://, az:// or file://. If None or empty, only the bundled copy is served.
        bundled: the copy of this release.
        fetch_s: time limit of one fetch, in seconds.

    Raises:
        ValueError: the URL has another form; the message does not repeat it.
    """

    def __init__(self, url: str | None, bundled: bytes, fetch_s: float = FETCH_S) -> None:
        self._address = parse_address(url) if url else None
        self._current = _enclave(bundled, published=False)
        self._bundled = bundled
        self._measure: ModuleContract | None = None  # the contract of the bundled copy, computed when first needed
        self._fetch_s = fetch_s
        self._store: ObjectStore | None = None
        self._seen_etag: str | None = None
        self._seen_digest = b""
        self._verdict = "bundled"  # the outcome for the object seen last
        self._state = "bundled"  # the state that was logged last
        self._busy = asyncio.Lock()

    def current(self) -> ServedEnclave:
        """Return the enclave to serve now. Never waits."""
        return self._current

    async def refresh(self) -> bool:
        """Look for a newer published enclave; returns True if a newer one is now in use.

        Storage errors are not raised: the last valid enclave stays in use, and one line is logged when fetching starts
        to fail or to work again.
        """
        if self._address is None:
            return False
        async with self._busy:
            before = self._current
            self._tell(await self._outcome(self._address))
            return self._current is not before

    async def verdict(self) -> str | None:
        """Look for a published enclave, and return why it is not in use; None if it is in use. For `holdfast check`."""
        if self._address is None:
            return "none is named"
        async with self._busy:
            outcome = await self._outcome(self._address)
        return None if outcome == CURRENT else outcome

    async def _outcome(self, address: ObjectAddress) -> str:
        """Fetch and check the published enclave; returns `current`, or why the enclave is not used."""
        try:
            async with asyncio.timeout(self._fetch_s):
                fetched = await self._fetch(address)
            if fetched is not None:
                etag, body = fetched
                self._verdict = await self._judged(body)
                self._seen_etag = etag  # not earlier: an object whose check was interrupted must be fetched again
        except Unusable as error:
            return str(error)
        except TimeoutError:
            return "object storage did not answer in time"
        return self._verdict

    async def _judged(self, body: bytes) -> str:
        """Use the fetched module as the enclave if it is valid; returns `current`, or why the module is not used."""
        digest = hashlib.sha256(body).digest()
        if digest == self._seen_digest:
            return self._verdict
        try:
            await asyncio.to_thread(self._validate, body)
        except Unusable as error:
            verdict = str(error)
        else:
            self._current = _enclave(body, published=True)
            verdict = CURRENT
            log.info("published enclave in use: %d bytes, etag %s", len(body), self._current.etag)
        self._seen_digest = digest
        return verdict

    def _validate(self, body: bytes) -> None:
        """Raise Unusable unless the fetched module may replace the bundled copy.

        This runs in a thread, since it takes CPU time.
        """
        found = contract_of(body)
        if self._measure is None:
            self._measure = contract_of(self._bundled)
        found.require_all_of(self._measure)

    async def _fetch(self, address: ObjectAddress) -> tuple[str | None, bytes] | None:
        """Return the object's entity tag and bytes; None if the object has not changed since the last fetch.

        Raises Unusable.
        """
        if self._store is None:
            self._store = open_store(address)
        with calling("enclave", cancelled="timeout"):
            return await fetch(self._store, address.name, self._seen_etag)

    def _tell(self, state: str) -> None:
        """Log one line if the state has changed."""
        if state == self._state:
            return
        self._state = state
        if state == CURRENT:
            log.info("enclave: the published copy is current")
        else:
            log.warning("enclave: %s; the last good copy stays", state)


def _enclave(body: bytes, *, published: bool) -> ServedEnclave:
    return ServedEnclave(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"', published)
