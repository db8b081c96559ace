"""The keys that sign attestations: set by the operator, or generated once in the data folder."""

from __future__ import annotations

import base64
import hmac
import logging
import os
import secrets
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.attestations import MIN_KEY_BYTES
from holdfast.rules.recovery import parse_guardian_keys
from holdfast.rules.webhooks import PREFIX
from holdfast.service.settings.rows import SIGNING_KEY
from holdfast.settings.rows import SettingError, bare

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from holdfast.rules.recovery import GuardianKey
    from holdfast.service.settings.values import Settings

_log = logging.getLogger("holdfast.settings")
KEY_FILE = "attestation-signing-key"
GUARDIAN_KEY_FILE = "guardian-key"
NO_GUARDIAN = "off"
# Of random keys of 64 hex digits, one in 10^15 has fewer than nine different digits; most placeholders have fewer.
MIN_DISTINCT_BYTES = 9


@dataclass(frozen=True, slots=True, repr=False)
class Secrets:
    """The signing keys. This class has no repr, so that logs cannot contain the keys.

    Attributes:
        signing_keys: the first one signs, all of them verify.
        generated: whether the key was generated in the data folder, which is not allowed in production.
        guardian_keys: the service's keys as a guardian of accounts; the first is offered, all sign.
    """

    signing_keys: tuple[bytes, ...]
    generated: bool
    guardian_keys: tuple[GuardianKey, ...] = ()

    @property
    def code_keys(self) -> tuple[bytes, ...]:
        """The keys that hash one-time codes, derived from the signing keys so that one secret is enough."""
        return tuple(hmac.digest(key, b"holdfast/code-key/v1", "sha256") for key in self.signing_keys)

    @property
    def invitation_keys(self) -> tuple[bytes, ...]:
        """The keys that sign invitation codes, derived from the signing keys; the first one signs."""
        return tuple(hmac.digest(key, b"holdfast/invitation-key/v1", "sha256") for key in self.signing_keys)

    @property
    def pseudonym_key(self) -> bytes:
        """The key of the hashes that replace names in old records, derived from the signing key."""
        return hmac.digest(self.signing_keys[0], b"holdfast/pseudonym-key/v1", "sha256")

    @property
    def address_key(self) -> bytes:
        """The key of the hashes of client addresses, derived from the signing key."""
        return hmac.digest(self.signing_keys[0], b"holdfast/address-key/v1", "sha256")

    @property
    def peer_key(self) -> bytes:
        """The seed of the Ed25519 key whose peer ID identifies this service in pins, derived from the signing key."""
        return hmac.digest(self.signing_keys[0], b"holdfast/peer-key/v1", "sha256")


def read_secrets(settings: Settings, environment: Mapping[str, str] | None = None) -> Secrets:
    """Return the signing keys. Raises SettingError if one is too short or none is set."""
    given = os.environ if environment is None else environment
    text = given.get(SIGNING_KEY, "")
    guardian = _guardian_keys(settings)
    if text:
        return Secrets(_parse(text), generated=False, guardian_keys=guardian)
    if settings.production:
        raise SettingError(f"{SIGNING_KEY}: production, or a public URL elsewhere, needs one (holdfast keys new)")
    return Secrets(_parse(_generated(settings.data_dir, KEY_FILE)), generated=True, guardian_keys=guardian)


def new_key() -> str:
    """Return a new key: 32 random bytes from the operating system, in hex."""
    return secrets.token_hex(32)


def new_webhook_secret() -> str:
    """Return a new secret of Standard Webhooks: 32 random bytes from the operating system, in base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def _parse(text: str) -> tuple[bytes, ...]:
    try:
        keys = tuple(part.strip().encode() for part in bare(text.strip()).split(",") if part.strip())
    except ValueError as error:
        raise SettingError(f"{SIGNING_KEY}: {error}") from None
    if not keys or min(map(len, keys)) < MIN_KEY_BYTES:
        raise SettingError(f"{SIGNING_KEY}: every key needs at least {MIN_KEY_BYTES} bytes (holdfast keys new)")
    if min(len(set(key)) for key in keys) < MIN_DISTINCT_BYTES:
        raise SettingError(
            f"{SIGNING_KEY}: a key has too few different characters, so it can be guessed (holdfast keys new)"
        )
    return keys


def _guardian_keys(settings: Settings) -> tuple[GuardianKey, ...]:
    """Return the keys that are set, or else one in the data folder.

    In production a key has to be set: accounts would lose their guardian with the folder.
    """
    given = settings.guardian_key
    if given == NO_GUARDIAN or (given is None and settings.production):
        return ()
    try:
        return parse_guardian_keys(given or _generated(settings.data_dir, GUARDIAN_KEY_FILE))
    except OSError as error:
        _log.warning("no guardian key, because none can be kept in the data folder", extra={"why": error.strerror})
        return ()


def _generated(folder: Path, name: str) -> str:
    """Return the key in a file, generated on the first call. Processes that start together agree on one key."""
    file = folder / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not file.exists():
        partial = folder / f".{name}.{os.getpid()}"
        descriptor = os.open(partial, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(descriptor, "w") as stream:
                stream.write(new_key())
                stream.flush()
                os.fsync(stream.fileno())
            os.link(partial, file)  # fails if another process was first
        except FileExistsError:
            pass
        finally:
            partial.unlink()
    if stat.S_IMODE(file.stat().st_mode) & 0o077:
        raise SettingError(f"{name} in the data folder can be read by others: chmod 600 it")
    return file.read_text()
