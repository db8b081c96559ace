"""The contract of BlockStorage with a folder, S3, Google Cloud and Azure, directly and through the service."""

import os

import pytest
from aiohttp import web
from obstore.exceptions import GenericError
from tests.support import object_stores
from tests.support.upstreams import upstream

from holdfast.service.object_folder import storage_words
from holdfast.service.snapshots.object_blocks import ObjectBlocks
from holdfast.service.snapshots.port import BlocksUnavailable

MIB = 1024 * 1024
KINDS = ["folder", "S3", "Google Cloud", "Azure"]


@pytest.fixture(scope="module", params=KINDS)
def place(request, tmp_path_factory):
    """Return a function that takes a folder's name and returns the folder's URL in one kind of storage."""
    root = tmp_path_factory.mktemp("storage")
    if request.param == "folder":
        yield lambda folder: f"file://{root}/{folder}"
        return
    if request.param == "Azure" and not object_stores.AZURITE.exists():
        pytest.skip("tests/peers/node_modules is missing: make setup installs it")
    made = {"S3": object_stores.s3, "Google Cloud": lambda: object_stores.google_cloud(root)}
    with made.get(request.param, object_stores.azure)() as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        yield server.url


@pytest.fixture
def blocks(place):
    return ObjectBlocks(place(os.urandom(6).hex()))


async def test_what_was_put_is_there_until_it_is_deleted(blocks, place):
    large, small = os.urandom(MIB), b"small"
    for _ in range(2):  # the same object again is the same object
        await blocks.put_all([("bafkrei.1", large), ("bafyrei.2", small), ("bafyrei.3", b"\0")])
    assert await blocks.get("bafkrei.1") == large
    assert await blocks.get_all(["bafyrei.2", "none.9", "bafkrei.1", "bafyrei.3"]) == [small, None, large, b"\0"]
    await blocks.delete(["bafkrei.1", "none.9"])
    assert await blocks.get_all(["bafkrei.1", "bafyrei.2"]) == [None, small]
    await blocks.delete(["bafkrei.1"])
    before = [part async for part in blocks.names()]
    await blocks.check()
    assert [part async for part in blocks.names()] == before, "the check leaves nothing"
    one, other = ObjectBlocks(place("one")), ObjectBlocks(place("one-more"))
    await one.put_all([("bafkrei.1", b"one")])
    assert await other.get("bafkrei.1") is None, "folders do not meet"


async def test_an_upload_that_ends_half_way_says_so(blocks):
    """Blocks are read while the upload is being stored, so reading may fail halfway."""

    def some():
        yield "bafkrei.1", b"first"
        raise OSError("the spool is gone")

    with pytest.raises(BlocksUnavailable):
        await blocks.put_all(some())


async def test_another_bucket_is_noticed_by_the_check(place):
    url = place("x").replace(object_stores.BUCKET, "another-bucket")
    if url == place("x"):
        url = "file:///proc/holdfast/blocks"
    with pytest.raises(BlocksUnavailable) as caught:
        await ObjectBlocks(url).check()
    assert "another-bucket" not in str(caught.value) and "127.0.0.1" not in str(caught.value)


async def test_what_is_wrong_with_a_bucket_or_a_folder_is_said_in_words():
    async with upstream() as storage:
        for endpoint, status, why in (
            ("http://127.0.0.1:9", 0, "nothing listens at this address"),
            ("http://no-such-host.invalid", 0, "the host's name was not found"),
            (storage.url, 403, "does not accept the credentials"), (storage.url, 404, "the bucket was not found"),
            (storage.url, 400, "answers with status 400"),
        ):  # fmt: skip
            storage.answer = lambda *_, given=status: web.Response(status=given)
            with pytest.raises(BlocksUnavailable, match=f"^the storage of snapshots failed: .*{why}"):
                await ObjectBlocks(f"s3://bucket?endpoint={endpoint}&public=true").check()
    for number, words in ((13, "is not allowed to"), (30, "the disk is mounted read-only"), (5, "the disk fails")):
        assert words in storage_words(GenericError(f"Unable to open file /x#1: some message (os error {number})"))


async def test_an_object_that_is_larger_than_any_block_is_not_read():
    headers = {"ETag": '"x"', "Last-Modified": "Sat, 28 Nov 2026 12:00:00 GMT"}
    async with upstream() as storage:
        blocks = ObjectBlocks(f"s3://bucket?endpoint={storage.url}&public=true")
        for size, read in ((MIB, MIB), (MIB + 1, None)):
            storage.answer = lambda *_, given=size: web.Response(body=bytes(given), headers=headers)
            found = await blocks.get("bafkrei.1")
            assert (found and len(found)) == read
