"""Providers of keys that wrap a vault's data key. A vault may have several keys; the enclave does the wrapping."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, Protocol

from holdfast.wire.client_errors import StorageError
from holdfast.wire.encoding import from_base64url, to_base64url

if TYPE_CHECKING:
    from collections.abc import Callable

KeyKind = Literal["secret", "prf", "password"]
SECRET_BYTES = 32
_LONGEST_ID = 128  # characters (docs/formats.md)
_KEYRING_SERVICE = "holdfast"


@dataclass(frozen=True, slots=True)
class HostKey:
    """A key for the enclave: `kind` and `id` identify the wrap, the other fields unlock it."""

    kind: KeyKind
    id: str
    secret: bytes | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)

    def fields(self) -> dict[str, object]:
        """Return the enclave's `key` field."""
        given = {"kind": self.kind, "id": self.id, "secret": self.secret, "password": self.password}
        return {name: value for name, value in given.items() if value is not None}

    def opening_fields(self) -> dict[str, object]:
        """Return the enclave's `key` field for unlocking: a password unlocks any password's wrap, whatever its ID."""
        return {name: value for name, value in self.fields().items() if name != "id" or self.kind != "password"}


def passkey_key(credential_id: str, secret: bytes | None) -> HostKey:
    """Return the host key whose secret is a passkey's PRF output."""
    return HostKey("prf", passkey_wrap(credential_id), secret=secret)


def passkey_wrap(credential_id: str) -> str:
    """Return the ID of a passkey's wrap: its credential ID (base64url), or the ID's hash if it is too long."""
    if len(credential_id) <= _LONGEST_ID:
        return credential_id
    return f"sha256:{to_base64url(sha256(from_base64url(credential_id)).digest())}"


class KeyProvider(Protocol):
    """Provides a key: it may ask a person, use a security key, or read a keyring."""

    def host_key(self) -> HostKey:
        """Return the key. Raises WebAuthnError, StorageError or ValueError if it is not available."""
        ...


@dataclass(frozen=True, slots=True)
class SecretKey:
    """A secret of at least 32 random bytes that the caller keeps."""

    secret: bytes = field(repr=False)
    id: str = "secret"

    def host_key(self) -> HostKey:
        """See KeyProvider."""
        if len(self.secret) < SECRET_BYTES:
            raise ValueError(f"a secret has at least {SECRET_BYTES} bytes")
        return HostKey("secret", self.id, secret=self.secret)


@dataclass(frozen=True, slots=True)
class PasswordKey:
    """A password, from which the enclave derives the key with Argon2id.

    If `password` is a function, it is called whenever the password is needed.
    """

    password: str | Callable[[], str] = field(repr=False)
    id: str = "password"

    def host_key(self) -> HostKey:
        """See KeyProvider."""
        password = self.password if isinstance(self.password, str) else self.password()
        if not password:
            raise ValueError("the password is empty")
        return HostKey("password", self.id, password=password)


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A KeyProvider for a key that was obtained earlier."""

    key: HostKey

    def host_key(self) -> HostKey:
        """See KeyProvider."""
        return self.key


NO_SECRET = "this passkey returns no secret (PRF) here: choose another one, or open the vault with its password"  # noqa: S105


@dataclass(frozen=True, slots=True)
class DiscoveredPasskey:
    """What a synced passkey returns when the relying party requests an assertion from any of its passkeys.

    Attributes:
        credential_id: in base64url.
        user_handle: the vault's publishing key; random bytes in passkeys created before publishing keys existed.
        secret: its 32-byte PRF output for vault keys; None if it has no PRF.
    """

    credential_id: str
    user_handle: bytes
    secret: bytes | None = field(default=None, repr=False)


class RecoveryPasskey(Protocol):
    """Lets a person choose one of their passkeys for this service. `Authenticator` is an implementation."""

    def discover(self) -> DiscoveredPasskey:
        """Return the chosen passkey. Raises WebAuthnError."""
        ...


class Keyring(Protocol):
    """The functions used from the `keyring` package, which gives access to the desktop's secret store."""

    def get_password(self, service: str, name: str, /) -> str | None:
        """Return the text stored under a name, or None."""
        ...

    def set_password(self, service: str, name: str, text: str, /) -> None:
        """Store a text under a name."""
        ...


@dataclass(frozen=True, slots=True)
class KeyringKey:
    """A random secret in the operating system's keyring, generated on first use.

    Args:
        name: distinguishes the vaults of one person.
        create: False makes a missing entry an error, so that a wrong name cannot lead to a wrap with a new key.
        keyring: replaces the system's keyring.
    """

    name: str = "default"
    create: bool = True
    keyring: Keyring | None = field(default=None, repr=False)

    def host_key(self) -> HostKey:
        """See KeyProvider. Raises StorageError if the keyring cannot be used or lacks the entry."""
        store = self.keyring or _system_keyring()
        try:
            text = store.get_password(_KEYRING_SERVICE, self.name) or self._new(store)
            return HostKey("secret", f"keyring:{self.name}", secret=from_base64url(text))
        except StorageError:
            raise
        except Exception as error:
            # Each keyring back end has its own error classes, which this package does not import.
            raise StorageError(
                "the keyring cannot be used: is it there and unlocked? Another key is a password or a passkey"
            ) from error

    def _new(self, store: Keyring) -> str:
        if not self.create:
            raise StorageError("the keyring has no key with this name")
        text = to_base64url(secrets.token_bytes(SECRET_BYTES))
        store.set_password(_KEYRING_SERVICE, self.name, text)
        if store.get_password(_KEYRING_SERVICE, self.name) != text:
            raise StorageError("the keyring did not keep the key")
        return text


def _system_keyring() -> Keyring:
    import keyring  # imported only when needed, because the import looks for desktop services

    return keyring
