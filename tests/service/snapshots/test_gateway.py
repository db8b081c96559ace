"""GET and HEAD /ipfs/{cid} follow the trustless gateway specification and pass gateway-conformance's cases."""

import os
from dataclasses import dataclass
from urllib.parse import quote

import pytest
from tests.support.api import Api

from holdfast.content.cars import CarReader
from holdfast.content.cids import Block, cid_of

RAW, CAR = "application/vnd.ipld.raw", "application/vnd.ipld.car"
MIB = 1024 * 1024


@dataclass
class Kept:
    api: Api
    blocks: tuple[Block, ...]

    @property
    def root(self):
        return self.blocks[0].cid

    async def get(self, path, **headers):
        return await self.api.http.get(path, headers={name.replace("_", "-"): text for name, text in headers.items()})


@pytest.fixture
async def kept(vault):
    blocks = vault.blocks(b"a" * (2 * MIB) + os.urandom(10))
    await vault.keep(blocks)
    return Kept(vault.api, blocks)


def order(data):
    return [block.cid for block in CarReader().feed(data)]


def refused(answer, status):
    assert answer.status_code == status and answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.count("\n") == 1 and answer.headers["cache-control"] == "no-store"
    safe(answer)


def safe(answer):
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers and "set-cookie" not in answer.headers


async def test_raw_blocks(kept):
    for how in ["format", "accept"]:
        for block in kept.blocks:
            path = f"/ipfs/{block.cid}"
            answer = await (kept.get(path + "?format=raw") if how == "format" else kept.get(path, accept=RAW))
            assert answer.status_code == 200 and answer.content == block.data
            assert answer.headers["content-type"] == RAW
            assert answer.headers["content-length"] == str(len(block.data))
            assert answer.headers["content-disposition"] == f'attachment; filename="{block.cid}.bin"'
            assert answer.headers["cache-control"] == "public, max-age=29030400, immutable"
            assert answer.headers["x-ipfs-path"] == path and block.cid in answer.headers["x-ipfs-roots"]
            assert answer.headers["etag"] == f'"{block.cid}.raw"' and answer.headers["vary"] == "Accept"
            assert answer.headers.get("content-location") == (None if how == "format" else path + "?format=raw")
            safe(answer)


async def test_head_says_what_get_says(kept):
    for query in ("format=raw", "format=car", "format=car&car-dups=y", "format=car&dag-scope=block"):
        path = f"/ipfs/{kept.root}?{query}"
        get, head = await kept.get(path), await kept.api.http.head(path)
        assert (head.status_code, head.content) == (200, b"")
        same = {name: text for name, text in get.headers.items() if name != "x-request-id"}
        assert {name: text for name, text in head.headers.items() if name != "x-request-id"} == same
        assert int(head.headers["content-length"]) == len(get.content)


async def test_ranges_of_raw_blocks(kept):
    block = kept.blocks[-1]
    for asked, status, part in (
        ("bytes=0-0", 206, slice(0, 1)), ("bytes=6-16", 206, slice(6, 17)), ("bytes=6-", 206, slice(6, None)),
        ("bytes=-5", 206, slice(-5, None)), ("bytes=0-99999999", 206, slice(None)), ("bytes=0-1,4-5", 200, slice(None)),
        ("bytes=5-2", 200, slice(None)), ("lines=1-2", 200, slice(None)), ("bytes=x", 200, slice(None)),
        ("bytes=-", 200, slice(None)), ("bytes=99999999-", 416, None), ("bytes=-0", 416, None),
    ):  # fmt: skip
        answer = await kept.get(f"/ipfs/{block.cid}?format=raw", range=asked)
        assert answer.status_code == status
        if part is None:
            refused(answer, 416)
            assert answer.headers["content-range"] == f"bytes */{len(block.data)}"
            continue
        assert answer.content == block.data[part]
        if status == 206:
            begin, end, _ = part.indices(len(block.data))
            assert answer.headers["content-range"] == f"bytes {begin}-{end - 1}/{len(block.data)}"
    path = f"/ipfs/{kept.root}?format=raw"
    etag = (await kept.get(path)).headers["etag"]
    for if_range, status in ((etag, 206), ('"other"', 200)):
        assert (await kept.get(path, range="bytes=0-1", if_range=if_range)).status_code == status
    head = await kept.api.http.head(path, headers={"Range": "bytes=0-1"})
    assert head.status_code == 200 and "content-range" not in head.headers
    assert int(head.headers["content-length"]) == len(kept.blocks[0].data)


async def test_car_files(kept):
    for query, accept, dups in (
        ("format=car", "*/*", False), ("", CAR, False), ("", f"{CAR};version=1;order=dfs;dups=y", True),
        ("", f"{CAR};version=1;order=dfs;dups=n", False), ("", f"{CAR};order=unk", False),
        ("format=car", f"{CAR};version=1;dups=y", True), ("format=car", RAW, False),
        ("car-order=dfs", f"{CAR};order=unk", False), ("car-dups=y", f"{CAR};dups=n", True),
        ("format=car&car-version=1&car-dups=y", "text/html", True), ("", f"text/html, {CAR}; dups=y", True),
    ):  # fmt: skip
        answer = await kept.get(f"/ipfs/{kept.root}?{query}", accept=accept)
        assert answer.status_code == 200
        kind = "y" if dups else "n"
        assert answer.headers["content-type"] == f"{CAR}; version=1; order=dfs; dups={kind}"
        assert answer.headers["accept-ranges"] == "none" and answer.headers["etag"]
        assert answer.headers["content-disposition"] == f'attachment; filename="{kept.root}.car"'
        safe(answer)
        cids = [block.cid for block in kept.blocks]
        assert order(answer.content) == (cids if dups else list(dict.fromkeys(cids)))
        assert answer.headers["content-length"] == str(len(answer.content))
    for accept, kind in (  # the most wanted form that can be had
        (f"{CAR};order=foo, {CAR};order=dfs;dups=y;q=0.5", f"{CAR}; version=1; order=dfs; dups=y"),  # the specification's
        (f"{CAR};q=0.1, {RAW};q=0.9", RAW), (f"{RAW};q=0.000, {CAR}", f"{CAR}; version=1; order=dfs; dups=n"),
        (f"{CAR};q=0.5, {RAW};q=0.50", f"{CAR}; version=1; order=dfs; dups=n"), (f"{RAW};q=2, {CAR};q=1", RAW),
        (f"{RAW};q=0", None), (f"{CAR};order=foo, {CAR};version=2;q=0.1", None),
    ):  # fmt: skip
        answer = await kept.get(f"/ipfs/{kept.root}", accept=accept)
        assert answer.headers.get("content-type") == kind if kind else answer.status_code in {400, 406}


async def test_the_location_of_what_overrules_accept(kept):
    """Content-Location is there if the form does not follow from the address alone (Path Gateway specification)."""
    path = f"/ipfs/{kept.root}"
    for query, accept, location in (
        ("format=raw", CAR, "?format=raw"), ("format=car", RAW, "?format=car&car-dups=n"), ("format=raw", RAW, None),
        ("format=car&car-dups=y", f"{CAR};dups=n", "?format=car&car-dups=y"), ("format=car", "*/*", None),
        ("format=car&car-dups=y&dag-scope=block", RAW, "?format=car&car-dups=y&dag-scope=block"),
        ("entity-bytes=0:1", RAW, "?format=raw&entity-bytes=0:1"),
    ):  # fmt: skip
        answer = await kept.get(f"{path}?{query}", accept=accept)
        assert answer.headers.get("content-location") == (location and path + location), query


async def test_scopes_paths_and_single_blocks(kept):
    root, first, _, last = [block.cid for block in kept.blocks]
    for path, found in (
        (f"{root}?format=car&dag-scope=block", [root]), (f"{root}?format=car&dag-scope=entity", [root]),
        (f"{root}?format=car&dag-scope=all", [root, first, last]), (f"{root}?format=car&entity-bytes=0:5", [root]),
        (f"{root}?format=car&entity-bytes=-5:*", [root]), (f"{last}?format=car", [last]),
        (f"{last}?format=car&entity-bytes=2:-1", [last]), (f"{root}/blocks/2?format=car", [root, last]),
        (f"{root}/blocks/0?format=car&dag-scope=block", [root, first]), (f"{root}/manifest/did?format=car", [root]),
        (f"{root}/?format=car", [root, first, last]), (f"{root}/blocks?format=car", [root, first, last]),
        (f"{root}/blocks?format=car&car-dups=y", [root, first, first, last]),
        (f"{root}/blocks?format=car&dag-scope=entity", [root]), (f"{root}/blocks?format=car&dag-scope=block", [root]),
    ):  # fmt: skip
        answer = await kept.get(f"/ipfs/{path}")
        assert (answer.status_code, order(answer.content)) == (200, found), path


async def test_validators_differ_with_what_they_validate(kept):
    root = kept.root
    queries = (
        "format=raw", "format=car", "format=car&car-dups=y", "format=car&dag-scope=block", "format=car&entity-bytes=0:1",
        "format=raw&entity-bytes=0:1",
    )  # fmt: skip
    etags = [(await kept.get(f"/ipfs/{root}?{query}")).headers["etag"] for query in queries]
    etags.append((await kept.get(f"/ipfs/{root}/blocks/0?format=car")).headers["etag"])
    assert len(set(etags)) == len(etags)
    for known in (etags[1], f"W/{etags[1]}", f'"x", {etags[1]}', "*"):
        answer = await kept.get(f"/ipfs/{root}?format=car", if_none_match=known)
        assert (answer.status_code, answer.content) == (304, b"") and answer.headers["etag"] == etags[1]
    assert (await kept.get(f"/ipfs/{root}?format=raw", if_none_match=etags[1])).status_code == 200


async def test_what_is_not_given_out(kept):
    named = {
        "root": kept.root, "raw": kept.blocks[1].cid, "absent": cid_of("raw", b"absent"), "upper": kept.root.upper()
    }  # fmt: skip
    for path, status in (
        ("{root}", 400), ("{root}?format=", 400), ("{root}?format=html", 406), ("{root}?format=dag-json", 406),
        ("{root}?format=ipns-record", 406), ("{root}/blocks/0?format=raw", 406), ("{root}?format=car&car-version=2", 406),
        ("{root}?format=car&car-order=bfs", 406), ("{root}?format=car&car-dups=maybe", 406),
        ("{root}?format=car&dag-scope=some", 400), ("{root}?format=car&entity-bytes=x", 400),
        ("{root}?format=car&entity-bytes=1:2:3", 400), ("{root}/none?format=car", 404), ("{root}/blocks/9?format=car", 404),
        ("{root}/blocks/-1?format=car", 404), ("{root}/blocks/\u0661?format=car", 404), ("{raw}/x?format=car", 404),
        ("{absent}?format=raw", 404), ("{absent}?format=car", 404), ("?format=raw", 400), ("/?format=raw", 400),
        ("{root}" + "/x" * 40 + "?format=car", 400), ("notacid?format=raw", 400), ("{upper}?format=raw", 400),
        ("QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG?format=raw", 400), ("..%2f..%2fetc%2fpasswd?format=raw", 406),
        ("{root}%00?format=raw", 400), ("{root}/blocks/" + "9" * 5000 + "?format=car", 400),
        ("{root}/blocks/" + "9" * 900 + "?format=car", 404), ("bafkqabtimvwgy3yk?format=raw", 400), ("../holdfast.db?format=raw", 404),
    ):  # fmt: skip
        answer = await kept.get("/ipfs/" + path.format(**named), accept="*/*")
        if answer.headers["content-type"] == "application/json":  # the path is outside /ipfs/
            assert answer.json() == {"error": "not_found"}
            continue
        refused(answer, status)
        head = await kept.api.http.head("/ipfs/" + path.format(**named))
        assert head.status_code == status


async def test_special_questions_and_preflights(kept):
    absent = f"/ipfs/{cid_of('raw', b'absent')}?format=raw"
    uncached = await kept.get(absent, cache_control="only-if-cached")
    assert (uncached.status_code, uncached.content) == (412, b"")
    assert (await kept.get(f"/ipfs/{kept.root}?format=raw", cache_control="only-if-cached")).status_code == 200
    refused(await kept.get(f"/ipfs/{kept.root}?format=raw", service_worker="script"), 400)
    asked = await kept.api.http.options(f"/ipfs/{kept.root}", headers={"Origin": "https://app.example"})
    assert asked.status_code == 204 and asked.headers["access-control-allow-origin"] == "*"
    got = await kept.get(f"/ipfs/{kept.root}?format=raw")
    for answer, header, names in (
        (asked, "allow-methods", {"GET", "HEAD", "OPTIONS"}),
        (asked, "allow-headers", {"Content-Type", "Range", "User-Agent", "X-Requested-With"}),
        (got, "expose-headers", {"Content-Range", "Content-Length", "X-Ipfs-Path", "X-Ipfs-Roots"}),
    ):
        assert names <= set(answer.headers[f"access-control-{header}"].split(", "))


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_the_probe_and_other_cids_that_hold_their_bytes(kept, method):
    raw = await kept.api.http.request(method, "/ipfs/bafkqaaa?format=raw")
    assert (raw.status_code, raw.content) == (200, b"") and raw.headers["content-type"] == RAW
    car = await kept.api.http.request(method, "/ipfs/bafkqaaa", headers={"Accept": f"{CAR};dups=y"})
    assert car.status_code == 200 and "dups=y" in car.headers["content-type"]
    if method == "GET":
        header = b"\xa2\x65roots\x81\xd8\x2a\x45\x00\x01\x55\x00\x00\x67version\x01"
        assert car.content == bytes([len(header)]) + header
    path = "/ipfs/bafkqabtimvwgy3yk"  # its CAR file contains no block either, even with dups=y (gateway-conformance)
    car = await kept.get(f"{path}?format=car&car-dups=y")
    assert car.content[0] == len(car.content) - 1 and "dups=y" in car.headers["content-type"]
    refused(await kept.get(f"{path}?format=raw"), 400)
    refused(await kept.get(f"{path}/x?format=car"), 404)


async def test_file_names_cannot_leave_the_header_and_a_stranger_cannot_name_a_program(kept):
    own = f'attachment; filename="{kept.root}.bin"'
    programs = ("Setup.exe", "x", ".car", "a.bin.html", "a.BIN", "a.car ", "a.bin\u202exe", "n" * 5000 + ".car")
    for given, written in (
        ("foobar.bin", 'attachment; filename="foobar.bin"'),
        ("test\u0442\u0435\u0441\u0442.bin", "attachment; filename=\"test____.bin\"; filename*=UTF-8''test%D1%82%D0%B5%D1%81%D1%82.bin"),
        ('a"b\\c\r\nSet-Cookie: x=1.car', 'attachment; filename="abcSet-Cookie: x=1.car"'),
        ("../../x.ipns-record", 'attachment; filename="....x.ipns-record"'), *((name, own) for name in programs),
    ):  # fmt: skip
        answer = await kept.get(f"/ipfs/{kept.root}?format=raw&download=false&filename={quote(given)}")
        assert answer.headers["content-disposition"] == written


async def test_a_damaged_block_is_not_read_and_is_logged(kept, caplog):
    """One bit flips in the storage, and the block's size stays the same."""
    (file,) = [file for file in kept.api.service.snapshots.blocks.folder.iterdir() if file.name.startswith(kept.root)]
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    refused(await kept.get(f"/ipfs/{kept.root}/blocks/0?format=car"), 404)
    (line,) = [record for record in caplog.records if "damaged" in record.message]
    assert line.levelname == "ERROR" and line.why == file.name


async def test_off_means_not_there(make_api):
    api = make_api(snapshots="off")
    for method, path in (
        ("GET", "/pins"), ("POST", "/pins"), ("GET", "/pins/x"), ("POST", "/api/v0/dag/import"), ("OPTIONS", "/pins"),
        ("GET", "/ipfs/bafkqaaa?format=raw"), ("GET", "/ipns/x"), ("PUT", "/routing/v1/ipns/x"),
        ("POST", "/api/snapshots/revocations"),
    ):  # fmt: skip
        answer = await api.http.request(method, path)
        assert (answer.status_code, answer.json()) == (404, {"error": "not_found"})
