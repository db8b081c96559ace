"""A WebAuthn assertion can also sign user operations; gas estimates then need the margin in `holdfast.chain.gas`."""

import hashlib
import json

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from holdfast.chain import calls
from holdfast.chain.assertions import encode_assertion, placeholder_assertion
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.gas import WEBAUTHN, WEBAUTHN_WITH_PRECOMPILE
from holdfast.wire.encoding import to_base64url

USER_PRESENT_AND_VERIFIED = 0x05


def assertion(private, challenge):
    client_data = json.dumps(
        {"type": "webauthn.get", "challenge": to_base64url(challenge), "origin": "https://holdfast.example"},
        separators=(",", ":"),
    ).encode()
    authenticator = hashlib.sha256(b"holdfast.example").digest() + bytes([USER_PRESENT_AND_VERIFIED]) + bytes(4)
    signature = private.sign(authenticator + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
    return encode_assertion(*decode_dss_signature(signature), authenticator, client_data)


@pytest.mark.asyncio(loop_scope="session")
async def test_a_passkey_registers_and_acts(world, newcomer):
    person = newcomer()
    node = await world.rpc.call("anvil_nodeInfo")
    margin = WEBAUTHN_WITH_PRECOMPILE if node["hardFork"] == "Osaka" else WEBAUTHN

    async def passkey(digest):
        return assertion(person.key.private, digest)

    transfer = calls.transfer(ADDRESSES["DevUSDC"], person.account, 0)
    for operation in (person.registration(), person.operation(1, transfer)):
        sent = await person.bundler.send_sponsored(operation.signed(placeholder_assertion()), passkey, margin)
        assert (await person.bundler.wait(sent)).actual_gas_used > 0
