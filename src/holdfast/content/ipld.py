"""Blocks of DAG-CBOR (IPLD), and the links between them."""

from __future__ import annotations

from typing import Any

from holdfast.content.cids import Block, bytes_of, cid_of, text_of, verified
from holdfast.content.dag_cbor import Link, decode, encode
from holdfast.content.errors import ContentError

__all__ = ["Link", "cid_of_link", "dag_cbor_block", "decode", "encode", "link", "value_of"]


def link(cid: str) -> Link:
    """Return a link to a block as a DAG-CBOR value. Raises ContentError unless `cid` is a canonical text."""
    return Link(bytes_of(cid))


def cid_of_link(value: object) -> str:
    """Return the canonical text of the CID in a decoded link. Raises ContentError for another value."""
    if not isinstance(value, Link):
        raise ContentError("invalid_dag_cbor", "a link is expected")
    return text_of(value.cid)


def dag_cbor_block(value: object) -> Block:
    """Return a DAG-CBOR block that contains a value."""
    data = encode(value)
    return Block(cid_of("dag-cbor", data), data)


def value_of(block: Block) -> Any:
    """Return a DAG-CBOR block's value, after checking the block against its CID. Raises ContentError."""
    return decode(verified(block.cid, block.data))
