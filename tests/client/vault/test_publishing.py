"""The publishing key in the client: before the vault exists, in a passkey's user handle, in records and in tokens."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.support.vaults import GIVEN, SECRET

from holdfast.client import types
from holdfast.client.blocking.vault import Vault
from holdfast.client.vault.calls import instant_ns
from holdfast.client.vault.keeping import revision_of
from holdfast.wire.client_errors import PluginCallError

SNAPSHOT = "bafyreic7dsdhfxj6dvvtewz7jyvjztihnt776tbmhpocaq6fh4sheyzfrq"
FAR = datetime(2090, 1, 1, tzinfo=UTC)
SERVICE = "did:web:keep.example"
MINUTE_NS = 60 * 10**9


@pytest.fixture
def vault(store):
    with Vault(store) as made:
        yield made


def stored_revision(store):
    return revision_of(store.load().sealed)


def test_a_key_made_later_is_stored_before_it_is_told(vault, store):
    vault.generate(GIVEN, SECRET)
    first = vault.publishing_key()
    assert stored_revision(store) == 2
    vault.lock()
    vault.unlock(SECRET)
    assert vault.publishing_key() == first


def test_publishing_stores_nothing_and_a_delegation_or_recorded_invocation_does(vault, store):
    did = vault.publishing_key().did
    vault.generate(GIVEN, SECRET)
    assert vault.publish(SNAPSHOT, 7, FAR, MINUTE_NS).name == vault.publishing_key().name
    write = types.InvocationOptions(command="/snapshots/write")
    assert vault.mint_invocation(write, audience=SERVICE, record=False).container
    assert stored_revision(store) == 1
    first = vault.publishing_delegation()
    assert vault.publishing_delegation() == first
    assert stored_revision(store) == 2
    assert vault.verify_ucan(first.container, audience=did, command="/snapshots/publish").kind == "delegation"
    vault.mint_invocation(write, audience=SERVICE)
    assert stored_revision(store) == 3


def test_a_validity_needs_a_time_zone(vault):
    vault.generate(GIVEN, SECRET)
    with pytest.raises(ValueError, match="time zone"):
        vault.publish(SNAPSHOT, 7, datetime(2090, 1, 1), MINUTE_NS)  # noqa: DTZ001 - the point of the test
    with pytest.raises(PluginCallError, match="validity"):
        vault.publish(SNAPSHOT, 7, datetime(2020, 1, 1, tzinfo=UTC), MINUTE_NS)


def test_an_instant_in_utc_with_nanoseconds():
    elsewhere = datetime(2090, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert instant_ns(FAR) == instant_ns(elsewhere) == "2090-01-01T00:00:00.000000000Z"
    assert instant_ns(FAR.replace(microsecond=123456)) == "2090-01-01T00:00:00.123456000Z"
