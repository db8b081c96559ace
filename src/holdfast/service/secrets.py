"""The keys that sign attestations: given by the operator, or generated once into the data folder."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.attestations import MIN_KEY_BYTES
from holdfast.settings.rows import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from holdfast.service.settings import Settings

SIGNING_KEY = "ATTESTATION_SIGNING_KEY"
KEY_FILE = "attestation-signing-key"
# Of 64 random hex digits fewer than nine kinds occur once in 10^15 keys; a placeholder rarely has as many.
MIN_DISTINCT_BYTES = 9


@dataclass(frozen=True, slots=True, repr=False)
class Secrets:
    """Keys, never shown.

    Attributes:
        signing_keys: the first signs, all verify.
        generated: whether the key was made here, which production refuses.
    """

    signing_keys: tuple[bytes, ...]
    generated: bool

    @property
    def code_keys(self) -> tuple[bytes, ...]:
        """Keys under which one-time codes are hashed; derived, so that rotating needs no second secret."""
        return tuple(hmac.digest(key, b"holdfast/code-key/v1", "sha256") for key in self.signing_keys)

    @property
    def peer_key(self) -> bytes:
        """Seed of the Ed25519 key whose peer ID names this service in pins; derived as above."""
        return hmac.digest(self.signing_keys[0], b"holdfast/peer-key/v1", "sha256")


def read_secrets(settings: Settings, environment: Mapping[str, str] | None = None) -> Secrets:
    """The signing keys. Raises SettingError for a short or missing one."""
    given = os.environ if environment is None else environment
    text = given.get(SIGNING_KEY, "")
    if text:
        return Secrets(_parse(text), generated=False)
    if settings.production:
        raise SettingError(f"{SIGNING_KEY}: production, or a public URL elsewhere, needs one (holdfast keys new)")
    return Secrets(_parse(_generated(settings.data_dir)), generated=True)


def new_key() -> str:
    """A fresh key as text: 32 bytes of the operating system's generator in hex."""
    return secrets.token_hex(32)


def _parse(text: str) -> tuple[bytes, ...]:
    keys = tuple(part.strip().encode() for part in text.split(",") if part.strip())
    if not keys or min(map(len, keys)) < MIN_KEY_BYTES:
        raise SettingError(f"{SIGNING_KEY}: every key needs at least {MIN_KEY_BYTES} bytes (holdfast keys new)")
    if min(len(set(key)) for key in keys) < MIN_DISTINCT_BYTES:
        raise SettingError(f"{SIGNING_KEY}: a key repeats a few letters, so it can be guessed (holdfast keys new)")
    return keys


def _generated(folder: Path) -> str:
    """The key file's text, written on the first call; several processes starting at once agree on one."""
    file = folder / KEY_FILE
    if not file.exists():
        partial = folder / f".{KEY_FILE}.{os.getpid()}"
        descriptor = os.open(partial, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as stream:
            stream.write(new_key())
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(partial, file)  # fails where another process was first
        except FileExistsError:
            pass
        finally:
            partial.unlink()
    if stat.S_IMODE(file.stat().st_mode) & 0o077:
        raise SettingError(f"{KEY_FILE} in the data folder can be read by others: chmod 600 it")
    return file.read_text()
