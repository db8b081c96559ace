"""What one device notes about a payment is known to the vault's other devices; nobody else can read or add a note."""

import asyncio
from contextlib import asynccontextmanager
from unittest.mock import AsyncMock

import msgspec
import pytest
from tests.client.snapshots.devices import SECRET, Device, note, paid
from tests.support.vector_files import vectors

from holdfast.client.flows.operations import SmartAccount
from holdfast.client.snapshots.payment_notes import PaymentNote, merged, notes_key, read_notes, sealed, unsealed
from holdfast.client.storage.gateway import AsyncGateway
from holdfast.client.types.service import ForeignContracts
from holdfast.wire.client_errors import NetworkError, ServiceError

VECTOR = vectors("payments/notes")
KEY = notes_key(bytes.fromhex(VECTOR["signature"]))


def test_notes_are_sealed_as_in_the_vector_and_changed_bytes_or_those_of_another_vault_are_no_notes(monkeypatch):
    did, data = VECTOR["did"], bytes.fromhex(VECTOR["sealed"])
    notes = [msgspec.convert(row, PaymentNote) for row in VECTOR["payments"]]
    assert (sealed(KEY, did, notes), unsealed(KEY, did, data)) == (data, notes)
    changed = [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in (0, 1, 12, 13, 40, len(data) - 1)]
    shorter = [data[:length] for length in (0, 1, 13, 28)]
    assert [unsealed(KEY, did, it) for it in (*changed, *shorter)] == [None] * 10
    assert unsealed(KEY, did + "0", data) is unsealed(notes_key(b"\x01" * 64), did, data) is None
    monkeypatch.setattr(msgspec.json, "encode", lambda _form: b'{"payments": {"later": "form"}}')
    assert unsealed(KEY, did, sealed(KEY, did, [])) is None, "notes in another form are left alone"
    monkeypatch.setattr(msgspec.json, "encode", lambda _form: b'{"payments": ' + b"[" * 5000 + b"]" * 5000 + b"}")
    assert unsealed(KEY, did, sealed(KEY, did, [])) is None, "so are lists that are nested too deeply"


@pytest.mark.parametrize("case", VECTOR["merges"], ids=lambda case: case["what"])
def test_notes_are_merged_as_in_the_vectors(case):
    ours, theirs, expected = ([note(**row) for row in case[name]] for name in ("ours", "theirs", "merged"))
    assert merged(ours, theirs) == expected


@pytest.mark.parametrize("case", VECTOR["left_out"], ids=lambda case: case["what"])
def test_rows_in_another_form_than_notes_are_left_out(case):
    good = VECTOR["payments"][0]
    row = good | case["change"] if "change" in case else case["row"]
    assert read_notes([row, good]) == [msgspec.convert(good, PaymentNote)]


def test_the_newest_thousand_are_kept():
    many = [msgspec.structs.replace(note(1), hash=f"0x{n:064x}", time=f"2026-01-01T00:{n:05d}") for n in range(1100)]
    assert merged(many[:600], many[600:]) == many[100:]


@asynccontextmanager
async def two_devices(folder, host):
    async with Device(folder / "a", host) as a, Device(folder / "b", host) as b:
        await a.made()
        await a.client.publish_snapshot()
        await b.client.recover(key=SECRET, name=await a.name())
        yield a, b


def pins_of_notes(host):
    return [pin for pin in host.pins.values() if pin["pin"]["name"] == "payments"]


async def test_two_devices_pay_and_each_knows_both_purposes(tmp_path, host):
    async with two_devices(tmp_path, host) as (a, b):
        paid(a, note(1, label="bread"))
        paid(b, note(2, label="coffee", shop="shop.example"))
        both = [note(1, label="bread"), note(2, label="coffee", shop="shop.example")]
        assert await a.client.payments() == both[:1]
        assert await b.client.payments() == both
        assert await a.client.payments() == both
        assert len(pins_of_notes(host)) == 1
        before = len(host.requests)
        await a.client.payments()
        assert {method for method, _ in host.requests[before:]} == {"GET"}, "nothing changed, so nothing goes up"
        assert not [state for state in (*a.states, *b.states) if state == "conflict"]
        assert (await a.client.publish_snapshot()).sequence == 1  # no other version of the vault


@pytest.mark.parametrize("error", [NetworkError("no answer"), ForeignContracts("another factory")])
async def test_an_open_payment_is_listed_although_its_outcome_is_unknown(tmp_path, host, monkeypatch, error):
    monkeypatch.setattr(SmartAccount, "open", AsyncMock(side_effect=error))
    async with two_devices(tmp_path, host) as (a, _):
        paid(a, note(1, state="sent"))
        assert await a.client.payments() == [note(1, state="sent")]


async def test_devices_that_exchange_at_the_same_time_lose_nothing(tmp_path, host):
    async with two_devices(tmp_path, host) as (a, b):
        for number in range(1, 4):
            paid(a if number % 2 else b, note(number))
            await asyncio.gather(a.client.payments(), b.client.payments())
        every = [note(number) for number in range(1, 4)]
        assert await a.client.payments() == every
        assert await b.client.payments() == every


@pytest.mark.parametrize(
    "lost", ["POST /api/v0/dag/import", "POST /pins", "DELETE /pins", "GET /pins", "GET /ipfs", "the request"]
)
async def test_a_lost_request_or_answer_loses_no_note(tmp_path, host, lost):
    async with two_devices(tmp_path, host) as (a, b):
        paid(a, note(1, label="bread"))
        await a.client.payments()
        paid(b, note(2, label="coffee"))
        if lost == "the request":
            host.lost_requests = 1
        else:
            host.lost_answers_to.add(lost)
        if lost == "GET /ipfs":  # what cannot be read is left alone
            assert await b.client.payments() == [note(2, label="coffee")]
            assert len(pins_of_notes(host)) == 2
        else:
            with pytest.raises(ServiceError):
                await b.client.payments()
        both = [note(1, label="bread"), note(2, label="coffee")]
        assert await b.client.payments() == both
        assert await a.client.payments() == both


async def test_a_gateway_that_hangs_makes_an_exchange_wait_once_for_all_notes(tmp_path, host, monkeypatch):
    async with two_devices(tmp_path, host) as (a, b):
        for device, number in ((a, 1), (b, 2)):  # neither reads the other's, so two pins remain
            paid(device, note(number))
            host.lost_answers_to.add("GET /ipfs")
            await device.client.payments()
        assert len(pins_of_notes(host)) == 2
        asked = []

        async def hung(_gateway, cid):
            asked.append(cid)
            while len(asked) < 2:
                await asyncio.sleep(0)
            raise NetworkError("no answer in time")

        monkeypatch.setattr(AsyncGateway, "snapshot", hung)
        assert await asyncio.wait_for(a.client.payments(), 60) == [note(1)]


async def test_a_lying_host_shows_nothing_wrong(tmp_path, host):
    async with two_devices(tmp_path, host) as (a, b), Device(tmp_path / "m", host) as stranger:
        await stranger.made()
        paid(stranger, note(3, label="forged"))
        await stranger.client.payments()
        foreign = {"m": next(iter(pins_of_notes(host)))}
        paid(a, note(1, label="bread"))
        vaults = {name: pin for name, pin in host.pins.items() if pin["pin"]["name"] == "vault"}
        await a.client.payments()
        # The host lists the stranger's notes and the vault itself among the notes, and keeps what was unpinned.
        host.pins |= foreign
        host.requests.clear()
        assert await b.client.payments() == [note(1, label="bread")]
        read, others = {path for _, path in host.requests}, (*foreign.values(), *vaults.values())
        assert read.isdisjoint(f"/ipfs/{it['pin']['cid']}" for it in others), "what is named otherwise is not read"
        assert vaults.items() <= host.pins.items()
        assert "m" in host.pins
        host.lie = True
        paid(b, note(2))
        assert await b.client.payments() == [note(1, label="bread"), note(2)]
