"""A bucket that hangs or lies: no read waits longer than a request may, and other bytes are never served as a block."""

import asyncio
import os
import threading
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from tests.support.snapshot_vaults import registered, snapshots_of
from tests.support.upstreams import upstream

from holdfast.content.cars import read_car
from holdfast.rules.gateway import wanted
from holdfast.service.operations.snapshot_reading import SnapshotReading, car_of
from holdfast.service.serve import STOP_WITHIN_S
from holdfast.service.snapshots.object_blocks import READ_S, ObjectBlocks
from holdfast.service.snapshots.port import BlocksUnavailable
from holdfast.wire.failures import SnapshotRefused
from holdfast.wire.requests import ReadBlock

SIZE = 200_000


@dataclass
class Bucket:
    """An S3 server that stores objects in memory, unless `lie` responds to a GET instead."""

    objects: dict[str, bytes] = field(default_factory=dict)
    lie: object = None

    async def answer(self, request, body):
        headers = {"ETag": '"x"', "Last-Modified": "Sat, 28 Nov 2026 12:00:00 GMT"}
        if request.method == "PUT":
            self.objects[request.path] = body
            return web.Response(headers=headers)
        found = self.objects.get(request.path, bytes(SIZE))
        return await self.lie(request, found, headers) if self.lie else web.Response(body=found, headers=headers)


@pytest.fixture
async def bucket():
    async with upstream() as server:
        bucket = Bucket()
        server.answer = bucket.answer
        bucket.url = f"s3://bucket?endpoint={server.url}&public=true"
        yield bucket


@pytest.fixture
async def kept(make_api, bucket):
    """A vault whose snapshot of a root and one block is stored in the bucket."""
    vault = await registered(make_api(snapshots_free_bytes="0", snapshots_url=bucket.url))
    vault.kept = vault.blocks(os.urandom(SIZE))
    await vault.keep(vault.kept)
    return vault


async def other_bytes(_request, found, headers):
    return web.Response(body=found[:-1] + bytes([found[-1] ^ 1]), headers=headers)


async def half(_request, found, headers):
    return web.Response(body=found[: len(found) // 2], headers=headers)


async def partial_content(_request, found, headers):
    return web.Response(status=206, body=found[:-1], headers=headers | {"Content-Range": "bytes 0-9/10"})


async def compressed(_request, found, headers):
    response = web.Response(body=found, headers=headers)
    response.enable_compression(web.ContentCoding.gzip)
    return response


async def elsewhere(request, found, headers):
    """Redirect every object to one that is as long as the largest."""
    if request.path.endswith("elsewhere"):
        return web.Response(body=bytes(len(found)), headers=headers)
    raise web.HTTPTemporaryRedirect(f"{request.path}-elsewhere")


async def endless(request, _found, headers):
    response = web.StreamResponse(headers=headers)
    response.content_length = 1 << 40
    await response.prepare(request)
    while True:
        await response.write(bytes(65536))


LIES = [other_bytes, half, partial_content, compressed, elsewhere, endless]


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
async def test_what_a_bucket_says_instead_of_a_block_is_not_served(kept, bucket, lie):
    bucket.lie = lie
    root, part = kept.kept
    for cid, query in (
        (part.cid, "raw"), (root.cid, "raw"), (root.cid, "car"), (root.cid, "car&dag-scope=block"),
    ):  # fmt: skip
        answer = await kept.api.http.get(f"/ipfs/{cid}?format={query}")
        assert (answer.status_code, answer.headers["cache-control"]) == (404, "no-store"), (lie, query)
    bucket.lie = None
    car = await kept.api.http.get(f"/ipfs/{root.cid}?format=car")
    assert read_car(car.content) == (root.cid, {block.cid: block.data for block in kept.kept}), "nothing is kept of it"


async def test_a_file_that_is_sent_in_pieces_is_cut_before_other_bytes(kept, bucket):
    blocks = kept.blocks(os.urandom(3 * 1024 * 1024))
    await kept.keep(blocks)
    reading = snapshots_of(kept).reading
    car = await reading.car(await reading.dag(blocks[0].cid), [], wanted(ReadBlock(format="car"), None))
    pieces = reading.pieces(car)
    assert blocks[0].data in await anext(pieces)
    bucket.lie = other_bytes
    with pytest.raises(SnapshotRefused):
        await anext(pieces)


@pytest.mark.parametrize("begun", [True, False])
async def test_a_read_from_a_bucket_that_hangs_ends_by_itself(kept, bucket, begun):
    """The bucket says nothing, or half of the object and then nothing."""
    assert READ_S < STOP_WITHIN_S, "a stopping process waits for its reads"
    let_go = asyncio.Event()

    async def hangs(request, found, headers):
        response = web.StreamResponse(headers=headers)
        if begun:
            response.content_length = len(found)
            await response.prepare(request)
            await response.write(found[: len(found) // 2])
        await let_go.wait()
        return response

    bucket.lie = hangs
    index = snapshots_of(kept).index
    reading = SnapshotReading(index, ObjectBlocks(bucket.url, read_s=0.5))
    dag = await reading.dag(kept.kept[0].cid)
    try:
        for read in (reading.block(dag[1]), reading.whole(car_of(dag[0].cid, dag))):
            with pytest.raises(BlocksUnavailable, match="did not answer in time"):
                await read
    finally:
        let_go.set()


def a_page_without_end(*names):
    return "".join([
        "<ListBucketResult><Name>bucket</Name><IsTruncated>true</IsTruncated><KeyCount>1</KeyCount><MaxKeys>1000</MaxKeys>",
        "<NextContinuationToken>again</NextContinuationToken>",
        *[f"<Contents><Key>{name}</Key><LastModified>2026-11-28T12:00:00.000Z</LastModified><Size>1</Size></Contents>"
          for name in names],
        "</ListBucketResult>",
    ])  # fmt: skip


async def test_deletions_that_are_given_up_do_not_go_on():
    """Each is its own, with its own time limit, so a slow bucket does not fail all of them because of their number."""
    deleting, let_go, deleted = asyncio.Event(), asyncio.Event(), []

    async def slow(_request, body):
        deleted.append(body)
        deleting.set()
        await let_go.wait()
        done = "<DeleteResult><Deleted><Key>of this request</Key></Deleted></DeleteResult>"
        return web.Response(text=done, content_type="application/xml")

    async with upstream() as server:
        server.answer = slow
        blocks = ObjectBlocks(f"s3://bucket?endpoint={server.url}&public=true")
        task = asyncio.create_task(blocks.delete(["bafkrei.1", "bafkrei.2", "bafkrei.3"]))
        await deleting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        let_go.set()
        await asyncio.sleep(0.5)
    assert len(deleted) == 1 and b"bafkrei.1" in deleted[0]


@pytest.mark.parametrize(("names", "why"), [(["bafkrei.1"], "again and again"), ([], "in time")])
async def test_a_listing_without_an_end_is_left_off(names, why):
    """The bucket says each time that more follows; while nothing is listed, nothing comes back from the library."""
    requests = 0

    async def page(*_):
        nonlocal requests
        requests += 1
        return web.Response(text=a_page_without_end(*names), content_type="application/xml")

    async with upstream() as server:
        server.answer = page
        blocks = ObjectBlocks(f"s3://bucket?endpoint={server.url}&public=true", transfer_s=60 if names else 0.5)
        with pytest.raises(BlocksUnavailable, match=why):
            assert [part async for part in blocks.names()]
        for _ in range(100):  # a request may still be under way
            before = requests
            await asyncio.sleep(0.3)
            if requests == before:
                break
        assert requests == before


async def test_nothing_more_of_an_upload_is_stored_once_it_has_failed(bucket):
    """Nothing would delete such an object later, because its name is given up."""
    blocks, read = ObjectBlocks(bucket.url, transfer_s=0.5), []
    let_go, left = threading.Event(), threading.Event()

    def some():
        try:
            for number in range(3):
                read.append(number)
                yield f"bafkrei.{number}", b"x"
                let_go.wait()
        finally:
            left.set()

    with pytest.raises(BlocksUnavailable):
        await blocks.put_all(some())
    let_go.set()
    assert await asyncio.to_thread(left.wait, 60)
    assert (len(bucket.objects), read) == (1, [0, 1])
