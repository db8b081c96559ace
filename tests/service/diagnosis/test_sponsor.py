"""What `holdfast check` says about the service's own sponsor."""

from types import SimpleNamespace

import pytest
from eth_keys.datatypes import PrivateKey

from holdfast.chain.approvals import Approver
from holdfast.chain.contracts.paymasters import paymaster_of
from holdfast.chain.errors import RpcError
from holdfast.service.diagnosis.sponsor import see_sponsors

GWEI, ETHER = 10**9, 10**18
APPROVER = Approver(PrivateKey(b"\x07" * 32), 8453)
PAYMASTER = paymaster_of(APPROVER.address)


class Chain:
    """A chain's endpoint: the code at the paymaster's address, its deposit, and the coin of the sponsor's address."""

    def __init__(self, code=PAYMASTER.runtime, deposit=ETHER, coin=ETHER // 2):
        self.code, self.deposit, self.coin = code, deposit, coin

    async def get_code(self, address):
        assert address == PAYMASTER.address
        return self.code

    async def eth_call(self, _entry_point, _data):
        return self.deposit.to_bytes(32)

    async def get_balance(self, address):
        assert address == APPROVER.address
        return self.coin


class Unreachable(Chain):
    async def get_code(self, address):
        raise RpcError("hunter2")


async def seen(*chains):
    sponsors = {
        number: SimpleNamespace(
            chain_id=8453 + number, approver=APPROVER, connect=lambda chain=chain: chain, entry_point="0x",
            limits=SimpleNamespace(low=GWEI // 100),
        )
        for number, chain in enumerate(chains)
    }  # fmt: skip
    return await see_sponsors(SimpleNamespace(sponsors=sponsors))


@pytest.mark.parametrize(("chain", "state", "found", "fix"), [
    (Chain(), "ok", "deposit 1 ETH, address 0.5 ETH", ""),
    (Chain(code=b""), "error", f"no paymaster at {PAYMASTER.address}", "holdfast sponsor deploy"),
    (Chain(code=b"\x60"), "error", f"no paymaster at {PAYMASTER.address}", "holdfast sponsor deploy"),
    (Chain(deposit=0), "error", "low (HOLDFAST_SPONSOR_LOW)", "holdfast sponsor deposit ETH"),
    (Chain(deposit=ETHER // 100 - 1), "error", "low (HOLDFAST_SPONSOR_LOW)", "holdfast sponsor deposit ETH"),
    (Chain(deposit=ETHER // 100), "ok", "deposit 0.01", ""),
    (Chain(coin=0), "note", "registrations with a handle take two operations", APPROVER.address),
    (Unreachable(), "error", "its deposit cannot be read", "see the chain"),
])  # fmt: skip
async def test_what_is_found(chain, state, found, fix):
    [finding] = await seen(chain)
    assert (finding.subject, finding.state) == ("sponsor 8453", state)
    assert found in finding.found and fix in finding.fix and bool(fix) == bool(finding.fix)
    assert "hunter2" not in finding.found + finding.fix


async def test_each_chain_has_a_line_and_a_service_that_pays_nowhere_none():
    assert await seen() == []
    findings = await seen(Unreachable(), Chain())
    assert [(it.subject, it.state) for it in findings] == [("sponsor 8453", "error"), ("sponsor 8454", "ok")]
