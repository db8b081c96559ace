"""Requests with an `Idempotency-Key`: a repeated request gets the first one's response.

The key is stored as a hash, the request's body as a keyed hash, and the response encrypted under a key that is derived
from the header. Therefore only the service can check the body, and it can read the response only if a request has the
same header.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from holdfast.rules.limits import REPEAT_WAITS_S, RESPONSE_RETENTION_S
from holdfast.rules.quotas import of_keyed_request
from holdfast.service.store.values import NewRepeat, StoredResponse
from holdfast.wire.errors import IDEMPOTENCY_KEY_IN_USE, IDEMPOTENCY_KEY_REUSED, Refused

if TYPE_CHECKING:
    from holdfast.rules.limits import Ceilings
    from holdfast.service.clock import Clock, Entropy
    from holdfast.service.settings.secrets import Secrets
    from holdfast.service.store.port import Store
    from holdfast.service.store.values import IdempotencyState

_NONCE_BYTES = 12  # NIST SP 800-38D, section 8.2; each key encrypts a few responses at most
# A repeated request checks ten times whether the first one is done: rarely enough that waiting costs little.
_FIRST_PAUSE_S, _LONGER = 0.05, 1.5
_RETRY_AFTER_S = 1


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class IdempotentRequest:
    """A request with its `Idempotency-Key`. The class has no repr, so that logs cannot contain the key or the body.

    Attributes:
        endpoint: method and the request's own path; the same key at another path, so on another chain, is another
            request.
        name: the value of `Idempotency-Key`.
        body: the request's bytes.
        ip: the client's address, to which the limits apply.
        lease_s: seconds after which a repeat may do the work again if there is no response.
    """

    endpoint: str
    name: str
    body: bytes
    ip: str
    lease_s: float

    @property
    def key(self) -> bytes:
        """The hash under which the response is stored."""
        return hashlib.sha256(f"holdfast/kept-answer/v1\n{self.endpoint}\n{self.name}".encode()).digest()


@dataclass(frozen=True, slots=True)
class Idempotency:
    """Stores the responses to requests with an `Idempotency-Key`, and finds them for repeats."""

    store: Store
    secrets: Secrets
    ceilings: Ceilings
    clock: Clock
    entropy: Entropy

    async def begin(self, idempotent: IdempotentRequest) -> IdempotencyState | bytes:
        """Return the stored response; if none exists, mark the request as begun and return it to be processed.

        Raises:
            Refused: IDEMPOTENCY_KEY_REUSED for another body, IDEMPOTENCY_KEY_IN_USE if the first request is still
                running after `REPEAT_WAITS_S`, RATE_LIMITED for too many new keys from an address.
        """
        loop = asyncio.get_running_loop()
        ends = loop.time() + REPEAT_WAITS_S
        bodies, pause_s = self._bodies(idempotent), _FIRST_PAUSE_S
        while True:
            begun = await self.store.begin(self._repeat(idempotent, bodies))
            if begun.mine:
                return begun
            if not any(hmac.compare_digest(begun.body, body) for body in bodies):
                raise Refused(IDEMPOTENCY_KEY_REUSED)
            if begun.answer is not None:
                return self._opened(idempotent, begun.answer)
            left_s = ends - loop.time()
            if left_s <= 0:
                raise Refused(IDEMPOTENCY_KEY_IN_USE, _RETRY_AFTER_S)
            await asyncio.sleep(min(pause_s, left_s))
            pause_s *= _LONGER

    async def finish(self, idempotent: IdempotentRequest, answer: bytes) -> bytes:
        """Store the response unless a parallel repeat has stored one; return the stored response."""
        stored = await self.store.finish(idempotent.key, self.sealed(idempotent, answer).answer)
        return answer if stored is None else self._opened(idempotent, stored)

    async def put_back(self, idempotent: IdempotentRequest) -> bytes | None:
        """Let the next repeat do the work, unless a parallel repeat has stored a response; if so, return it."""
        stored = await self.store.finish(idempotent.key, None)
        return None if stored is None else self._opened(idempotent, stored)

    def sealed(self, idempotent: IdempotentRequest, answer: bytes) -> StoredResponse:
        """Return the response in its stored, encrypted form."""
        nonce = self.entropy(_NONCE_BYTES)
        cipher = AESGCM(_derived(self.secrets.signing_keys[0], "seal", idempotent.name.encode()))
        return StoredResponse(idempotent.key, nonce + cipher.encrypt(nonce, answer, idempotent.key))

    def _opened(self, idempotent: IdempotentRequest, sealed: bytes) -> bytes:
        nonce, content = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        for key in self.secrets.signing_keys:
            try:
                return AESGCM(_derived(key, "seal", idempotent.name.encode())).decrypt(nonce, content, idempotent.key)
            except InvalidTag:
                continue
        raise Refused(IDEMPOTENCY_KEY_REUSED)  # the key that encrypted it was withdrawn

    def _repeat(self, idempotent: IdempotentRequest, bodies: tuple[bytes, ...]) -> NewRepeat:
        return NewRepeat(
            key=idempotent.key,
            bodies=bodies,
            now=self.clock(),
            lease_s=idempotent.lease_s,
            retention_s=RESPONSE_RETENTION_S,
            quotas=of_keyed_request(idempotent.ip, self.ceilings),
        )

    def _bodies(self, idempotent: IdempotentRequest) -> tuple[bytes, ...]:
        message = idempotent.key + idempotent.body
        return tuple(_derived(key, "body", message) for key in self.secrets.signing_keys)


def _derived(key: bytes, use: str, message: bytes) -> bytes:
    """Return the keyed hash (RFC 2104) of a message for one purpose."""
    return hmac.digest(key, f"holdfast/kept-{use}/v1\n".encode() + message, "sha256")
