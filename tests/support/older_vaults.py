"""The unencrypted database of a vault with schema version 1, written by an earlier version of the enclave module."""

from __future__ import annotations

import gzip
from pathlib import Path

_DATA = Path(__file__).resolve().parents[1] / "enclave" / "data"
OLD = gzip.decompress((_DATA / "vault_of_schema_1.sqlite.gz").read_bytes())
OLD_DID = "did:new:0xf7527c6f4943e7f45bad9c484c5b39ebe4d365f11734e27811981fcfbc00cc64"
