"""The limit on reads: bursts, reads per minute, networks, every endpoint that reads; and what is remembered is bounded."""

import contextlib

import pytest
from tests.support.api import Clock
from tests.support.snapshot_vaults import registered

from holdfast.rules.reading_rate import admitted_until, wait_s
from holdfast.service.operations import accounts
from holdfast.service.operations.reading_rate import ReadingRate
from holdfast.service.upstreams import chain_rpc
from holdfast.wire.failures import SnapshotRefused


def passed(rate, address, tries):
    """Return how many of `tries` reads are allowed."""
    done = 0
    for _ in range(tries):
        with contextlib.suppress(SnapshotRefused):
            rate.count(address)
            done += 1
    return done


def test_the_limit_at_once_and_again_over_the_minute():
    clock = Clock()
    rate = ReadingRate(60, clock)
    assert passed(rate, "192.0.2.1", 100) == 60
    assert passed(rate, "192.0.2.2", 1) == 1
    for seconds, more in ((10, 10), (3600, 60)):
        clock.now += seconds
        assert passed(rate, "192.0.2.1", 100) == more
    slow = ReadingRate(7, clock)
    assert passed(slow, "192.0.2.1", 9) == 7
    with pytest.raises(SnapshotRefused) as caught:
        slow.count("192.0.2.1")
    clock.now += caught.value.retry_after_s
    assert passed(slow, "192.0.2.1", 9) == 1, "after the stated wait, one more passes"
    assert admitted_until(0.0, 100.0, 0, 60) is None and wait_s(0.0, 100.0, 0, 60) == 60, "a limit of none refuses all"


@pytest.mark.parametrize("spent", [1, 60])
def test_a_clock_that_is_set_back_locks_no_address_out(spent):
    clock = Clock()
    rate = ReadingRate(60, clock)
    assert passed(rate, "192.0.2.1", spent) == spent
    clock.now -= 30 * 24 * 3600
    assert passed(rate, "192.0.2.1", 100) == 0  # no limit is lifted either
    clock.now += 10
    assert passed(rate, "192.0.2.1", 100) == 10


def test_a_network_has_ten_times_the_limit_and_what_is_refused_or_given_back_counts_nowhere():
    rate = ReadingRate(5, Clock())
    subnets = [f"2001:db8:0:{number:x}::/64" for number in range(20)]
    for subnet in subnets * 100:
        rate.count(subnet)
        rate.give_back(subnet)
    assert sum(passed(rate, subnet, 5) for subnet in subnets) == 50
    assert passed(rate, "2001:db8:1::/64", 5) == 5
    rate.give_back("192.0.2.9")


def test_memory_is_bounded_and_addresses_that_have_their_whole_limit_again_are_forgotten():
    clock = Clock()
    full = ReadingRate(5, clock, most=10)
    for number in range(100):
        full.count(f"192.0.2.{number}")
        assert full.remembered <= 11
    rate = ReadingRate(60, clock, forgotten_from=10)  # one read is allowed again after a second
    assert passed(rate, "198.51.100.1", 60) == 60
    for number in range(200):
        rate.count(f"192.0.2.{number}")
        assert rate.remembered <= 10
        clock.now += 0.5
    assert passed(rate, "198.51.100.1", 120) == 60  # 100 seconds later


async def test_every_reading_path_counts(make_api):
    vault = await registered(make_api(snapshots_free_bytes="0", snapshots_reads_per_address_minute="4"))
    root = await vault.keep()
    paths = (f"/ipfs/{root}?format=raw", f"/ipns/{vault.name}?format=ipns-record", f"/routing/v1/ipns/{vault.name}")
    paths = (*paths, "/api/snapshots/name?credentialId=credential-ann")
    assert [(await vault.api.http.get(path)).status_code for path in paths] == [200, 404, 404, 200]
    for path in paths:
        refused = await vault.api.http.get(path)
        assert refused.status_code == 429 and int(refused.headers["retry-after"]) >= 1
    assert (await vault.api.http.get(paths[0], headers={"X-Forwarded-For": "198.51.100.7"})).status_code == 200
    assert (await vault.pins())[0]["status"] == "pinned"


async def test_reads_of_the_chain_count(make_api):
    """A read that the chain would have to answer counts; one that is malformed does not."""
    api = make_api(chain_reads_per_address_minute="2", rpc_url="http://127.0.0.1:1", indexer_url="http://127.0.0.1:1")
    account = "0x" + "11" * 20
    paths = (
        f"/api/accounts/state?account={account}", f"/api/balance?account={account}&token=ETH&chainId=84532",
        f"/api/accounts/predict?pubKeyX={'1' * 64}&pubKeyY={'2' * 64}",
        f"/api/indexer/api/accounts/{account}/transfers", f"/api/indexer/api/accounts/{account}/%74ransfers?cursor=1",
    )  # fmt: skip
    assert (await api.get("/api/accounts/state?account=0x", ip="192.0.2.1")).status_code == 400
    assert [(await api.get(path, ip="192.0.2.1")).status_code for path in paths[:2]] == [502, 502]
    for path in paths:
        refused = await api.get(path, ip="192.0.2.1")
        assert (refused.status_code, refused.json()) == (429, {"error": "rate_limited"})
        assert int(refused.headers["retry-after"]) >= 1
    assert (await api.get(f"/api/indexer/api/accounts/{account}", ip="192.0.2.1")).status_code == 502, "of its database"
    assert (await api.get(paths[0], ip="192.0.2.2")).status_code == 502
    assert [(await api.get(path, ip="192.0.2.3")).status_code for path in (paths[3], paths[0])] == [502, 429]


class Chain:
    """Returns an address, and counts how often it is asked."""

    asked = 0

    async def eth_call(self, _to, _data, *, at_least):
        self.asked += 1
        return (b"\1" * 20).rjust(at_least, b"\0")


@pytest.mark.parametrize("what", ["responses", "predicted addresses"])
async def test_what_is_remembered_of_the_chain_is_bounded(monkeypatch, what):
    """Of many questions, the chain is asked the first a second time, and not the last."""
    monkeypatch.setattr(chain_rpc, "MAX_CACHED", 3)
    monkeypatch.setattr(chain_rpc, "CHAIN_CACHE_S", 3600 if what == "responses" else 0)
    monkeypatch.setattr(accounts, "MAX_PREDICTED", 3)
    chain, address = Chain(), "0x" + "11" * 20
    reader = chain_rpc.ChainReader(lambda: chain)
    of = accounts.Accounts(reader, address, address, address)
    counts = []
    for n in (*range(10), 9, 0):
        await (reader.call(address, bytes([n]), 32) if what == "responses" else of.predict(n, 1, 0))
        counts.append(chain.asked)
    assert counts[9:] == [10, 10, 11]
