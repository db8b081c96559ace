"""Copies an enclave's linear memory, and searches it for secrets: the host offers no such function."""

from __future__ import annotations

import base64
import hashlib

from holdfast.enclave import Enclave

_PAGE = 1 << 16


def memory_of(enclave: Enclave) -> bytes:
    """Return a copy of the whole memory, made without calling the module, or empty bytes if the enclave is closed."""
    instance = enclave.instance
    try:
        return bytes(instance.memory.read(instance.store, 0, size_of(enclave)))
    except ValueError:  # closed
        return b""


def size_of(enclave: Enclave) -> int:
    return enclave.instance.memory.data_len(enclave.instance.store)


def limit_growth(enclave: Enclave, more: int = 0) -> None:
    enclave.instance.store.set_limits(memory_size=size_of(enclave) + more)


def allocate(enclave: Enclave, size: int) -> int:
    """Allocate memory as the host does for a request; returns the address, or 0 if there is not enough."""
    return int(enclave.instance.allocate(enclave.instance.store, size))


def free(enclave: Enclave, address: int, size: int) -> None:
    enclave.instance.free(enclave.instance.store, address, size)


class Recorder:
    """Returns known random bytes, so that the test knows every secret that is derived from them."""

    def __init__(self, seed: bytes = b"") -> None:
        self.seed = seed
        self.taken: list[bytes] = []

    def __call__(self, size: int) -> bytes:
        self.taken.append(hashlib.shake_256(self.seed + b"%d" % len(self.taken)).digest(size))
        return self.taken[-1]

    def scalars(self, order: int) -> list[int]:
        return [int.from_bytes(part) % order for part in self.taken if len(part) == 48]


def forms(name: str, secret: bytes) -> dict[str, bytes]:
    """Return the forms in which a secret may be in memory."""
    texts = {"hex": secret.hex().encode(), "base64": base64.b64encode(secret)}
    return {f"{name}, {form}": data for form, data in {"raw": secret, "reversed": secret[::-1], **texts}.items()}


def numbers(order: int, *values: int) -> dict[str, bytes]:
    """Return each number, its inverse and its negative, plain in both byte orders and in Montgomery form."""
    found = {}
    for at, value in enumerate(values):
        for kind, number in (("", value), ("inverse of ", pow(value, -1, order)), ("minus ", order - value)):
            found[f"{kind}number {at}"] = number.to_bytes(32)
            found[f"{kind}number {at}, reversed"] = number.to_bytes(32, "little")
            found[f"{kind}number {at}, Montgomery"] = ((number << 256) % order).to_bytes(32, "little")
    return found


def assert_absent(enclave: Enclave, secrets: dict[str, bytes]) -> None:
    """Assert that no half of a secret is in the memory: a secret that is only half overwritten still leaks the other half."""
    memory = memory_of(enclave)
    pages = (memory[at : at + _PAGE] for at in range(0, len(memory), _PAGE))
    used = b"".join(page for page in pages if page != bytes(_PAGE))  # once Argon2 has run, 64 of 70 MiB are empty
    for name, secret in secrets.items():
        for start in range(0, len(secret) - 15, 16):
            assert secret[start : start + 16] not in used, f"{name}, from byte {start}"
