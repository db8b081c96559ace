"""What one device notes about a payment is known to the vault's other devices; nobody else can read or add a note."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import asynccontextmanager
from unittest.mock import AsyncMock

import msgspec
import pytest
from tests.client.snapshots.devices import SECRET, Device
from tests.client.snapshots.place_double import PlaceDouble
from tests.support.running_service import running_service
from tests.support.software_authenticator import SoftwareAuthenticator
from tests.support.vector_files import VECTORS

from holdfast.client.flows.operations import SmartAccount
from holdfast.client.passkeys import Authenticator
from holdfast.client.snapshots.payment_notes import DIGEST, PaymentNote, merged, notes_key, sealed, unsealed
from holdfast.client.snapshots.shared_notes import NotedPayments
from holdfast.client.types import SnapshotConfig
from holdfast.client.types.service import ForeignContracts
from holdfast.wire.client_errors import NetworkError, ServiceError

VECTOR = msgspec.json.decode((VECTORS / "payments" / "notes.json").read_bytes())
KEY = notes_key(bytes.fromhex(VECTOR["signature"]))


def note(number: int, state: str = "confirmed", **more: str) -> PaymentNote:
    time = f"2026-01-02T03:04:{number:02d}.000Z"
    given = {"to": f"person-{number}", "amount": "5", "symbol": "USDC", "time": time, "state": state, **more}
    return PaymentNote(hash=f"0x{number:064x}", **given)


# -- the format ------------------------------------------------------------------------------------------------------


def test_notes_are_sealed_as_in_the_vector() -> None:
    notes = [msgspec.convert(row, PaymentNote) for row in VECTOR["payments"]]
    assert sealed(KEY, VECTOR["did"], notes).hex() == VECTOR["sealed"]
    assert unsealed(KEY, VECTOR["did"], bytes.fromhex(VECTOR["sealed"])) == notes


@pytest.mark.parametrize("at", [0, 1, 12, 13, 40, -1])
def test_changed_bytes_are_no_notes(at: int) -> None:
    data = bytearray.fromhex(VECTOR["sealed"])
    data[at] ^= 1
    assert unsealed(KEY, VECTOR["did"], bytes(data)) is None


def test_notes_of_another_vault_and_other_bytes_are_no_notes() -> None:
    data = bytes.fromhex(VECTOR["sealed"])
    assert unsealed(KEY, VECTOR["did"] + "0", data) is None
    assert unsealed(notes_key(b"\x01" * 64), VECTOR["did"], data) is None
    assert [unsealed(KEY, VECTOR["did"], data[:length]) for length in (0, 1, 13, 28)] == [None] * 4


@pytest.mark.parametrize("case", VECTOR["merges"], ids=lambda case: case["what"])
def test_notes_are_merged_as_in_the_vectors(case: dict) -> None:
    ours, theirs, expected = ([note(**row) for row in case[name]] for name in ("ours", "theirs", "merged"))
    assert merged(ours, theirs) == expected


def test_the_newest_thousand_are_kept() -> None:
    many = [msgspec.structs.replace(note(1), hash=f"0x{n:064x}", time=f"2026-01-01T00:{n:05d}") for n in range(1100)]
    assert merged(many[:600], many[600:]) == many[100:]


async def test_a_vaults_key_is_the_same_each_time_and_after_its_shares_change(tmp_path) -> None:
    async with Device(tmp_path) as device:
        await device.made()
        first = (await device.vault.sign(DIGEST, deterministic=True)).signature
        assert (await device.vault.sign(DIGEST, deterministic=True)).signature == first
        await device.vault.refresh_shares()
        assert (await device.vault.sign(DIGEST, deterministic=True)).signature == first


# -- devices that share a place --------------------------------------------------------------------------------------


@pytest.fixture
def place():
    return PlaceDouble(steps=("pinned",))


@asynccontextmanager
async def two_devices(folder, place):
    """Two devices with the same vault; the first has published it."""
    async with Device(folder / "a", place) as a, Device(folder / "b", place) as b:
        await a.made()
        await a.client.publish_snapshot()
        await b.client.recover(key=SECRET, name=await a.name())
        yield a, b


def paid(device: Device, *notes: PaymentNote) -> None:
    NotedPayments(device.store, device.store.dids()[0]).add(notes)


def pins_of_notes(place: PlaceDouble) -> list[dict]:
    return [pin for pin in place.pins.values() if pin["pin"]["name"] == "payments"]


async def test_two_devices_pay_and_each_knows_both_purposes(tmp_path, place) -> None:
    async with two_devices(tmp_path, place) as (a, b):
        paid(a, note(1, label="bread"))
        paid(b, note(2, label="coffee", shop="shop.example"))
        both = [note(1, label="bread"), note(2, label="coffee", shop="shop.example")]
        assert await a.client.payments() == both[:1]
        assert await b.client.payments() == both
        assert await a.client.payments() == both
        assert len(pins_of_notes(place)) == 1
        assert not [state for state in (*a.states, *b.states) if state == "conflict"]
        assert (await a.client.publish_snapshot()).sequence == 1  # no other version of the vault


@pytest.mark.parametrize("error", [NetworkError("no answer"), ForeignContracts("another factory")])
async def test_an_open_payment_is_listed_although_its_outcome_is_unknown(tmp_path, place, monkeypatch, error) -> None:
    monkeypatch.setattr(SmartAccount, "open", AsyncMock(side_effect=error))
    async with two_devices(tmp_path, place) as (a, _):
        paid(a, note(1, state="sent"))
        assert await a.client.payments() == [note(1, state="sent")]


async def test_an_exchange_that_changes_nothing_uploads_nothing(tmp_path, place) -> None:
    async with two_devices(tmp_path, place) as (a, b):
        paid(a, note(1))
        await a.client.payments()
        await b.client.payments()
        before = len(place.requests)
        await a.client.payments()
        assert {method for method, _ in place.requests[before:]} == {"GET"}


async def test_devices_that_exchange_at_the_same_time_lose_nothing(tmp_path, place) -> None:
    async with two_devices(tmp_path, place) as (a, b):
        for number in range(1, 9):
            paid(a if number % 2 else b, note(number))
            await asyncio.gather(a.client.payments(), b.client.payments())
        every = [note(number) for number in range(1, 9)]
        assert await a.client.payments() == every
        assert await b.client.payments() == every


@pytest.mark.parametrize(
    "lost",
    ["POST /api/v0/dag/import", "POST /pins", "DELETE /pins", "GET /pins", "the request"],
)
async def test_a_lost_request_or_answer_loses_no_note(tmp_path, place, lost: str) -> None:
    async with two_devices(tmp_path, place) as (a, b):
        paid(a, note(1, label="bread"))
        await a.client.payments()
        paid(b, note(2, label="coffee"))
        if lost == "the request":
            place.lost_requests = 1
        else:
            place.lost_answers_to.add(lost)
        with pytest.raises(ServiceError):
            await b.client.payments()
        both = [note(1, label="bread"), note(2, label="coffee")]
        assert await b.client.payments() == both
        assert await a.client.payments() == both


async def test_what_cannot_be_read_is_left_alone(tmp_path, place) -> None:
    async with two_devices(tmp_path, place) as (a, b):
        paid(a, note(1, label="bread"))
        await a.client.payments()
        paid(b, note(2))
        place.lost_answers_to.add("GET /ipfs")
        assert await b.client.payments() == [note(2)]
        assert len(pins_of_notes(place)) == 2
        assert await b.client.payments() == [note(1, label="bread"), note(2)]


async def test_a_device_that_knows_the_outcome_tells_it(tmp_path, place) -> None:
    async with two_devices(tmp_path, place) as (a, b):
        paid(a, note(1, "sent"))
        await a.client.payments()
        await b.client.payments()
        paid(a, note(1))
        await a.client.payments()
        assert await b.client.payments() == [note(1)]


async def test_a_lying_place_shows_nothing_wrong(tmp_path, place) -> None:
    async with two_devices(tmp_path, place) as (a, b), Device(tmp_path / "m", place) as stranger:
        await stranger.made()
        paid(stranger, note(3, label="forged"))
        await stranger.client.payments()
        foreign = {"m": next(iter(pins_of_notes(place)))}
        paid(a, note(1, label="bread"))
        vaults = {name: pin for name, pin in place.pins.items() if pin["pin"]["name"] == "vault"}
        await a.client.payments()
        # The place lists the stranger's notes and the vault itself among the notes, and keeps what was unpinned.
        place.pins |= foreign
        assert await b.client.payments() == [note(1, label="bread")]
        assert vaults.items() <= place.pins.items()
        assert "m" in place.pins
        place.lie = True
        paid(b, note(2))
        assert await b.client.payments() == [note(1, label="bread"), note(2)]


async def test_a_replayed_older_set_takes_nothing_away(tmp_path, place) -> None:
    async with two_devices(tmp_path, place) as (a, b):
        paid(a, note(1, "sent"))
        await a.client.payments()
        older = dict(place.pins)
        paid(a, note(1), note(2))
        await a.client.payments()
        assert await b.client.payments() == [note(1), note(2)]
        place.pins = older
        assert await b.client.payments() == [note(1), note(2)]


# -- the real service ------------------------------------------------------------------------------------------------


async def test_the_service_keeps_the_notes_beside_the_vault(tmp_path) -> None:
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service") as service:
        port = service.base_url.rpartition(":")[2]
        config = SnapshotConfig(automatic=False, service_did=f"did:web:localhost%3A{port}")
        passkeys = Authenticator(service.base_url.replace("127.0.0.1", "localhost"), SoftwareAuthenticator())
        async with (
            Device(tmp_path / "a", config=config, url=service.base_url) as a,
            Device(tmp_path / "b", config=config, url=service.base_url) as b,
        ):
            await a.made(passkeys)
            await a.client.register(handle="n" + secrets.token_hex(6))
            await a.client.publish_snapshot()
            await b.client.recover(passkey=passkeys)
            paid(a, note(1, label="bread"))
            paid(b, note(2, label="coffee"))
            await a.client.payments()
            both = [note(1, label="bread"), note(2, label="coffee")]
            assert await b.client.payments() == both
            assert await a.client.payments() == both
            await a.change()
            assert (await a.client.publish_snapshot()).status == "pinned"
            assert await b.client.payments() == both
