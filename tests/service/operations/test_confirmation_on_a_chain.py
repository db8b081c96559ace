"""On anvil, where blocks can be reverted, a registration that was reported as final must stay final."""

import random

import pytest
from tests.support import anvil as anvils
from tests.support.api import DID

from holdfast.chain.registrations import DID_REGISTERED
from holdfast.wire.keccak import did_hash

SENDER = "0x" + "f1" * 20
DEPTH = 3
# Bytecode that replaces the registry: any call emits DidRegistered for the hash in the call data, with the caller as
# controller and an empty text.
EMITS = "0x6020600052336000357f" + DID_REGISTERED.hex() + "60406000a300"


class Chain:
    """An anvil on which each DID is registered by one transaction; blocks are mined on request."""

    def __init__(self, anvil):
        self.anvil = anvil
        self._nonce = 0

    async def register(self, did, nonce):
        asked = {
            "from": SENDER, "to": "0x" + anvils.REGISTRY.hex(), "data": "0x" + did_hash(did).hex(), "gas": "0x30d40",
            "gasPrice": "0x0", "nonce": hex(nonce),
        }  # fmt: skip
        return await self.anvil.rpc.call("eth_sendTransaction", [asked])


@pytest.fixture
async def chain():
    program = anvils.binary()
    if program is None:
        pytest.skip("the chain's tools are not installed")
    async with anvils.running(program, random.Random(1)) as anvil:
        await anvil.rpc.call("anvil_setCode", ["0x" + anvils.REGISTRY.hex(), EMITS])
        yield Chain(anvil)


async def turn(api):
    api.clock.now += 600
    return await api.service.maintenance.confirm_registrations()


async def block_of(api):
    return (await api.get("/api/dids/lookup", credentialId="cred-1")).json()["blockNumber"]


PENDING, CONFIRMED = ({"pending": 1, "confirmed": 0, "refused": 0}, {"pending": 0, "confirmed": 1, "refused": 0})


async def test_a_reorganisation_puts_a_registration_back_to_pending(chain, make_api):
    anvil = chain.anvil
    api = make_api(rpc_url=anvil.url, confirmation_depth=str(DEPTH))
    transaction = await chain.register(DID, 0)
    assert (await api.register(txHash=transaction)).status_code == 200
    await anvil.mine(DEPTH)
    assert await turn(api) == PENDING, "two blocks stand on top"
    await anvil.rpc.call("anvil_reorg", [DEPTH, []])
    assert await anvil.rpc.get_transaction_receipt(transaction) is None
    await anvil.mine(DEPTH + 5)
    assert await turn(api) == PENDING
    assert await block_of(api) is None
    assert await chain.register(DID, 0) == transaction, "the same transaction, sent again"
    await anvil.mine(1)
    mined = await anvil.height()
    await anvil.mine(DEPTH - 1)
    assert await turn(api) == PENDING
    await anvil.mine(1)
    assert await turn(api) == CONFIRMED
    assert await block_of(api) == mined
