"""Writes and strictly reads DAG-CBOR (IPLD). The bytes come from strangers, so every error becomes a ContentError."""

from __future__ import annotations

from typing import Any

import dag_cbor
from dag_cbor.decoding import CBORDecodingError
from multiformats import CID

from holdfast.content.cids import Block, bytes_of, cid_of, text_of, verified
from holdfast.content.errors import ContentError


def link(cid: str) -> CID:
    """Return a link to a block as a DAG-CBOR value. Raises ContentError unless `cid` is a canonical text."""
    return CID.decode(bytes_of(cid))


def cid_of_link(value: object) -> str:
    """Return the canonical text of the CID in a decoded link.

    Raises ContentError for another value or a CID of another kind.
    """
    if not isinstance(value, CID):
        raise ContentError("invalid_dag_cbor", "a link is expected")
    try:
        return text_of(bytes(value))
    except (KeyError, ValueError) as error:
        raise ContentError("other_cid", "a link names a block of another kind") from error


def encode(value: Any) -> bytes:
    """Encode a value in DAG-CBOR; any links in it must be made by `link`."""
    return dag_cbor.encode(value)


def decode(data: bytes) -> Any:
    """Decode DAG-CBOR bytes. Raises ContentError for other bytes.

    The caller must limit the length, because decoding a megabyte takes seconds. The library raises KeyError for a link
    with an unknown codec or hash and RecursionError for deep nesting; both errors become ContentError.
    """
    try:
        return dag_cbor.decode(data)
    except (ValueError, KeyError, TypeError, RecursionError, CBORDecodingError) as error:
        raise ContentError("invalid_dag_cbor", "the bytes are no DAG-CBOR") from error


def dag_cbor_block(value: Any) -> Block:
    """Return a DAG-CBOR block that contains a value."""
    data = encode(value)
    return Block(cid_of("dag-cbor", data), data)


def value_of(block: Block) -> Any:
    """Return a DAG-CBOR block's value, after checking the block against its CID. Raises ContentError."""
    return decode(verified(block.cid, block.data))
