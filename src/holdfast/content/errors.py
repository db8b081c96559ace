"""The error that all parsers of content-addressed formats raise."""

from __future__ import annotations

from typing import Literal

Code = Literal[
    # CIDs and blocks
    "invalid_cid",
    "other_cid",
    "block_mismatch",
    "block_too_large",
    # DAG-CBOR
    "invalid_dag_cbor",
    # CAR files
    "invalid_varint",
    "invalid_header",
    "header_too_large",
    "other_roots",
    "section_too_large",
    "section_too_short",
    "car_too_large",
    "cut_short",
    # snapshots
    "invalid_root",
    "invalid_manifest",
    "other_size",
    "block_missing",
    "block_unlinked",
    "vault_too_large",
    # IPNS names and records
    "invalid_name",
    "record_too_large",
    "invalid_record",
    "other_key",
    "invalid_signature",
    "v1_mismatch",
    "invalid_data",
    "invalid_value",
    "invalid_validity",
]


class ContentError(ValueError):
    """Malformed bytes or text.

    Attributes:
        code: which rule they break, a stable word (docs/formats.md, "Snapshots").
    """

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
