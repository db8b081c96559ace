"""Moving between two real services; vectors/flows/move.json says what a lying service or a killed program can do."""

import secrets
from types import SimpleNamespace

import httpx2
import pytest
from tests.support.running_service import running_service
from tests.support.software_authenticator import SoftwareAuthenticator

from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.chain.account_reads import Owner
from holdfast.client import types
from holdfast.client.async_client import AsyncClient
from holdfast.client.http.calls import Retries
from holdfast.client.moving.owner import OwnerChange, Passkeys
from holdfast.client.moving.target import address_of, host_of
from holdfast.client.moving.values import MoveRefused
from holdfast.client.passkeys import Authenticator, PasskeyKey, Person
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.wire.client_errors import ServiceError

OLD, NEW = "http://old.localhost", "http://new.localhost"
REMOVALS = ("old.localhost", "POST", "/api/person/removals")


class Wire(httpx2.AsyncBaseTransport):
    """Sends requests to the services by their hosts.

    Attributes:
        sent: the requests so far: host, method and path.
        hides: the new service has nothing below /ipfs/, whatever it has acknowledged.
    """

    def __init__(self, ports):
        self._ports, self._inner, self.sent, self.hides = ports, httpx2.AsyncHTTPTransport(), [], False

    async def handle_async_request(self, request):
        host, method, path = request.url.host, request.method, request.url.path
        self.sent.append((host, method, path))
        if self.hides and (host, method, path[:6]) == ("new.localhost", "GET", "/ipfs/"):
            return httpx2.Response(404)
        there = request.url.copy_with(host="127.0.0.1", port=self._ports[host])
        content = await request.aread()
        return await self._inner.handle_async_request(
            httpx2.Request(method, there, headers=request.headers, content=content)
        )

    async def aclose(self):
        """Stay open for the next client."""


@pytest.fixture(scope="module")
def ports(tmp_path_factory):
    folders = tmp_path_factory.mktemp("old"), tmp_path_factory.mktemp("new")
    with (
        running_service(folders[0], HOLDFAST_PUBLIC_URL=OLD) as old,
        running_service(folders[1], HOLDFAST_PUBLIC_URL=NEW) as new,
    ):
        yield {url[7:]: int(it.base_url.rpartition(":")[2]) for url, it in ((OLD, old), (NEW, new))}


@pytest.fixture
async def wire(ports):
    made = Wire(ports)
    yield made
    await made._inner.aclose()


def at(url, vault, wire):
    manual = types.SnapshotConfig(automatic=False)
    return AsyncClient(url, vault=vault, snapshots=manual, transport=wire, retries=Retries(attempts=1))


async def test_name_vault_and_a_new_passkey_move_and_go_on_at_the_new_service(wire, store, tmp_path):
    device, handle, told = SoftwareAuthenticator(), "m" + secrets.token_hex(6), []
    key, new_passkeys = (Authenticator(url, device) for url in (OLD, NEW))
    async with AsyncVault(store) as vault, at(OLD, vault, wire) as old, at(NEW, vault, wire) as new:
        former = key.create_passkey(Person.of(await vault.publishing_key(), handle))
        given = types.GenerateInput(credential=former.credential)
        did = (await vault.generate(given, PasskeyKey(key, former.credential_id))).did
        await old.register(handle=handle)
        await old.publish_snapshot()
        wire.hides = True
        with pytest.raises(ServiceError):
            await old.move(NEW, new_passkeys, owner=False)
        assert REMOVALS not in wire.sent, "a copy that the new service does not give back ends the move"
        assert (await old.lookup_did(former.credential_id)).did == did
        wire.hides = False
        wire.sent.clear()
        moved = await old.move(NEW, new_passkeys, owner=False, on_progress=told.append)
        assert all(host == "old.localhost" for host, _, _ in wire.sent[wire.sent.index(REMOVALS) :])
        assert (moved.did, moved.identifier, moved.left_behind) == (did, handle, ())
        assert told[0] == "the new service is checked" and told[-1] == "the previous service has given up the name"
        known = await new.lookup_did(moved.credential_id)
        assert (known.did, known.identifier, await old.lookup_did(former.credential_id)) == (did, handle, None)
        assert (await old.check_session(handle)).available
        with VaultStore(directory=tmp_path / "new") as other:
            async with AsyncVault(other) as second, at(NEW, second, wire) as client:
                found = await client.recover(passkey=new_passkeys)
        assert (found.did, found.root_cid) == (did, moved.root_cid)
        row = {"id": "a", "type": "note", "endpoint": "https://x"}
        assert (await vault.exec("resource:services action:create", row)).success
        assert (await new.publish_snapshot()).status == "pinned"
        with pytest.raises(MoveRefused) as refused:
            await new.move(NEW, new_passkeys)
        assert refused.value.code == "same_service"


@pytest.mark.parametrize(
    "wrong",
    [
        "new.example", "ftp://new.example", "https://", "https://new.example@evil.example", "https://new.example/path",
        "https://new.example?x", "https://n\u0435w.example",
    ],
)  # fmt: skip
def test_an_address_is_one_origin_in_ascii(wrong):
    assert address_of("https://New.example/") == "https://new.example"
    assert host_of(address_of("https://new.example:8443")) == "new.example:8443"
    with pytest.raises(ValueError, match="address"):
        address_of(wrong)


NEW_KEY, FORMER_KEY = b"\x0a" * 64, b"\x0b" * 64


class Account:
    """An account of both services whose owners have expired until a change adds one."""

    def __init__(self):
        self.changes = []

    async def knows_chain(self):
        return True

    async def chains(self):
        return SimpleNamespace(chains=[])

    async def account_view(self):
        expiry = 0 if self.changes else 1
        return SimpleNamespace(
            owners=[Owner(NEW_KEY, expiry, is_primary=False), Owner(FORMER_KEY, 1, is_primary=False)]
        )

    async def sign_account_changes(self, changes):
        self.changes += changes

    async def bring_account_changes(self, signed):
        assert signed


async def test_a_new_passkey_that_was_an_owner_until_a_time_that_is_over_becomes_one_again():
    account = Account()
    made = await OwnerChange(account, account, lambda: True).make(Passkeys(NEW_KEY, FORMER_KEY, ()))
    assert (made.is_owner, made.former_is_owner) == (True, False)
    assert account.changes == [Change(ChangeKind.ADD_OWNER, NEW_KEY)]
