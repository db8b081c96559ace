"""A vault that stores only one share of its key, and needs the application's share to sign."""

import hashlib
from contextlib import contextmanager

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from tests.support.vaults import GIVEN, SECRET, UNSIGNED

from holdfast.client import types
from holdfast.client.blocking.vault import Vault
from holdfast.client.types import payload_bytes
from holdfast.wire.client_errors import ClientStateError, PluginCallError

DIGEST = hashlib.sha256(b"message").digest()
OPERATION = types.UserOp.from_json(dict.fromkeys(types.UserOp.__struct_encode_fields__, None) | UNSIGNED)
ENTRY_POINT = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"


class Place:
    """The application's storage. `kept`: every share it was given, the newest last."""

    def __init__(self):
        self.kept, self.asked = [], 0

    def keep(self, shares):
        self.kept.append(payload_bytes(shares.val_share))

    def fetch(self):
        self.asked += 1
        return self.kept[-1]


@pytest.fixture
def place():
    return Place()


@pytest.fixture
def vault(store, place):
    with Vault(store, val_share=place.fetch) as made:
        yield made


@contextmanager
def opened(store, **options):
    with Vault(store, **options) as made:
        assert made.unlock(SECRET).success
        yield made


@pytest.fixture
def public(vault, place):
    found = vault.generate(GIVEN, SECRET, keep_share=place.keep)
    point = bytes([4]) + bytes.fromhex(found.pubkey_x) + bytes.fromhex(found.pubkey_y)
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)


def holds(public, signature, digest):
    der = utils.encode_dss_signature(int.from_bytes(signature[:32]), int.from_bytes(signature[32:]))
    public.verify(der, digest, ec.ECDSA(utils.Prehashed(hashes.SHA256())))
    return True


def test_everything_that_signs_fetches_the_second_share(vault, public, place):
    assert holds(public, vault.sign(DIGEST).signature, DIGEST)
    signed = vault.sign_user_op(OPERATION, ENTRY_POINT, 84532)
    assert holds(public, bytes.fromhex(signed.signature[2:]), bytes.fromhex(signed.user_op_hash[2:]))
    to = vault.did_key()
    delegated = vault.mint_delegation(types.DelegationOptions(to=to, command="/accounts/pay"))
    assert vault.verify_ucan(delegated.container).valid
    assert vault.mint_invocation(types.InvocationOptions(command="/accounts/pay")).cid
    assert place.asked == 4
    vault.query()
    vault.exec("resource:accounts action:list")
    assert place.asked == 4
    given = {"id": signed.enclave_id, "digest": list(DIGEST)}
    assert vault.exec("resource:enclaves action:sign", given).error == "missing_field: val_share"
    assert vault.exec("resource:enclaves action:sign", {**given, "val_share": list(place.kept[-1])}).success


def test_shares_are_refreshed_without_a_moment_in_which_the_key_is_lost(vault, public, place, store):
    with pytest.raises(ValueError, match="keep_share"):
        vault.refresh_shares()
    stored = []

    def keep(shares):
        stored.append(store.load().sealed)  # at this point the store still has the version that needs the old share
        place.keep(shares)

    before = store.load().sealed
    vault.refresh_shares(rotate=True, keep_share=keep)
    assert stored == [before]
    assert len(place.kept) == 2
    assert holds(public, vault.sign(DIGEST).signature, DIGEST)
    with pytest.raises(PluginCallError):
        vault.sign(DIGEST, val_share=place.kept[0])
    with opened(store, val_share=place.fetch) as again:
        assert holds(public, again.sign(DIGEST).signature, DIGEST)


def failing(_shares):
    raise OSError("the second place is full")


def test_a_second_place_that_fails_leaves_the_stored_vault_as_it_was(vault, public, place, store):
    before = store.load()
    with pytest.raises(OSError, match="full"):
        vault.refresh_shares(keep_share=failing)
    with pytest.raises(ClientStateError):  # the vault was discarded, because it needs a share that was not stored
        vault.status()
    assert store.load() == before
    with opened(store, val_share=place.fetch) as again:
        assert holds(public, again.sign(DIGEST).signature, DIGEST)


def test_a_vault_whose_second_share_has_no_place_is_not_made(store):
    with Vault(store) as vault, pytest.raises(OSError, match="full"):
        vault.generate(GIVEN, SECRET, keep_share=failing)
    assert store.dids() == []
