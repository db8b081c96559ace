"""Reads an MTRV export without Holdfast: `python mtrv_reader.py FILE` asks for the password and shows the contents.

The program needs only the packages `cryptography` and `argon2-cffi`. docs/formats.md describes the format. Anyone who
has the contents can sign in the owner's name, so protect the output, above all that of `--database`, as carefully as
a private key.
"""

from __future__ import annotations

import argparse
import getpass
import json
import sqlite3
import struct
import sys
from pathlib import Path
from typing import NamedTuple

from argon2.low_level import Type, hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MAGIC = b"MTRV"
VERSION = 1
ARGON2ID = 1
HEADER = struct.Struct(">4sBBHIII16s12sQ")
# Limits on the memory and time that an export, which may come from anyone, can make this program use.
MEMORY_KIB = range(8 * 1024, 64 * 1024 + 1)
PASSES = range(1, 11)
LANES = range(1, 9)
# Columns that contain secrets, which are not printed.
SECRET_COLUMNS = {"val_share", "user_share", "val_key", "user_key", "nonce", "value", "token"}


class FormatError(Exception):
    """Raised if the file is not an MTRV export that this program can read."""


class Header(NamedTuple):
    """The file's header, which is authenticated but not encrypted."""

    memory_kib: int
    passes: int
    lanes: int
    salt: bytes
    nonce: bytes
    raw: bytes


def read_header(data: bytes) -> Header:
    """Return the header of `data`. Raises FormatError with the reason if it is invalid."""
    if len(data) < HEADER.size:
        raise FormatError("the file is too short")
    magic, version, kdf, reserved, memory, passes, lanes, salt, nonce, length = HEADER.unpack_from(data)
    if magic != MAGIC:
        raise FormatError("this is not an MTRV file")
    if (version, kdf, reserved) != (VERSION, ARGON2ID, 0):
        raise FormatError(f"version {version} is not supported")
    if length != len(data) - HEADER.size:
        raise FormatError("the file is cut short or has something behind it")
    if memory not in MEMORY_KIB or passes not in PASSES or lanes not in LANES:
        raise FormatError("the key derivation parameters are out of bounds")
    return Header(memory, passes, lanes, salt, nonce, data[: HEADER.size])


def decrypt(data: bytes, password: str) -> bytes:
    """Return the SQLite database in the file. Raises FormatError if it cannot be decrypted."""
    header = read_header(data)
    key = hash_secret_raw(password.encode(), header.salt, header.passes, header.memory_kib, header.lanes, 32, Type.ID)
    try:
        return AESGCM(key).decrypt(header.nonce, data[HEADER.size :], header.raw)
    except InvalidTag as error:
        raise FormatError("wrong password or damaged file") from error


def contents(image: bytes) -> dict[str, list[dict[str, object]]]:
    """Return every table's rows, without the columns that contain secrets."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(image)
        connection.row_factory = sqlite3.Row
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {table: [_shown(row) for row in connection.execute(f'SELECT * FROM "{table}"')] for table in tables}
    finally:
        connection.close()


def _shown(row: sqlite3.Row) -> dict[str, object]:
    return {
        name: value.hex() if isinstance(value, bytes) else value
        for name, value in zip(row.keys(), row, strict=True)
        if name not in SECRET_COLUMNS
    }


def main() -> int:
    """Print the contents of the export named on the command line, and return 0 if it could be read."""
    parser = argparse.ArgumentParser(description="Reads a vault's MTRV export.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--database", type=Path, help="also write the whole SQLite database, secrets included, here")
    options = parser.parse_args()
    password = getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    try:
        image = decrypt(options.file.read_bytes(), password)
    except (FormatError, OSError) as error:
        print(f"mtrv_reader: {error}", file=sys.stderr)
        return 1
    if options.database:
        options.database.touch(mode=0o600, exist_ok=False)
        options.database.write_bytes(image)
    print(json.dumps(contents(image), indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
