import base64
import struct

import pytest

from holdfast.indexer import parameters
from holdfast.indexer.parameters import address, alias_key, cursor, did_key, list_query
from holdfast.wire.errors import Refused
from holdfast.wire.keccak import alias_hash, did_hash

HASH = "0x" + "aB" * 32
ADDRESS = "0x" + "Cd" * 20


def refusal(call, *arguments):
    with pytest.raises(Refused) as caught:
        call(*arguments)
    assert caught.value.row.status == 400
    return caught.value.row.error


NO_DIDS = ("", "alice", "did:", "did:new:", "0x12", "0x" + "g" * 64, "did:new:a b", "did:x:" + "a" * 600)
NO_ALIASES = ("", "a b", "a\n", "\x7f", "\ud800", "a" * 321)
NO_ADDRESSES = ("", "0x", ADDRESS[2:], ADDRESS + "0", "0x" + "\uff11" * 40)


@pytest.mark.parametrize(("read", "text", "told"), [
    *((did_key, text, "Invalid did: expected a DID or its 32-byte hex hash") for text in NO_DIDS),
    *((alias_key, text, "Invalid alias: expected an alias or its 32-byte hex hash") for text in NO_ALIASES),
    *((address, text, "Invalid account: expected 20-byte hex address") for text in NO_ADDRESSES),
])  # fmt: skip
def test_what_is_no_name_is_refused(read, text, told):
    assert refusal(read, text) == told


def test_every_parameter_arrives():
    assert list_query("dids", b"")[1:] == ((), None, None, None, 50), "the first page"
    assert dict(list_query("dids", b"did=did%3Anew%3A0x12&active=fals%65").filters) == {
        "did": did_hash("did:new:0x12"), "active": 0,
    }  # fmt: skip
    text = f"did={HASH}&controller={ADDRESS}&alias=Al&owner={ADDRESS}&active=true&from_block=1&to_block=9&limit=7"
    query = list_query("dids", f"{text}&cursor={cursor('dids', 4, 2)}".encode())
    where = bytes.fromhex("cd" * 20)
    assert dict(query.filters) == {
        "did": bytes.fromhex("ab" * 32), "controller": where, "alias": alias_hash("al"), "owner": where, "active": 1,
    }  # fmt: skip
    assert query[2:] == (1, 9, (4, 2), 7)


FORGED = base64.urlsafe_b64encode(struct.pack(">cqq", b"\x01", -1, 0)).decode().rstrip("=")


@pytest.mark.parametrize(("query", "error"), [
    ("did=x", "Invalid did: expected a DID or its 32-byte hex hash"),
    ("did=", "Invalid did: expected a DID or its 32-byte hex hash"),
    ("alias=", "Invalid alias: expected an alias or its 32-byte hex hash"),
    ("controller=0x1", "Invalid controller: expected 20-byte hex address"),
    ("owner=me", "Invalid owner: expected 20-byte hex address"),
    ("key_owner=0x12", "Invalid key_owner: expected 20-byte hex address"),
    ("active=1", "Invalid active: expected true or false"),
    ("from_block=-1", "Invalid from_block: expected a block number"),
    ("from_block=1e3", "Invalid from_block: expected a block number"),
    ("to_block=" + "9" * 19, "Invalid to_block: expected a block number"),
    ("to_block=%D9%A3", "Invalid to_block: expected a block number"),
    ("limit=0", "Invalid limit: expected a number from 1 to 200"),
    ("limit=201", "Invalid limit: expected a number from 1 to 200"),
    ("limit=all", "Invalid limit: expected a number from 1 to 200"),
    ("cursor=", "Invalid cursor"),
    ("cursor=!!!", "Invalid cursor"),
    ("cursor=AAAA", "Invalid cursor"),
    ("cursor=" + FORGED, "Invalid cursor"),
    ("cursor=" + cursor("events", 1, 1), "Invalid cursor"),
    ("active=true&active=true", "Duplicate query parameter: active"),
    ("active", "Invalid query string"),
    ("alias=%ff", "Invalid query string"),
    ("alias=\u00e4", "Invalid query string"),
    ("&".join("a=1" for _ in range(17)), "Invalid query string"),
])  # fmt: skip
def test_bad_input_is_named(query, error):
    assert refusal(list_query, "dids", query.encode()) == error


def test_an_unknown_parameter_is_told_what_is_known():
    assert refusal(list_query, "accounts", b"owned=1") == (
        "Unknown query parameter. Known: did, controller, alias, owner, key_owner, active, from_block, to_block, cursor,"
        " limit"
    )
    assert refusal(parameters.parameters, b"a=1", []) == "Unknown query parameter. Known: none"


def test_only_events_have_kinds_and_accounts():
    query = list_query("events", f"kind=AccountCreated&account={ADDRESS}".encode())
    assert dict(query.filters) == {"kind": "AccountCreated", "account": bytes.fromhex("cd" * 20)}
    assert refusal(list_query, "events", b"kind=Transfer") == "Invalid kind: expected the name of an event"
    assert refusal(list_query, "dids", b"kind=AccountCreated").startswith("Unknown query parameter")
