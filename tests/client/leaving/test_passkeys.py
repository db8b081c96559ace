"""A passkey alone: its signature shows whose it is, whatever the node says."""

from unittest.mock import AsyncMock

import pytest
from tests.support.software_authenticator import SoftwareAuthenticator

from holdfast.chain.errors import TransportError
from holdfast.chain.signers import key_id, p256_signer
from holdfast.client.flows.accounts import AccountKey
from holdfast.client.flows.second_key import SecondKey
from holdfast.client.leaving.account import Account
from holdfast.client.leaving.bundled import Bundled
from holdfast.client.leaving.moves import Destination, Holdings
from holdfast.client.leaving.passkeys import owner_passkey
from holdfast.client.passkeys import Authenticator, Person
from holdfast.wire.client_errors import NetworkError, WebAuthnError
from holdfast.wire.encoding import from_base64url

ACCOUNT = "0x" + "a1" * 20


class Node:
    """Says of each key but one that it is an owner, or of that one alone."""

    def __init__(self, signer, *, lies):
        self.named, self.lies = key_id(signer), lies

    async def chain_id(self):
        return 1

    async def get_code(self, _account):
        return b"code"

    async def eth_call(self, _to, data, at_least=0):
        assert at_least
        return int((data[4:] == self.named) != self.lies).to_bytes(32) + bytes(64)


async def test_a_node_that_names_another_key_gets_no_signature():
    device = SoftwareAuthenticator()
    key = Authenticator("http://localhost", device)
    made = key.create_passkey(Person("ada")).credential_id
    point = device.public_key(from_base64url(made)).public_numbers()
    signer = p256_signer(point.x, point.y)
    found = await owner_passkey(Node(signer, lies=False), 1, ACCOUNT, [key])
    assert found.signer == signer
    assert len(found.sign(bytes(32))) > 64
    named = await owner_passkey(Node(signer, lies=True), 1, ACCOUNT, [key])
    assert named.signer != signer
    with pytest.raises(WebAuthnError, match="another passkey signed"):
        named.sign(bytes(32))


async def test_a_node_that_fails_while_the_gas_of_a_passkey_is_determined_is_an_endpoints_error():
    silent = AsyncMock(**{"chain_id.return_value": 1, "call.side_effect": TransportError("no answer")})
    account = Account(
        key=AccountKey(1, 2, ACCOUNT),
        chain_id=1,
        entry_point=ACCOUNT,
        deployed=True,
        by_name=True,
        passkey=SecondKey(bytes(64)),
    )
    where = Destination(account=ACCOUNT, to=ACCOUNT, did_to=None, registry=ACCOUNT, entry_point=ACCOUNT)
    with pytest.raises(NetworkError, match="no answer"):
        await Bundled(silent, silent).plan(account, Holdings(coin=10**18, deposit=0, did_hash=None), where, 10**16)
