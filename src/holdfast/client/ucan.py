"""UCAN 1.0 for those who receive tokens: verification without a vault, and protection against replay.

The tokens are read and judged by a separate enclave instance (docs: enclave/ABI.md, `verify_ucan`), so that there is
one implementation of envelopes, signatures (P-256, secp256k1, Ed25519), policies, chains, time and revocation.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Self

from holdfast.client.vault import calls
from holdfast.wire.client_errors import ClientStateError, PluginCallError, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.vault.calls import UcanClaims
    from holdfast.enclave import Enclave

_SKEW_S = 60


class UcanRefused(ServiceError):
    """The token does not hold. `code` is the enclave's: token_expired, policy_denied, broken_chain, ..., replayed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class UcanVerifier:
    """Verifies tokens; safe to use from several threads. A context manager."""

    def __init__(self) -> None:
        from holdfast.enclave import Enclave  # brings the WebAssembly runtime

        self._enclave: Enclave | None = Enclave()

    def verify(  # noqa: PLR0913 - each is a separate question, by keyword
        self,
        token: str | bytes,
        *,
        proofs: Sequence[str | bytes] = (),
        audience: str | None = None,
        subject: str | None = None,
        command: str | None = None,
        args: Mapping[str, Any] | None = None,
        revoked: Sequence[str] = (),
        now: int | None = None,
    ) -> UcanClaims:
        """What the token says, if it holds.

        Args:
            token: a delegation, an invocation, or a container of a whole chain.
            proofs: the delegations that it rests on, where it does not carry them.
            audience: the DID that must be its audience.
            subject: the DID whose authority must be used.
            command: what a chain of delegations must allow; for an invocation, what it must ask for.
            args: the arguments of that command.
            revoked: CIDs of revoked delegations.
            now: seconds since 1970; the clock's unless given.

        Raises:
            UcanRefused: it does not hold; `code` says why.
            ClientStateError: after `close`.
        """
        if self._enclave is None:
            raise ClientStateError("the verifier is closed")
        demand: dict[str, Any] = {"proofs": list(proofs), "audience": audience, "subject": subject}
        demand |= {"command": command, "args": args, "revoked": list(revoked), "now": now}
        call = calls.verify_ucan(token, {name: value for name, value in demand.items() if value is not None})
        try:
            return call.read(self._enclave.call(call.name, **call.arguments))
        except PluginCallError as error:
            raise UcanRefused(error.code or "failed", str(error)) from error

    def close(self) -> None:
        """Discard the enclave instance. Closing again is harmless."""
        if self._enclave is not None:
            self._enclave.close()
            self._enclave = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ReplayGuard:
    """Lets each invocation through once (UCAN Invocation 1.0, "Replay attacks"). Safe to use from several threads.

    An invocation that is shown with the other valid form of its signature is the same one: `UcanClaims.cid` is too.

    Args:
        store: remembers across restarts; without one the memory is this process's.
        now: the clock, in seconds since 1970.
    """

    def __init__(self, store: VaultStore | None = None, now: Callable[[], float] = time.time) -> None:
        self._store, self._now = store, now
        self._seen: dict[str, float] = {}
        self._lock = threading.Lock()

    def accept(self, claims: UcanClaims) -> None:
        """Note an invocation as used. Raises UcanRefused where it was before, or has no end to remember it until."""
        if claims.kind != "invocation":
            raise UcanRefused("invalid_token", "only an invocation is used once")
        if claims.expiration is None:
            raise UcanRefused("token_expired", "an invocation without an end could be replayed for ever")
        with self._lock:
            self._forget()
            if not self._note(claims.cid, claims.expiration + _SKEW_S):
                raise UcanRefused("replayed", "the invocation has been used before")

    def _note(self, cid: str, until: float) -> bool:
        if cid in self._seen:
            return False
        self._seen[cid] = until
        return self._store is None or self._store.replace_note(f"invocation:{cid}", None, str(until))

    def _forget(self) -> None:
        over = [cid for cid, until in self._seen.items() if until < self._now()]
        for cid in over:
            del self._seen[cid]
            if self._store is not None:
                self._store.set_note(f"invocation:{cid}", None)
