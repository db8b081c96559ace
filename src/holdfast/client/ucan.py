"""UCAN 1.0 for recipients of tokens: verifies tokens without a vault, and protects against replays.

A separate enclave instance parses and verifies the tokens (docs: enclave/ABI.md, `verify_ucan`), so that there is only
one implementation of envelopes, signatures (P-256, secp256k1, Ed25519), policies, chains, time limits and revocation.
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
    """The token is not valid. `code` is the enclave's: token_expired, policy_denied, broken_chain, ...; or replayed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class UcanVerifier:
    """Verifies UCAN tokens. Thread-safe. A context manager."""

    def __init__(self) -> None:
        from holdfast.enclave import Enclave  # imports the WebAssembly runtime

        self._enclave: Enclave | None = Enclave()

    def verify(  # noqa: PLR0913 - each argument is a separate demand, given by keyword
        self,
        token: str | bytes,
        *,
        proofs: Sequence[str | bytes] = (),
        audience: str | None = None,
        subject: str | None = None,
        command: str | None = None,
        args: Mapping[str, object] | None = None,
        revoked: Sequence[str] = (),
        now: int | None = None,
    ) -> UcanClaims:
        """Verify a token and return its claims.

        Args:
            token: a delegation, an invocation, or a container of a whole chain.
            proofs: the delegations that the token needs, if it does not contain them.
            audience: the DID that must be the token's audience, so the program's own; by default any.
            subject: the DID that must be the token's subject.
            command: the command that a chain of delegations must allow, or that an invocation must name.
            args: that command's arguments.
            revoked: CIDs of revoked delegations.
            now: seconds since 1970; by default the clock's time.

        Raises:
            UcanRefused: the token is not valid; `code` says why.
            ClientStateError: after `close`.
        """
        if self._enclave is None:
            raise ClientStateError("the verifier is closed")
        demand: dict[str, Any] = {"proofs": list(proofs), "audience": audience, "subject": subject}
        demand |= {"command": command, "args": args, "revoked": list(revoked), "now": now}
        fields = {"token": token} | {name: value for name, value in demand.items() if value is not None}
        try:
            return calls.read(
                "verify_ucan", self._enclave.call("verify_ucan", **calls.arguments(fields)), calls.UcanClaims
            )
        except PluginCallError as error:
            raise UcanRefused(error.code or "failed", str(error)) from error
        except UnicodeEncodeError as error:  # JSON from a stranger may have half of a character
            raise UcanRefused("invalid_encoding", "a text is not Unicode") from error

    def close(self) -> None:
        """Discard the enclave instance. Repeated calls have no effect."""
        if self._enclave is not None:
            self._enclave.close()
            self._enclave = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ReplayGuard:
    """Accepts each invocation only once (UCAN Invocation 1.0, "Replay attacks"). Thread-safe.

    `UcanClaims.cid` is the same for both valid forms of a signature, so the other form counts as the same invocation.

    Args:
        store: remembers invocations across restarts; without one they are remembered in this process only.
        now: the clock, in seconds since 1970.
    """

    def __init__(self, store: VaultStore | None = None, now: Callable[[], float] = time.time) -> None:
        self._store, self._now = store, now
        self._seen: dict[str, float] = {}
        self._lock = threading.Lock()

    def accept(self, claims: UcanClaims) -> None:
        """Record an invocation as used. Raises UcanRefused if it was used before, or if it never expires."""
        if claims.kind != "invocation":
            raise UcanRefused("invalid_token", "only an invocation is used once")
        if claims.expiration is None:
            raise UcanRefused("token_expired", "an invocation without an expiry could be replayed at any time")
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
