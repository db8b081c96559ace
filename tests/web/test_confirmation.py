"""confirm_registrations, expire and HOLDFAST_REGISTRATION_PROOF against receipts from a JSON-RPC endpoint."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.chain.contracts import ADDRESSES
from holdfast.wire.keccak import did_hash, keccak256

from .conftest import DID, OTHER_DID, Api, error_of
from .stand_ins import rpc_results, upstream

REGISTRY = ADDRESSES["DIDRegistry"]
EVENT = "0x" + keccak256(b"DidRegistered(bytes32,address,string)").hex()
TX = "0x" + "ab" * 32


def receipt(did: str = DID, *, registry: str = REGISTRY, status: str = "0x1", event: str = EVENT) -> dict[str, Any]:
    log = {
        "address": registry.lower(), "topics": [event, "0x" + did_hash(did).hex(), "0x" + "00" * 32], "data": "0x",
        "blockNumber": "0x2a", "blockHash": "0x" + "01" * 32, "transactionHash": TX, "transactionIndex": "0x0",
        "logIndex": "0x0", "removed": False,
    }  # fmt: skip
    return {
        "transactionHash": TX, "blockNumber": "0x2a", "blockHash": "0x" + "01" * 32, "transactionIndex": "0x0",
        "status": status, "logs": [log], "from": "0x" + "00" * 20, "to": registry, "gasUsed": "0x1",
        "cumulativeGasUsed": "0x1", "effectiveGasPrice": "0x1", "contractAddress": None, "type": "0x2", "logsBloom": "0x",
    }  # fmt: skip


@pytest.fixture
async def chain(make_api):
    async with upstream() as rpc:
        yield make_api(rpc_url=rpc.url), rpc


async def lookup(api: Api) -> dict[str, Any]:
    return (await api.get("/api/dids/lookup", credentialId="cred-1")).json()


async def test_a_receipt_with_the_event_confirms_and_fills_the_block_in(chain) -> None:
    api, rpc = chain
    await api.register(txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt()})
    assert await api.service.chores.confirm_registrations() == {"pending": 0, "confirmed": 1, "refused": 0}
    assert (await lookup(api))["blockNumber"] == 42
    assert (await api.service.chores.confirm_registrations())["confirmed"] == 0


async def test_another_dids_event_refuses_at_once(chain, caplog: pytest.LogCaptureFixture) -> None:
    api, rpc = chain
    await api.register(txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt(OTHER_DID)})
    assert (await api.service.chores.confirm_registrations())["refused"] == 1
    assert await lookup(api) == {"found": False}
    assert [record.why for record in caplog.records] == ["another_did"] and DID not in caplog.text
    assert (await api.register(txHash="0x2")).status_code == 200, "the holder may register again"


@pytest.mark.parametrize(
    "answer",
    [None, receipt(registry="0x" + "11" * 20), receipt(status="0x0"), receipt(event="0x" + "22" * 32)],
    ids=["no receipt", "another registry", "failed", "another event"],
)
async def test_what_does_not_register_is_refused_after_a_day(chain, answer: Any) -> None:
    api, rpc = chain
    await api.register(txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": answer})
    api.clock.now += 86399
    assert (await api.service.chores.confirm_registrations())["pending"] == 1
    assert (await lookup(api))["found"] is True
    api.clock.now += 1
    assert (await api.service.chores.confirm_registrations())["refused"] == 1
    assert await lookup(api) == {"found": False}


async def test_a_chain_out_of_reach_refuses_nobody(api: Api) -> None:
    await api.register(txHash=TX)
    api.clock.now += 10 * 86400
    assert (await api.service.chores.confirm_registrations())["refused"] == 0
    assert (await lookup(api))["found"] is True


async def test_a_hash_that_is_none_waits_its_day_out(chain) -> None:
    api, _ = chain
    await api.register(txHash="0xabc")
    assert (await api.service.chores.confirm_registrations())["pending"] == 1
    assert (await lookup(api))["found"] is True


async def test_many_registrations_are_settled_page_by_page(chain) -> None:
    api, rpc = chain
    for number in range(230):
        await api.register(identifier=f"n{number}", credentialId=f"c{number:03}", txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt()})
    assert (await api.service.chores.confirm_registrations())["confirmed"] == 230


async def test_expire_removes_what_is_over(api: Api) -> None:
    await api.register(identifier="ann@example.com", channel="email", attestation=await api.attested())
    assert await api.service.chores.expire() == {"removed": 0}
    api.clock.now += 2 * 86400
    assert await api.service.chores.expire() == {"removed": 2}


@pytest.fixture
async def strict(make_api):
    async with upstream() as rpc:
        yield make_api(rpc_url=rpc.url, registration_proof="required"), rpc


@pytest.mark.parametrize(
    "answer", [None, receipt(OTHER_DID), receipt(status="0x0"), receipt(registry="0x" + "11" * 20)]
)
async def test_required_proof_refuses_what_does_not_register_this_did(strict, answer: Any) -> None:
    api, rpc = strict
    rpc.answer = rpc_results({"eth_getTransactionReceipt": answer})
    assert error_of(await api.register(txHash=TX)) == (403, "registration_unproven")
    assert error_of(await api.register(txHash="0xabc")) == (403, "registration_unproven")
    assert (await api.get("/api/sessions/status")).json()["total_registrations"] == 0


async def test_required_proof_accepts_and_confirms_at_once(strict) -> None:
    api, rpc = strict
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt()})
    assert (await api.register(txHash=TX, blockNumber=7)).status_code == 200
    assert (await lookup(api))["blockNumber"] == 42
    assert (await api.service.chores.confirm_registrations())["confirmed"] == 0


async def test_required_proof_without_a_chain_is_502(make_api) -> None:
    api = make_api(registration_proof="required")
    assert error_of(await api.register(txHash=TX)) == (502, "rpc_error")
