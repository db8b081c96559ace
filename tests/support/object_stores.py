"""Object storage servers as local processes: moto for S3, gcp-storage-emulator for Google Cloud, Azurite for Azure."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path

import httpx2
from tests.support.serving import becomes_true

from holdfast.world import node
from holdfast.world.processes import free_port

BUCKET = "snapshotsbucket"  # the Google Cloud emulator does not decode %2D
ROOT = Path(__file__).parents[2]
PEERS = ROOT / "tests" / "peers"
AZURITE = PEERS / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
# Azurite's published development account, which is the same in every installation.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@dataclass(frozen=True)
class ObjectStoreServer:
    """A server with an empty bucket, whose credentials are in `environment`."""

    bucket_url: str
    options: str
    environment: dict[str, str] = field(default_factory=dict)

    def url(self, folder: str) -> str:
        return f"{self.bucket_url}/{folder}?{self.options}"


@contextlib.contextmanager
def s3() -> Iterator[ObjectStoreServer]:
    port = free_port()
    with _process([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]):
        url = f"http://127.0.0.1:{port}"
        _made(lambda: httpx2.put(f"{url}/{BUCKET}").status_code == 200)
        keys = {"AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": "secret"}
        yield ObjectStoreServer(f"s3://{BUCKET}", f"endpoint={url}&region=us-east-1", keys)


@contextlib.contextmanager
def google_cloud(folder: Path) -> Iterator[ObjectStoreServer]:
    """Run gcp-storage-emulator with tests/support/google_cloud_server.py; write the account's key file to `folder`."""
    port = free_port()
    account = {"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
    (folder / "account.json").write_text(json.dumps(account))
    with _process([sys.executable, "-m", "tests.support.google_cloud_server", str(port), BUCKET]):
        url = f"http://127.0.0.1:{port}"
        _made(lambda: httpx2.get(f"{url}/storage/v1/b/{BUCKET}").status_code == 200)
        environment = {"GOOGLE_SERVICE_ACCOUNT": str(folder / "account.json")}
        yield ObjectStoreServer(f"gs://{BUCKET}", f"endpoint={url}", environment)


@contextlib.contextmanager
def azure() -> Iterator[ObjectStoreServer]:
    port = free_port()
    program = [str((node.folder() or Path("/usr")) / "bin" / "node"), str(AZURITE), "--blobPort", str(port)]
    more = ["--blobHost", "127.0.0.1", "--inMemoryPersistence", "--silent", "--skipApiVersionCheck"]
    with _process([*program, *more, "--disableTelemetry"]):
        url = f"http://127.0.0.1:{port}/{ACCOUNT}"
        _made(lambda: _container(url).status_code in {201, 409})
        environment = {"AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT, "AZURE_STORAGE_ACCOUNT_KEY": ACCOUNT_KEY}
        yield ObjectStoreServer(f"az://{BUCKET}", f"endpoint={url}", environment)


def _container(url: str) -> httpx2.Response:
    """Create the container with a request signed by the account's key (Azure Storage: Shared Key)."""
    date, version = formatdate(usegmt=True), "2021-12-02"
    parts = ["PUT", *[""] * 11, f"x-ms-date:{date}", f"x-ms-version:{version}"]
    text = "\n".join([*parts, f"/{ACCOUNT}/{ACCOUNT}/{BUCKET}", "restype:container"])
    signed = hmac.new(base64.b64decode(ACCOUNT_KEY), text.encode(), hashlib.sha256).digest()
    authorization = f"SharedKey {ACCOUNT}:{base64.b64encode(signed).decode()}"
    headers = {"x-ms-date": date, "x-ms-version": version, "Authorization": authorization}
    return httpx2.put(f"{url}/{BUCKET}?restype=container", headers=headers)


@contextlib.contextmanager
def _process(command: list[str]) -> Iterator[None]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, cwd=ROOT, **silent) as process:  # type: ignore[call-overload]
        try:
            yield
        finally:
            process.kill()


def _made(attempt: Callable[[], bool]) -> None:
    """Wait until the server is up and has created the bucket."""

    def holds() -> bool:
        try:
            return attempt()
        except httpx2.HTTPError:
            return False

    assert becomes_true(holds), "the object store did not start"
