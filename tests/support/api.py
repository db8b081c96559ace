"""The whole service in this process, with a real database file, and with a clock and senders that the tests control."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest

from holdfast.service.bootstrap.applications import application_of
from holdfast.service.bootstrap.services import build_service
from holdfast.service.bootstrap.stores import database, open_store
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.mail.port import Notice
from holdfast.service.settings.secrets import Secrets
from holdfast.service.settings.values import read_settings
from holdfast.service.store.database import Database
from holdfast.service.store.sqlite.schema import connect, migrate
from holdfast.service.web.application import Application
from holdfast.service.web.asgi import AsgiEntry

DID = "did:new:0x" + "11" * 32
OTHER_DID = "did:new:0x" + "22" * 32
KEY = b"k" * 32
MAIL = "ann@example.com"
PHONE = "+14155552671"
ON_CITUS = "HOLDFAST_TEST_API_ON_CITUS" in os.environ
embedded = pytest.mark.skipif(ON_CITUS, reason="about the embedded store alone")


@dataclass
class Clock:
    """A clock that moves only when a test sets it, or that advances by `step` seconds each time it is read."""

    now: float = 1_800_000_000.0
    step: float = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@dataclass
class Recording:
    """A provider that fails if the test says so."""

    failure: BaseException | None = None

    async def check(self) -> str:
        return "recorded"

    async def close(self) -> None:
        return None


@dataclass
class RecordingMailer(Recording):
    sent: list[tuple[str, str, int]] = field(default_factory=list)
    notices: list[tuple[str, Notice]] = field(default_factory=list)
    asked: int = 0  # for notices, also those that failed

    async def send_notice(self, recipient: str, notice: Notice) -> None:
        self.asked += 1
        if self.failure:
            raise self.failure
        self.notices.append((recipient, notice))

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        if self.failure:
            raise self.failure
        self.sent.append((recipient, code, lifetime_s))


@dataclass
class RecordingSms(Recording):
    """An SmsVerifier that accepts one correct code."""

    code: str = "123456"
    same_code_s: float = 0.0
    sent: list[str] = field(default_factory=list)

    async def start(self, phone: str) -> None:
        if self.failure:
            raise self.failure
        self.sent.append(phone)

    async def check_code(self, phone: str, code: str) -> bool:
        if self.failure:
            raise self.failure
        return phone in self.sent and code == self.code


class Api:
    """Calls the service as a client would, from a new address for each request unless the test passes one."""

    def __init__(
        self, application: Application, clock: Clock, mailer: RecordingMailer, sms: RecordingSms, database: Database
    ) -> None:
        self.application = application
        self.service = application.service
        self.clock = clock
        self.mailer = mailer
        self.sms = sms
        self.rows = database.rows
        self._addresses = (f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}" for n in itertools.count(1))
        transport = httpx2.ASGITransport(cast("Any", AsgiEntry(application)), client=("127.0.0.1", 5000))
        self.http = httpx2.AsyncClient(transport=transport, base_url="http://holdfast.test")

    async def get(self, path: str, *, ip: str | None = None, headers: Any = None, **query: str) -> httpx2.Response:
        return await self.http.get(path, params=query or None, headers=self.headers(ip, headers))

    async def post(self, path: str, *, ip: str | None = None, headers: Any = None, **body: Any) -> httpx2.Response:
        return await self.http.post(path, json=body, headers=self.headers(ip, headers))

    async def session(self, handle: str = "ann", did: str = DID, **more: Any) -> httpx2.Response:
        return await self.post("/api/sessions", handle=handle, did=did, **more)

    async def attested(self, mail: str = MAIL) -> dict[str, str]:
        assert (await self.post("/api/verify/send", identifier=mail, channel="email")).status_code == 200
        code = self.mailer.sent[-1][1]
        answer = await self.post("/api/verify/check", identifier=mail, channel="email", code=code)
        attestation: dict[str, str] = answer.json()["attestation"]
        return attestation

    async def register(self, **fields: Any) -> httpx2.Response:
        body = {"credentialId": "cred-1", "identifier": "ann", "channel": "handle", "did": DID, "txHash": "0xabc"}
        return await self.post("/api/dids", **{**body, **fields})

    def headers(self, ip: str | None = None, more: dict[str, str] | None = None) -> dict[str, str]:
        return {"X-Forwarded-For": ip or next(self._addresses), **(more or {})}


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The content of an embedded database with the schema alone; creating the tables takes longer than most tests."""
    file = tmp_path_factory.mktemp("database") / "empty.db"
    with closing(connect(file)) as connection:
        migrate(connection)
    return file.read_bytes()


@pytest.fixture
async def make_api(
    tmp_path: Path, empty_database: bytes, request: pytest.FixtureRequest
) -> AsyncIterator[Callable[..., Api]]:
    """Return a function that builds services, with HOLDFAST_TEST_API_ON_CITUS on the cluster of HOLDFAST_TEST_CITUS_URL.

    The function's keyword arguments are settings (without their prefix), `secrets` and `environment`.
    """
    made: list[Api] = []
    on_citus: dict[str, str] = {}
    if ON_CITUS:
        request.getfixturevalue("patient_stores")
        on_citus["HOLDFAST_DATABASE_URL"] = request.getfixturevalue("citus_url")

    def make(*, secrets: Secrets | None = None, **settings: str) -> Api:
        environment = {"HOLDFAST_DATA_DIR": str(tmp_path), "HOLDFAST_RPC_URL": "http://127.0.0.1:9", **on_citus}
        for name, value in settings.items():
            known = name.upper() if name.isupper() else f"HOLDFAST_{name.upper()}"
            environment[known] = value
        clock, mailer, sms = Clock(), RecordingMailer(), RecordingSms()
        read = read_settings(environment)
        kept = tmp_path / "holdfast.db"
        if not kept.exists() and "HOLDFAST_DATABASE_URL" not in environment:
            kept.write_bytes(empty_database)
        store = open_store(read)
        keys = secrets or Secrets((KEY,), generated=False)
        service = build_service(read, keys, store, clock=clock, mailer=mailer, sms=sms)
        api = Api(application_of(read, service), clock, mailer, sms, database(read))
        made.append(api)
        return api

    yield make
    for api in made:
        await api.http.aclose()
        await api.application.stop()


@pytest.fixture
def api(make_api: Callable[..., Api]) -> Api:
    return make_api()


def error_of(response: httpx2.Response) -> tuple[int, str]:
    """Return the status and the error text, after asserting that the body has no other field."""
    body = response.json()
    assert set(body) == {"error"}
    return response.status_code, body["error"]


__all__ = ["DID", "KEY", "MAIL", "ON_CITUS", "OTHER_DID", "PHONE", "Api", "DeliveryError", "embedded", "error_of"]
