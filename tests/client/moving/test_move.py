"""Moving from one service to another: what a lying service, a dying one, and a program that stops can do."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from itertools import count

import pytest
from msgspec.structs import replace
from tests.client.moving.two_services import NEW, OLD, Stopped, Wire, two_services
from tests.support.software_authenticator import SoftwareAuthenticator

from holdfast.client import types
from holdfast.client.async_client import AsyncClient
from holdfast.client.http.calls import Retries
from holdfast.client.moving.target import address_of, host_of
from holdfast.client.moving.values import MoveRefused, note_move, noted_move
from holdfast.client.passkeys import Authenticator, PasskeyKey, Person
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.wire.client_errors import ServiceError

REMOVALS = ("old.localhost", "POST", "/api/person/removals")
MANUAL, ONCE = types.SnapshotConfig(automatic=False), Retries(attempts=1)


@pytest.fixture(scope="module")
def ports(tmp_path_factory):
    with two_services(tmp_path_factory.mktemp("services")) as running:
        yield running


@dataclass
class Ada:
    """Someone who is registered at the old service, with a vault on this machine."""

    wire: Wire
    vault: AsyncVault
    device: SoftwareAuthenticator
    did: str
    handle: str
    former: str

    def at(self, url: str) -> AsyncClient:
        return AsyncClient(url, vault=self.vault, snapshots=MANUAL, transport=self.wire, retries=ONCE)

    async def move(self, passkeys=None):
        async with self.at(OLD) as old:
            return await old.move(NEW, passkeys or Authenticator(NEW, self.device), owner=False)

    async def has_old(self) -> bool:
        async with self.at(OLD) as old:
            known, session = await old.lookup_did(self.former), await old.check_session(self.handle)
        return known is not None and known.did == self.did and not session.available

    async def has_new(self, credential_id: str) -> bool:
        async with self.at(NEW) as new:
            known = await new.lookup_did(credential_id)
        return known is not None and (known.did, known.identifier) == (self.did, self.handle)


@pytest.fixture
async def ada(ports, tmp_path):
    wire, device, handle = Wire(ports), SoftwareAuthenticator(), "m" + secrets.token_hex(6)
    with VaultStore(directory=tmp_path) as store:
        async with AsyncVault(store) as vault:
            key = Authenticator(OLD, device)
            made = key.create_passkey(Person.of(await vault.publishing_key(), handle))
            given = types.GenerateInput(credential=made.credential)
            did = (await vault.generate(given, PasskeyKey(key, made.credential_id))).did
            person = Ada(wire, vault, device, did, handle, made.credential_id)
            async with person.at(OLD) as old:
                await old.register(handle=handle)
                await old.publish_snapshot()
            yield person
    await wire.end()


async def test_name_vault_and_a_new_passkey_move(ada, tmp_path):
    told = []
    ada.wire.sent.clear()
    async with ada.at(OLD) as old:
        moved = await old.move(NEW, Authenticator(NEW, ada.device), owner=False, on_progress=told.append)
    first_removal = ada.wire.sent.index(REMOVALS)
    assert all(host == "old.localhost" for host, _, _ in ada.wire.sent[first_removal:])
    assert (moved.did, moved.identifier, moved.left_behind) == (ada.did, ada.handle, ())
    assert await ada.has_new(moved.credential_id) and not await ada.has_old()
    assert told[0] == "the new service is checked" and told[-1] == "the previous service has given up the name"
    (tmp_path / "new").mkdir()
    with VaultStore(directory=tmp_path / "new") as store:
        async with AsyncVault(store) as second:
            async with AsyncClient(NEW, vault=second, snapshots=MANUAL, transport=ada.wire) as client:
                found = await client.recover(passkey=Authenticator(NEW, ada.device))
            assert (found.did, found.root_cid) == (ada.did, moved.root_cid)


async def test_the_vault_goes_on_at_the_new_service(ada):
    await ada.move()
    done = await ada.vault.exec("resource:services action:create", {"id": "a", "type": "note", "endpoint": "https://x"})
    assert done.success
    async with ada.at(NEW) as new:
        assert (await new.publish_snapshot()).status == "pinned"
        with pytest.raises(MoveRefused) as refused:
            await new.move(NEW, Authenticator(NEW, ada.device))
    assert refused.value.code == "same_service"


async def test_whenever_the_program_stops_a_service_has_the_person_and_the_next_attempt_finishes(ada):
    """Stopped at each request in turn, so each attempt continues what the one before has left."""
    moved, removed = None, False
    for number in count():
        ada.wire.sent.clear()
        ada.wire.stop_at = number
        try:
            moved = await ada.move()
            break
        except Stopped:
            removed = removed or REMOVALS in ada.wire.sent
        ada.wire.stop_at = -1
        assert removed or await ada.has_old()
    ada.wire.stop_at = -1
    assert removed and moved is not None
    assert await ada.has_new(moved.credential_id) and not await ada.has_old()
    wraps = [wrap["id"] for wrap in (await ada.vault.keys()).wraps]
    assert wraps == [ada.former, moved.credential_id]  # one new passkey, however often it was interrupted


async def test_a_target_that_is_gone_does_not_bind_the_person(ada):
    ada.wire.hides = "/ipfs/"
    with pytest.raises(ServiceError):
        await ada.move()
    ada.wire.hides, store = "", ada.vault.store
    noted = noted_move(store, ada.did)
    assert noted is not None and noted.credential_id is not None
    note_move(store, ada.did, replace(noted, to="http://gone.localhost"))
    moved = await ada.move()
    assert moved.credential_id != noted.credential_id and await ada.has_new(moved.credential_id)
    assert [wrap["id"] for wrap in (await ada.vault.keys()).wraps] == [ada.former, moved.credential_id]


def _of(path, **changes):
    return lambda host, asked, said: {**said, **changes} if (host, asked) == ("new.localhost", path) else said


LIES = {
    "other_service": _of("/.well-known/did.json", id="did:web:elsewhere.example"),
    "other_chain": _of("/api/contracts", chainId=8453),
    "other_contracts": _of("/api/contracts", didRegistry="0x" + "11" * 20),
    "name_taken": _of("/api/sessions/check", available=False, reason="taken"),
}


@pytest.mark.parametrize("code", LIES)
async def test_a_service_that_does_not_fit_gets_nothing(ada, code):
    ada.wire.lie, before = LIES[code], len((await ada.vault.query()).credentials)
    ada.wire.sent.clear()
    with pytest.raises(MoveRefused) as refused:
        await ada.move()
    assert refused.value.code == code
    assert {method for host, method, _ in ada.wire.sent if host == "new.localhost"} == {"GET"}
    ada.wire.lie = None
    assert await ada.has_old() and len((await ada.vault.query()).credentials) == before


class _LiesLater:
    """Lies once the new service has got a request that begins with this path."""

    def __init__(self, wire, after, lie):
        self.wire, self.after, self.lie = wire, after, lie

    def __call__(self, host, path, said):
        begun = any(to == "new.localhost" and asked.startswith(self.after) for to, _, asked in self.wire.sent)
        return self.lie(host, path, said) if begun else said


@pytest.mark.parametrize(
    ("after", "lie"),
    [
        ("/api/dids", _of("/api/dids/lookup", did="did:new:0x" + "11" * 32)),
        ("/routing", _of("/api/dids/lookup", identifier="another")),
        ("/routing", _of("/api/sessions/check", available=True, reason=None)),
        ("/routing", _of("/api/dids/lookup", channel="email")),
    ],
    ids=["another DID", "another name", "the name is free", "another channel"],
)
async def test_a_service_that_lies_later_ends_the_move_before_the_old_one_loses_anything(ada, after, lie):
    ada.wire.lie = _LiesLater(ada.wire, after, lie)
    with pytest.raises(ServiceError):
        await ada.move()
    assert REMOVALS not in ada.wire.sent
    ada.wire.lie = None
    assert await ada.has_old()
    async with ada.at(OLD) as old:
        assert (await old.publish_snapshot()).status == "pinned"  # the old service's copies go on
    assert await ada.has_new((await ada.move()).credential_id)


async def test_a_copy_that_the_new_service_does_not_give_back_ends_the_move(ada):
    ada.wire.hides = "/ipfs/"
    with pytest.raises(ServiceError):
        await ada.move()
    ada.wire.hides = ""
    assert REMOVALS not in ada.wire.sent and await ada.has_old()


class _Elsewhere(Authenticator):
    """Signs for another host than the new service's, as a passkey that a look-alike made."""

    def assertion(self, challenge, credential_ids=(), *, rp_id=None):
        shown = Authenticator("http://other.localhost", self.device)
        other = shown.create_passkey(Person("ada"))
        return shown.assertion(challenge, (other.credential_id,))


async def test_a_passkey_that_has_not_signed_for_the_new_service_moves_nothing(ada):
    with pytest.raises(ServiceError):
        await ada.move(_Elsewhere(NEW, ada.device))
    assert REMOVALS not in ada.wire.sent and ("new.localhost", "POST", "/api/sessions") not in ada.wire.sent
    assert [wrap["id"] for wrap in (await ada.vault.keys()).wraps] == [ada.former]
    assert [it.credential_id for it in (await ada.vault.query()).credentials] == [ada.former]
    assert await ada.has_old()


async def test_a_name_of_someone_else_is_not_moved_to(ada, ports, tmp_path):
    async with ada.at(NEW) as new:
        await new.create_session(ada.handle, "handle", "did:new:0x" + "22" * 32)
    with pytest.raises(MoveRefused) as refused:
        await ada.move()
    assert refused.value.code == "name_taken" and await ada.has_old()


def test_an_address_is_one_origin_in_ascii():
    assert address_of("https://New.example/") == "https://new.example"
    assert host_of(address_of("https://new.example:8443")) == "new.example:8443"
    for wrong in (
        "new.example",
        "ftp://new.example",
        "https://",
        "https://new.example@evil.example",
        "https://new.example/path",
        "https://new.example?x",
        "https://n\u0435w.example",
    ):
        with pytest.raises(ValueError, match="address"):
            address_of(wrong)
