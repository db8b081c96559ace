"""The published enclave is fetched from object storage: from a folder and from an S3-compatible server."""

import asyncio
import hashlib
import logging
import re
import threading
from urllib.parse import unquote

import pytest
from aiohttp import web
from tests.support.modules import standing_in
from tests.support.serving import PATIENCE_S
from tests.support.upstreams import upstream

from holdfast.service.enclave_source.address import parse_address
from holdfast.service.enclave_source.contract import contract_of
from holdfast.service.enclave_source.object_storage import MAX_BYTES
from holdfast.service.enclave_source.source import EnclaveSource

BUNDLED, NEWER, NEWEST = (standing_in(number) for number in (1, 2, 3))
BROKEN = NEWER[:-3]
ACCESS, SECRET = "AKIAEXAMPLE", "s3cr3t"


@pytest.fixture(autouse=True)
def logs(caplog):
    caplog.set_level(logging.DEBUG, "holdfast")
    yield caplog
    assert SECRET not in caplog.text


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    return folder


def of(folder):
    return EnclaveSource(folder.as_uri(), BUNDLED)


def lines(caplog, level=logging.WARNING):
    ours = [record for record in caplog.records if record.name == "holdfast.enclave"]
    return [record.getMessage() for record in ours if record.levelno >= level]


@pytest.mark.parametrize(("body", "words"), [
    (b"", "not a WebAssembly module"),
    (b"\x00asm\x0d\x00\x01\x00", "not a WebAssembly module"),
    (BROKEN, "does not compile"),
    (BUNDLED + bytes(MAX_BYTES), "larger than"),
    (b"\0asm\x01\0\0\0", "lacks _initialize"),
])  # fmt: skip
async def test_unusable_object_never_replaces_a_good_one(folder, caplog, body, words):
    source, file = of(folder), folder / "enclave.wasm"
    file.write_bytes(NEWER)
    assert await source.refresh()
    file.write_bytes(body)
    for _ in range(3):
        assert not await source.refresh()
    assert source.current().body == NEWER
    [line] = lines(caplog)  # three failures, one log line
    assert words in line and words in await source.verdict()


async def test_a_published_copy_replaces_and_follows_and_the_log_tells_each_change_once(folder, caplog):
    source, file = of(folder), folder / "enclave.wasm"
    folder.rmdir()
    assert not await source.refresh()
    assert f"there is no folder {folder}" in lines(caplog)[0]
    folder.mkdir()
    caplog.clear()
    for body in (None, None, BROKEN, BROKEN, None, NEWER, NEWER, NEWEST):
        file.unlink(missing_ok=True) if body is None else file.write_bytes(body)
        before = source.current().body
        replaced = await source.refresh()
        assert replaced == (body in {NEWER, NEWEST} and body != before)
        assert source.current().body == (body if replaced else before)
    assert source.current().published
    told = [re.sub(r"[;:]? ?the last good copy stays|enclave: ", "", line) for line in lines(caplog, logging.INFO)]
    assert [line.split(";")[0].split(":")[0] for line in told] == [
        "object storage has no enclave at the configured address", "the published enclave does not compile",
        "object storage has no enclave at the configured address", "published enclave in use",
        "the published copy is current", "published enclave in use",
    ]  # fmt: skip


class Bucket:
    """A server with one object that can only be read."""

    def __init__(self):
        self.body, self.status, self.silent, self.lies = NEWER, 200, False, None
        self.let_go = asyncio.Event()

    async def answer(self, request, _body):
        if self.silent:
            await self.let_go.wait()
        if self.status != 200:
            return web.Response(status=self.status, text="<Error><Code>X</Code></Error>")
        etag = f'"{hashlib.md5(self.body).hexdigest()}"'
        headers = {"ETag": etag, "Last-Modified": "Sat, 21 Nov 2026 07:00:00 GMT"}
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers=headers)
        response = web.StreamResponse(headers=headers)
        response.content_length = self.lies or len(self.body)
        await response.prepare(request)
        await response.write(self.body)
        if self.lies:
            await self.let_go.wait()
        return response


@pytest.fixture
async def bucket(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    async with upstream() as server:
        bucket = Bucket()
        server.answer, bucket.requests = bucket.answer, server.requests
        bucket.url = f"s3://releases/wasm?endpoint={server.url}&region=eu-test-1"
        yield bucket
        bucket.let_go.set()


@pytest.mark.parametrize("url", [
    "gs://releases/wasm?endpoint={}&public=true", "az://releases/wasm?endpoint={}&account=holdfast&public=true",
    "s3://releases/wasm?endpoint={}&region=eu-test-1",
])  # fmt: skip
async def test_every_cloud_is_read_and_asked_conditionally_and_a_refusal_keeps_the_last_good_copy(bucket, url, caplog):
    source = EnclaveSource(url.format(bucket.url.partition("endpoint=")[2].partition("&")[0]), BUNDLED)
    assert await source.refresh()
    assert source.current().body == NEWER
    assert not await source.refresh()
    assert [unquote(path) for _, path, _, _ in bucket.requests] == ["/releases/wasm/enclave.wasm"] * 2
    first, again = ({name.lower(): text for name, text in headers.items()} for _, _, headers, _ in bucket.requests)
    assert "if-none-match" not in first and again["if-none-match"] == f'"{hashlib.md5(NEWER).hexdigest()}"'
    if url.startswith("s3"):
        assert first["authorization"].startswith(f"AWS4-HMAC-SHA256 Credential={ACCESS}/")
        assert "/eu-test-1/s3/aws4_request" in first["authorization"]
    for status, replaced in ((403, False), (404, False), (200, True)):
        bucket.body, bucket.status = NEWEST, status
        assert await source.refresh() is replaced
    assert source.current().body == NEWEST and len(lines(caplog)) == 2, "one line for each reason"


async def test_an_object_that_ends_early_is_stated_too_large_or_never_comes_is_not_taken(bucket, caplog):
    for silent, more, fetch_s, said in (
        (False, 10, 0.5, "did not answer in time"), (False, MAX_BYTES + 1, 60, "larger than"),
        (True, 0, 0.5, "did not answer in time"),
    ):  # fmt: skip
        bucket.silent, bucket.lies = silent, len(NEWER) + more
        source = EnclaveSource(bucket.url, BUNDLED, fetch_s=fetch_s)
        refreshing = asyncio.create_task(source.refresh())
        await asyncio.sleep(0)
        assert source.current().body == BUNDLED and not refreshing.done(), "nothing waits for it"
        assert not await asyncio.wait_for(refreshing, PATIENCE_S)
        assert source.current().body == BUNDLED and said in lines(caplog)[-1]


async def test_interrupted_judgement_is_made_again(folder, monkeypatch):
    """A module must not be recorded as already checked if the fetch is cancelled while the module is being compiled."""
    (folder / "enclave.wasm").write_bytes(NEWER)
    source = of(folder)
    judging, judged = threading.Event(), threading.Event()

    def slowly(body):
        judging.set()
        judged.wait()
        return contract_of(body)

    monkeypatch.setattr("holdfast.service.enclave_source.source.contract_of", slowly)
    refreshing = asyncio.create_task(source.refresh())
    await asyncio.to_thread(judging.wait)
    refreshing.cancel()
    judged.set()
    with pytest.raises(asyncio.CancelledError):
        await refreshing
    monkeypatch.undo()
    assert await source.refresh()
    assert source.current().body == NEWER


async def test_without_an_address_the_bundled_copy_stays(caplog):
    source = EnclaveSource("", BUNDLED)
    assert not await source.refresh() and not source.current().published
    assert source.current().etag == f'"{hashlib.sha256(BUNDLED).hexdigest()[:32]}"' and not caplog.records


@pytest.mark.parametrize(("url", "folder", "name"), [
    ("s3://bucket/", "s3://bucket", "enclave.wasm"),
    ("s3://bucket/a/b/", "s3://bucket/a/b", "enclave.wasm"),
    ("gs://bucket/a/latest.wasm", "gs://bucket/a", "latest.wasm"),
    ("az://container/a?public=true", "az://container/a", "enclave.wasm"),
    ("file:///srv/enclave.wasm", "file:///srv", "enclave.wasm"),
])  # fmt: skip
def test_places(url, folder, name):
    address = parse_address(url)
    assert (address.folder, address.name) == (folder, name)


@pytest.mark.parametrize("url", [
    "https://bucket.example/x", "bucket/x", "s3:///x", f"s3://{ACCESS}:{SECRET}@bucket/x", "file://host/x",
    f"s3://bucket/x?secret={SECRET}", "s3://bucket/x?public=maybe", f"s3://bucket/x?endpoint=ftp://{SECRET}",
    "gs://bucket/x?region=y", "s3://bucket/x#y", "file:x", "gs://a b/x",
])  # fmt: skip
def test_refused_places_are_named_without_their_value(url):
    with pytest.raises(ValueError, match="HOLDFAST_ENCLAVE_URL") as caught:
        EnclaveSource(url, BUNDLED)
    assert SECRET not in str(caught.value)
