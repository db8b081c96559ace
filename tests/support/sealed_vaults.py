"""Seals vaults as docs/formats.md describes, with content that the enclave itself would never seal."""

from __future__ import annotations

import gzip
import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Any

from argon2.low_level import Type, hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_WRAP = b"holdfast/vault-wrap/v1"
_SEALED_KEY = 48
_DATA = Path(__file__).resolve().parents[1] / "enclave" / "data"
# The database of a vault with schema version 1, which an earlier version of the enclave module wrote.
OLD = gzip.decompress((_DATA / "vault_of_schema_1.sqlite.gz").read_bytes())
OLD_DID = "did:new:0xf7527c6f4943e7f45bad9c484c5b39ebe4d365f11734e27811981fcfbc00cc64"


def opened(sealed: bytes, secret: bytes) -> bytes:
    """Return the decrypted database of a vault whose first key wrap is of kind 1 (docs/formats.md)."""
    did_length = int.from_bytes(sealed[6:8])
    at = 44 + did_length
    did = sealed[44:at]
    id_length = sealed[at + 1]
    clear = sealed[at : at + 2 + id_length + 16 + 12 + 12]
    end = at + len(clear) + _SEALED_KEY
    kek = _kek(secret, clear[2 + id_length : 18 + id_length])
    data_key = AESGCM(kek).decrypt(clear[-12:], sealed[end - _SEALED_KEY : end], _WRAP + b"\0" + did + clear)
    return AESGCM(data_key).decrypt(sealed[24:36], sealed[end:], sealed[:end])


def data_key(sealed: bytes, wrap_id: bytes, secret: bytes, info: str = "secret") -> bytes:
    at = 44 + int.from_bytes(sealed[6:8])
    did, rest = sealed[44:at], 16 + 12 + 12
    while sealed[at + 2 : at + 2 + sealed[at + 1]] != wrap_id:
        at += 2 + sealed[at + 1] + rest + _SEALED_KEY
    end = at + 2 + len(wrap_id) + rest
    clear = sealed[at:end]
    salt, (memory, passes, lanes) = clear[-rest : 16 - rest], struct.unpack(">III", clear[16 - rest : -12])
    kek = HKDF(hashes.SHA256(), 32, salt, _WRAP + b"/" + info.encode()).derive(secret)
    if info == "password":
        kek = hash_secret_raw(secret, salt, passes, memory, lanes, 32, Type.ID)
    return AESGCM(kek).decrypt(clear[-12:], sealed[end : end + _SEALED_KEY], _WRAP + b"\0" + did + clear)


def opens_with(sealed: bytes, key: bytes) -> bool:
    length = int.from_bytes(sealed[36:44])
    try:
        return AESGCM(key).decrypt(sealed[24:36], sealed[-length:], sealed[:-length]).startswith(b"SQLite format 3")
    except InvalidTag:
        return False


def sealed(database: bytes, did: bytes, secret: bytes, *, revision: int = 1, wrap_id: bytes = b"") -> bytes:
    """Return a sealed vault with this database and one key wrap of kind 1 (docs/formats.md)."""
    data_key, salt, wrap_nonce, nonce = os.urandom(32), os.urandom(16), os.urandom(12), os.urandom(12)
    clear = bytes([1, len(wrap_id)]) + wrap_id + salt + struct.pack(">III", 65536, 3, 4) + wrap_nonce
    wrap = clear + AESGCM(_kek(secret, salt)).encrypt(wrap_nonce, data_key, _WRAP + b"\0" + did + clear)
    head = b"HFDB\x01\x01" + struct.pack(">HQQ", len(did), revision, 0) + nonce
    head += struct.pack(">Q", len(database) + 16) + did + wrap
    return head + AESGCM(data_key).encrypt(nonce, database, head)


def as_export(database: bytes, password: bytes) -> bytes:
    """Return an export of this database, with the cheapest parameters that an import accepts (docs/formats.md)."""
    head = b"MTRV\x01\x01\0\0" + struct.pack(">III", 8192, 1, 1) + bytes(28) + struct.pack(">Q", len(database) + 16)
    key = hash_secret_raw(password, bytes(16), 1, 8192, 1, 32, Type.ID)
    return head + AESGCM(key).encrypt(bytes(12), database, head)


def rows_in(database: bytes, query: str, *values: object) -> list[Any]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(database)
        return connection.execute(query, values).fetchall()


def edited(database: bytes, file: Path, statement: str, *values: object) -> bytes:
    file.write_bytes(database)
    connection = sqlite3.connect(file)
    with connection:
        connection.execute(statement, values)
    connection.close()
    return file.read_bytes()


def _kek(secret: bytes, salt: bytes) -> bytes:
    return HKDF(hashes.SHA256(), 32, salt, _WRAP + b"/secret").derive(secret)
