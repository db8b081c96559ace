"""Malformed, oversized, concurrent and incomplete uploads get a readable error, and none of their data is stored."""

import asyncio
import gzip
import os
import shutil
from types import SimpleNamespace

import pytest
from tests.support.snapshot_vaults import BOUNDARY, failure, folder, form, plain_manifest, registered, spooled
from tests.support.vault_tokens import VaultKey

from holdfast.content import varints
from holdfast.content.cars import car_begin, section_begin, write_car
from holdfast.content.cids import Block, cid_of, raw_block
from holdfast.content.ipld import dag_cbor_block, link
from holdfast.service.snapshots.port import BlocksFull, BlocksUnavailable
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.web.asgi import AsgiEntry

MIB = 1024 * 1024


def car_of(root, *blocks):
    return car_begin(root.cid) + b"".join(section_begin(block.cid, len(block.data)) + block.data for block in blocks)


def root_of(vault, **changed):
    value = {"manifest": plain_manifest(vault).fields(), "size": 5, "blocks": [link(cid_of("raw", b"hello"))]}
    return dag_cbor_block({name: item for name, item in {**value, **changed}.items() if item is not ...})


HELLO = raw_block(b"hello")


# What else is no CAR file, and no root, is in vectors/car/invalid.json and vectors/snapshots/invalid.json.
LYING = {
    "nothing": lambda _: b"", "noise": lambda _: os.urandom(5000),
    "a block that does not match its CID": lambda v: car_of(root_of(v), root_of(v), Block(HELLO.cid, b"other")),
    "no root": lambda v: car_of(root_of(v), HELLO), "a missing block": lambda v: car_of(root_of(v), root_of(v)),
    "a block that no root links to": lambda v: car_of(root_of(v), root_of(v), HELLO, raw_block(b"stowaway")),
    "another size": lambda v: car_of(root_of(v, size=6), root_of(v, size=6), HELLO),
    "another field": lambda v: car_of(root_of(v, page="<html>"), root_of(v, page="<html>"), HELLO),
    "a raw root": lambda _: car_of(HELLO, HELLO),
    "a cut": lambda v: car_of(root_of(v), root_of(v), HELLO)[:-1],
    "a tail": lambda v: car_of(root_of(v), root_of(v), HELLO) + b"\x00",
    "a section of 2^34 bytes": lambda v: car_begin(root_of(v).cid) + varints.encode(2**34) + b"x",
    "sixty-five blocks": lambda v: car_of(root_of(v), root_of(v), *[HELLO] * 65),
}  # fmt: skip


async def nothing_is_kept(vault):
    assert await vault.pins(status="queued,pinning,pinned,failed") == []
    snapshots = vault.api.service.snapshots
    assert spooled(vault) == [] and (await snapshots.index.usage(vault.did)).reserved == 0
    await snapshots.collect()
    assert not folder(vault).exists() or list(folder(vault).iterdir()) == []


async def test_a_lying_upload_is_refused(vault):
    for name, made in LYING.items():
        answer = await vault.upload(made(vault))
        assert failure(answer) in {(400, "INVALID_CAR"), (413, "TOO_LARGE")}, (name, answer.text)
        await nothing_is_kept(vault)
    blocks = vault.blocks(did=VaultKey().did)
    assert failure(await vault.upload(write_car(blocks[0].cid, blocks))) == (403, "ANOTHER_DID")
    await nothing_is_kept(vault)


BOUND = {"Content-Type": "multipart/form-data; boundary=b"}
UNSUPPORTED, BAD = (415, "UNSUPPORTED_MEDIA_TYPE"), (400, "BAD_REQUEST")


async def test_what_is_no_form_of_one_file(vault):
    whole, ours = form(write_car(HELLO.cid, [HELLO])), {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    for headers, body, expected in (
        *((ours, whole[:at], BAD) for at in (0, 10, 100, len(whole) - 3)),
        ({"Content-Type": "application/octet-stream"}, b"x", UNSUPPORTED),
        ({"Content-Type": "application/json"}, b"{}", UNSUPPORTED),
        ({}, b"x", UNSUPPORTED),
        ({**BOUND, "Content-Encoding": "gzip"}, gzip.compress(b"x", mtime=0), UNSUPPORTED),
        ({"Content-Type": "multipart/form-data"}, b"x", BAD),
        ({"Content-Type": "multipart/form-data; boundary="}, b"x", BAD),
        ({"Content-Type": "multipart/form-data; boundary=" + "b" * 71}, b"x", BAD),
        (BOUND, b"--b\r\nX: " + b"y" * 20_000, BAD),
        (BOUND, b"--b\r\n" + b"X: y\r\n" * 20 + b"\r\nz\r\n--b--\r\n", BAD),
        (BOUND, b"--b\r\n\r\nx\r\n--b\r\n\r\ny\r\n--b--\r\n", BAD),
        (BOUND, b"--b\r\nContent-Type: application/x-directory\r\n\r\n\r\n--b--\r\n", BAD),
        (BOUND, b"--b--\r\n", BAD),
        (BOUND, b"", BAD),
    ):  # fmt: skip
        answer = await vault.api.http.post("/api/v0/dag/import", content=body, headers={**headers, **vault.token()})
        assert failure(answer) == expected
        await nothing_is_kept(vault)


@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_without_end_is_cut_off(vault, declared):
    sent = 0

    async def endless():
        nonlocal sent
        yield form(b"")[: -len(form(b"").rpartition(b"\r\n--")[2]) - 4]
        while True:
            sent += MIB
            yield bytes(MIB)

    length = {"Content-Length": str(2**40)} if declared else {}
    assert failure(await vault.send(endless(), headers={**vault.token(), **length})) == (413, "TOO_LARGE")
    assert sent <= 40 * MIB, "18 MiB are read, and 18 MiB dropped after the refusal"
    await nothing_is_kept(vault)


async def test_bytes_revisions_and_pins_of_a_did_are_bounded_also_in_parallel(make_api):
    vault = await registered(make_api(snapshots_free_bytes="0", snapshots_bytes_per_did=str(350_000)))
    for fits in (True, True, True, False):
        blocks = vault.blocks(os.urandom(100_000), delegate=False)
        answer = await vault.upload(write_car(blocks[0].cid, blocks))
        assert answer.status_code == 200 if fits else failure(answer) == (409, "INSUFFICIENT_FUNDS")
    usage = await vault.api.service.snapshots.index.usage(vault.did)
    assert usage.revisions == 3 and usage.stored <= 350_000 and usage.reserved == 0
    api = make_api(snapshots_free_bytes="0", snapshots_revisions_per_did="2")
    vault = await registered(api, "bob")
    await vault.keep(), await vault.keep()
    blocks = vault.blocks()
    assert failure(await vault.upload(write_car(blocks[0].cid, blocks))) == (409, "INSUFFICIENT_FUNDS")
    (pin, *_) = await vault.pins()
    await api.http.delete(f"/pins/{pin['requestid']}", headers=vault.token())
    await vault.keep(blocks)
    vault = await registered(make_api(snapshots_free_bytes="0", snapshots_pins_per_did="5"), "cat")
    answers = await asyncio.gather(*(vault.pin(cid_of("dag-cbor", bytes([n]))) for n in range(20)))
    made, refused = ([answer for answer in answers if answer.status_code == status] for status in (202, 409))
    assert (len(made), len(refused)) == (5, 15) and failure(refused[0]) == (409, "INSUFFICIENT_FUNDS")
    assert "5 pins are kept" in refused[0].json()["error"]["details"]
    path = f"/pins/{made[0].json()['requestid']}"
    replaced = await vault.api.post(path, headers=vault.token(), cid=cid_of("dag-cbor", b"z"))
    assert replaced.status_code == 202, "replacing needs no room"


@pytest.mark.parametrize(
    ("error", "expected"),
    [(BlocksFull("full"), (507, "INSUFFICIENT_STORAGE")), (BlocksUnavailable("gone"), (503, "SERVICE_UNAVAILABLE"))],
)
async def test_storage_that_fails_keeps_nothing(vault, make_api, monkeypatch, error, expected):
    blocks = vault.blocks()
    car = write_car(blocks[0].cid, blocks)

    async def fails(*_):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(type(vault.api.service.snapshots.blocks), "put_all", fails)
        assert failure(await vault.upload(car)) == expected
    await nothing_is_kept(vault)
    assert (await vault.upload(car)).status_code == 200
    full = await registered(make_api(snapshots_free_bytes=str(2**50)), "bob")
    assert failure(await full.upload(b"x")) == (507, "INSUFFICIENT_STORAGE"), "the disk is nearly full"
    assert (await full.pin(cid_of("dag-cbor", b"x"))).status_code == 202


async def test_uploads_at_the_same_time_leave_the_disk_free_as_one_does(make_api, monkeypatch):
    vault = await registered(make_api(snapshots_free_bytes="1"), "ann")
    blocks = vault.blocks()
    car = write_car(blocks[0].cid, blocks)
    storage, begun, go_on = type(vault.api.service.snapshots.blocks), asyncio.Event(), asyncio.Event()
    put_all = storage.put_all

    async def waits(*given):
        if not begun.is_set():
            begun.set()
            await go_on.wait()
        await put_all(*given)

    monkeypatch.setattr(storage, "put_all", waits)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=len(form(car)) * 3 // 2))
    first = asyncio.create_task(vault.upload(car))
    await begun.wait()
    assert failure(await vault.upload(car)) == (507, "INSUFFICIENT_STORAGE")
    go_on.set()
    assert (await first).status_code == 200
    assert (await vault.upload(car)).status_code == 200

    async def pieces():
        yield form(car)

    assert failure(await vault.send(pieces())) == (507, "INSUFFICIENT_STORAGE"), "of unknown length"


async def test_a_client_that_leaves_gives_its_reservation_back(vault):
    messages = iter([{"type": "http.request", "body": form(b"")[:100], "more_body": True}, {"type": "http.disconnect"}])
    headers = {**vault.token(), "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    scope = {
        "type": "http", "method": "POST", "path": "/api/v0/dag/import", "query_string": b"", "client": ("127.0.0.1", 1),
        "headers": [(name.lower().encode(), text.encode()) for name, text in headers.items()],
    }  # fmt: skip
    sent = []

    async def receive():
        return next(messages)

    async def send(message):
        sent.append(message)

    await AsgiEntry(vault.api.application)(scope, receive, send)
    assert sent[0]["status"] == 400
    await nothing_is_kept(vault)


async def test_a_reservation_whose_response_is_lost_is_given_back(vault, monkeypatch):
    index = vault.api.service.snapshots.index
    begin = index.begin_upload

    async def begin_and_say_nothing(*upload):
        await begin(*upload)
        raise StoreUnavailable("no answer")

    monkeypatch.setattr(index, "begin_upload", begin_and_say_nothing)
    assert (await vault.upload(b"")).status_code == 503
    await nothing_is_kept(vault)
