"""Rows that only PostgreSQL has go with what they are about."""

import pytest
from tests.support.store_cases import MAIL, NOW, claims, registration

from holdfast.rules.registration import Confirmation, Move


@pytest.mark.parametrize(("did", "move"), [("did:a:1", Move.CONTINUE), ("did:a:2", Move.DISPLACE)])
async def test_only_the_did_that_registers_a_refused_credential_anew_stays_tied_to_the_name(
    pg_store, postgres, postgres_url, did, move
):
    await pg_store.register(registration(identifier=MAIL, did="did:a:1"), claims)
    await pg_store.settle("cred", Confirmation.REFUSED, None, NOW)
    await pg_store.register(registration(identifier=MAIL, did=did), lambda _facts: move)
    rows = postgres.execute("SELECT did, channel, key FROM holdfast.did_identifiers", postgres_url.rpartition("/")[2])
    assert [tuple(row) for row in rows] == [(did, "email", MAIL.key)]
