"""Registers a handle with the client that openapi-python-client has generated from /openapi.json, in the package `made`."""

import sys

from made import Client  # type: ignore[import-not-found]  # made by the test
from made.api.registration import create_session, lookup_did, register_did
from made.models import CreateSessionBody, CreateSessionResponse409Error, RegisterDidBody, SessionCreated

address, name, did, other = sys.argv[1:]
with Client(base_url=address) as client:
    opened = create_session.sync(client=client, body=CreateSessionBody(identifier=name, channel="handle", did=did))
    assert isinstance(opened, SessionCreated), opened
    refused = create_session.sync(client=client, body=CreateSessionBody(identifier=name, channel="handle", did=other))
    assert refused.error is CreateSessionResponse409Error.IDENTIFIER_TAKEN, refused
    body = RegisterDidBody(credential_id=name, identifier=name, channel="handle", did=did, tx_hash="0x" + "00" * 32)
    registered = register_did.sync(client=client, body=body)
    found = lookup_did.sync(client=client, credential_id=name)
    assert (registered.identifier, found.identifier, found.did) == (name, name, did)
