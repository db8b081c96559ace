"""A carefully written server for comparison: four endpoints, on FastAPI, SQLAlchemy's async ORM and aiosqlite.

Input and output are Pydantic models, the database session is a dependency, and writes are durable before the response.
Registrations go through an engine with a single connection, because several writers of one SQLite file would only sleep
and retry.

This module does not postpone the evaluation of annotations, because FastAPI reads them at startup.
"""

import os
import re
import unicodedata
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from sqlalchemy import event, func, select
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

LIMIT_PER_IP = 3
MAX_DID = 512
REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")
DID = re.compile(r"did:[a-z0-9]+:(?:[A-Za-z0-9._:-]|%[0-9A-Fa-f]{2})*(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})")
IDENTIFIER = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]{1,320}")
DATABASE_URL = f"sqlite+aiosqlite:///{os.environ['DATABASE']}"
RESERVED = frozenset(
    name for line in Path(os.environ["RESERVED"]).read_text().splitlines() if (name := line.split("#")[0].strip())
)


class Base(DeclarativeBase):
    """The tables from `bench/peers/schema.sql`."""


class Session(Base):
    __tablename__ = "sessions"

    id: Mapped[int] = mapped_column(primary_key=True)
    channel: Mapped[str]
    identifier: Mapped[str]
    did: Mapped[str]
    ip: Mapped[str]
    created_at: Mapped[str]


class RegisteredDid(Base):
    __tablename__ = "registered_dids"

    id: Mapped[int] = mapped_column(primary_key=True)
    credential_id: Mapped[str]
    identifier: Mapped[str]
    channel: Mapped[str]
    did: Mapped[str]
    tx_hash: Mapped[str]
    block_number: Mapped[int]
    smart_account: Mapped[str]
    created_at: Mapped[str]


class Wire(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Contracts(Wire):
    chain_id: int = 84532
    entry_point: str = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"
    did_registry: str = "0x1111111111111111111111111111111111111111"
    account_helper: str = "0x2222222222222222222222222222222222222222"
    session_sbt: Annotated[str, Field(alias="sessionSBT")] = "0x3333333333333333333333333333333333333333"
    app_factory: str = "0x4444444444444444444444444444444444444444"


class Availability(BaseModel):
    available: bool
    reason: str | None
    message: str | None = None


class Found(Wire):
    found: Literal[True] = True
    identifier: str
    channel: str
    did: str
    tx_hash: str
    block_number: int
    smart_account: str
    created_at: str


class NotFound(BaseModel):
    found: Literal[False] = False


class NewSession(BaseModel):
    identifier: Annotated[str, Field(min_length=1)]
    channel: Literal["handle", "email", "sms"]
    did: Annotated[str, Field(min_length=1)]


class Registered(BaseModel):
    ok: Literal[True] = True
    identifier: str
    channel: str
    did: str


class Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        self.status = status
        self.message = message


def _connected(connection: object, _record: object) -> None:
    connection.isolation_level = None  # type: ignore[attr-defined] # transactions are begun by `_begin`
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _begin_immediate(connection: object) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")  # type: ignore[attr-defined]


def _engine(**options: int) -> AsyncEngine:
    engine = create_async_engine(DATABASE_URL, **options)
    event.listen(engine.sync_engine, "connect", _connected)
    return engine


reading = _engine()
writing = _engine(pool_size=1, max_overflow=0, pool_timeout=60)
event.listen(writing.sync_engine, "begin", _begin_immediate)
readers = async_sessionmaker(reading, expire_on_commit=False)
writers = async_sessionmaker(writing, expire_on_commit=False)


async def _reader() -> AsyncIterator[AsyncSession]:
    async with readers() as session:
        yield session


async def _writer() -> AsyncIterator[AsyncSession]:
    async with writers() as session:
        yield session


Reader = Annotated[AsyncSession, Depends(_reader)]
Writer = Annotated[AsyncSession, Depends(_writer)]


async def _headers(request: Request, response: Response) -> None:
    given = request.headers.get("x-request-id", "")
    response.headers["X-Request-Id"] = given if REQUEST_ID.fullmatch(given) else str(uuid.uuid4())
    response.headers["Cache-Control"] = "no-store"
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Access-Control-Expose-Headers"] = "X-Request-Id, Retry-After, ETag"
    response.headers["X-Content-Type-Options"] = "nosniff"


app = FastAPI(dependencies=[Depends(_headers)])


@app.exception_handler(Refused)
async def refused(_request: Request, refusal: Refused) -> JSONResponse:
    return JSONResponse({"error": refusal.message}, refusal.status)


@app.exception_handler(RequestValidationError)
async def invalid(_request: Request, _error: RequestValidationError) -> JSONResponse:
    return JSONResponse({"error": "Missing required fields: identifier, channel, did"}, 400)


@app.get("/healthz")
async def healthz() -> dict[str, bool]:
    return {"ok": True}


@app.get("/api/contracts")
async def contracts(response: Response) -> Contracts:
    response.headers["Cache-Control"] = "public, max-age=86400"
    return Contracts()


@app.get("/api/sessions/check", response_model_exclude_unset=True)
async def check(reader: Reader, identifier: str, channel: str = "handle") -> Availability:
    key = _key(identifier)
    if channel == "handle" and key in RESERVED:
        return Availability(available=False, reason="reserved", message="This name is reserved.")
    if await _taken(reader, channel, key):
        return Availability(available=False, reason="taken")
    return Availability(available=True, reason=None)


@app.get("/api/dids/lookup")
async def lookup(reader: Reader, credential_id: Annotated[str, Query(alias="credentialId")]) -> Found | NotFound:
    row = await reader.scalar(select(RegisteredDid).where(RegisteredDid.credential_id == credential_id))
    return _found(row) if row else NotFound()


@app.post("/api/sessions")
async def sessions(request: Request, writer: Writer, wish: NewSession) -> Registered:
    key = _key(wish.identifier)
    if len(wish.did) > MAX_DID or not DID.fullmatch(wish.did):
        raise Refused(400, "Invalid did")
    if wish.channel == "handle" and key in RESERVED:
        raise Refused(409, "identifier_reserved")
    async with writer.begin():
        await _register(writer, key, wish, request.client.host if request.client else "")
    return Registered(identifier=wish.identifier, channel=wish.channel, did=wish.did)


async def _register(writer: AsyncSession, key: str, wish: NewSession, ip: str) -> None:
    if await _taken(writer, wish.channel, key):
        raise Refused(409, "identifier_taken")
    made = await writer.scalar(select(func.count()).select_from(Session).where(Session.ip == ip))
    if (made or 0) >= LIMIT_PER_IP:
        raise Refused(429, "ip_limit_reached")
    now = datetime.now(UTC).isoformat()
    writer.add(Session(channel=wish.channel, identifier=key, did=wish.did, ip=ip, created_at=now))


async def _taken(session: AsyncSession, channel: str, key: str) -> bool:
    query = select(Session.id).where(Session.channel == channel, Session.identifier == key)
    return await session.scalar(query) is not None


def _found(row: RegisteredDid) -> Found:
    return Found(
        identifier=row.identifier,
        channel=row.channel,
        did=row.did,
        tx_hash=row.tx_hash,
        block_number=row.block_number,
        smart_account=row.smart_account,
        created_at=row.created_at,
    )


def _key(identifier: str) -> str:
    key = unicodedata.normalize("NFKC", identifier).strip().lower()
    if not IDENTIFIER.fullmatch(key):
        raise Refused(400, "Invalid identifier")
    return key
