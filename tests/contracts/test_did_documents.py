"""DID documents of a service that reads a real chain: registered, key changed, deactivated, handed over."""

import asyncio

from holdfast.chain import calls
from holdfast.chain.abi import call_data
from holdfast.chain.contracts import DETERMINISTIC_DEPLOYER, PRODUCTION, address, load, predict_account
from holdfast.service.upstreams import chain_rpc
from holdfast.wire.keccak import did_hash
from holdfast.world.software_key import SoftwareKey

REGISTRY = address("DIDRegistry")
FIRST, LATER = SoftwareKey.generate(), SoftwareKey.generate()
DID = FIRST.did
ACCOUNT = predict_account(FIRST.x, FIRST.y)


async def _resolved(api, chain, *transactions):
    """Return status, document, keys and proofs after these transactions, each with sender, contract and call data."""
    for sender, to, data in transactions:
        await asyncio.to_thread(chain.transact, to, data, sender)
    answer = await api.get(f"/1.0/identifiers/{DID}")
    result = answer.json()
    document = result["didDocument"]
    keys = (document or {}).get("capabilityInvocation")
    return answer.status_code, document, keys, result["didDocumentMetadata"].get("proven")


def _prepare(chain):
    for name in PRODUCTION:
        chain.transact(DETERMINISTIC_DEPLOYER, load(name).deployment)
    chain.transact(address("AppFactory"), calls.create_account(FIRST.x, FIRST.y))
    chain.call("anvil_setBalance", ACCOUNT, hex(10**18))
    chain.call("anvil_impersonateAccount", ACCOUNT)
    return chain.accounts[1]


async def test_the_document_follows_the_chain(chain, make_api, monkeypatch):
    monkeypatch.setattr(chain_rpc, "CHAIN_CACHE_S", 0)
    api = make_api(rpc_url=chain.url)
    other = await asyncio.to_thread(_prepare, chain)
    assert (await _resolved(api, chain))[0] == 404

    to, _, data = calls.register(REGISTRY, FIRST.x, FIRST.y)
    status, document, keys, proven = await _resolved(api, chain, (ACCOUNT, to, data))
    assert (status, keys, proven) == (200, [f"{DID}#key-1"], {"controller": "registry", "key": "did"})
    assert document["controller"] == f"did:pkh:eip155:84532:{ACCOUNT}"

    data = call_data("setPublicKey(uint256,uint256)", LATER.x, LATER.y)
    status, _, keys, proven = await _resolved(api, chain, (ACCOUNT, ACCOUNT, data))
    assert (status, proven) == (200, {"controller": "registry", "key": "account"})
    assert keys == [f"{DID}#{LATER.did.removeprefix('did:new:')}"]

    off, on = (call_data("setDidActive(bytes32,bool)", did_hash(DID), active) for active in (False, True))
    status, document, _, proven = await _resolved(api, chain, (ACCOUNT, REGISTRY, off))
    assert (status, document["id"], len(document), proven["controller"]) == (410, DID, 2, None)

    named = call_data("changeController(bytes32,address)", did_hash(DID), other)
    taken = call_data("acceptController(bytes32)", did_hash(DID))
    steps = (ACCOUNT, REGISTRY, on), (ACCOUNT, REGISTRY, named), (other, REGISTRY, taken)
    status, document, keys, proven = await _resolved(api, chain, *steps)
    assert (status, keys, proven) == (200, [], {"controller": "registry", "key": None})
    assert document["verificationMethod"][0]["blockchainAccountId"].lower() == f"eip155:84532:{other}".lower()
