"""The budgets of the service's own sponsor, with every kind of database: no budget is exceeded, and all of it comes back."""

from tests.support.store_cases import ANN, NOW, admit, claims, registration, session

from holdfast.rules.sponsoring import Budget
from holdfast.service.store.sponsorships import Full, NewSponsorship, SponsorshipKey, address_chain, address_key

CHAIN, DAY, UNTIL, BLOCK = 8453, 20_000, 1_800_000_600, 7


def key(nonce=0, sender=1, chain=CHAIN):
    return SponsorshipKey(chain, f"0x{sender:040x}", hex(nonce))


def sponsorship(gwei=10, of=None, did=50, day=DAY, until=UNTIL, more=""):
    budgets = [Budget("all", 100, ""), Budget("hash did", did, ""), *([Budget(more, 100, "")] if more else [])]
    return NewSponsorship(
        key=of or key(), day=day, gwei=gwei, budgets=budgets, valid_until=until, block=BLOCK + until - UNTIL
    )


async def spent(store, chain=CHAIN, day=DAY):
    return {subject: gwei for subject, gwei in await store.sponsorships.spent(chain, day) if gwei}


async def test_what_is_reserved_counts_in_every_budget_of_its_chain_and_day_until_that_is_forgotten(store):
    assert await store.sponsorships.reserve(sponsorship(30)) is None
    assert await spent(store) == {"all": 30, "hash did": 30}
    assert await spent(store, chain=1) == {} == await spent(store, day=DAY + 1)
    assert await store.sponsorships.reserve(sponsorship(100, key(chain=1), did=100)) is None
    assert await store.sponsorships.reserve(sponsorship(20, day=DAY + 1)) is None
    assert await spent(store) == {}, "the same nonce counts where it was approved last"
    assert await store.sponsorships.reserve(sponsorship(50, key(1))) is None
    await store.sponsorships.forget(DAY + 1)
    assert await spent(store) == {}
    assert await spent(store, day=DAY + 1) == {"all": 30, "hash did": 30}


async def test_a_full_budget_is_named_and_nothing_changes(store):
    await store.sponsorships.reserve(sponsorship(45))
    assert await store.sponsorships.reserve(sponsorship(6, key(1))) == Full(1, 45)
    for gwei in (56, 2**63 - 1, 2**63, 2**300):
        assert await store.sponsorships.reserve(sponsorship(gwei, key(1), did=100)) == Full(0, 45)
    assert await spent(store) == {"all": 45, "hash did": 45}
    assert [each.key for each in await store.sponsorships.open_sponsorships(CHAIN, 9)] == [key()]
    assert await store.sponsorships.reserve(sponsorship(5, key(1))) is None


async def test_one_nonce_reserves_its_largest_amount_once(store):
    for gwei in (10, 30, 20):
        assert await store.sponsorships.reserve(sponsorship(gwei)) is None
    assert await spent(store) == {"all": 30, "hash did": 30}
    assert await store.sponsorships.reserve(sponsorship(51)) == Full(1, 30)
    assert await store.sponsorships.reserve(sponsorship(50, more="contract a", until=UNTIL + 5)) is None
    assert await store.sponsorships.reserve(sponsorship(1, until=UNTIL + 2)) is None
    assert await spent(store) == {"all": 50, "hash did": 50, "contract a": 50}
    (held,) = await store.sponsorships.open_sponsorships(CHAIN, 9)
    assert (held.gwei, held.valid_until, held.block) == (50, UNTIL + 5, BLOCK)


async def test_what_a_client_address_reserves_counts_apart_from_the_budgets(store):
    def of_address(gwei, address, nonce=0):
        return NewSponsorship(
            key=address_key(key(nonce), address, 3), day=DAY, gwei=gwei, budgets=[Budget(address, 50, "")],
            valid_until=UNTIL, block=BLOCK,
        )  # fmt: skip

    for gwei in (40, 30):
        assert await store.sponsorships.reserve(of_address(gwei, "net/a")) is None
    assert await store.sponsorships.reserve(of_address(11, "net/a", 1)) == Full(0, 40)
    assert await store.sponsorships.reserve(of_address(50, "net/b")) is None
    assert await spent(store) == {} == {each.key: 1 for each in await store.sponsorships.open_sponsorships(CHAIN, 9)}
    there = await store.sponsorships.open_sponsorships(address_chain(CHAIN), 9)
    assert [(row.key.sender, row.key.nonce) for row in there] == [
        ("net/a", f"{key().sender} 0x0 3"), ("net/b", f"{key().sender} 0x0 3"),
    ]  # fmt: skip
    for row in there:
        assert await store.sponsorships.settle(row.key, UNTIL, 0)
    assert await spent(store, address_chain(CHAIN)) == {}


async def test_what_was_mined_is_charged_at_its_cost_and_what_was_not_comes_back(store):
    for nonce in range(3):
        await store.sponsorships.reserve(sponsorship(15, key(nonce), until=UNTIL + nonce))
    assert await store.sponsorships.settle(key(0), UNTIL, 4)
    assert await store.sponsorships.settle(key(1), UNTIL + 1, 0)
    assert await spent(store) == {"all": 19, "hash did": 19}
    assert not await store.sponsorships.settle(key(0), UNTIL, 4)
    assert [each.key for each in await store.sponsorships.open_sponsorships(CHAIN, 9)] == [key(2)]


async def test_approvals_that_end_first_come_first_and_one_that_was_given_again_is_not_settled(store):
    for nonce, until in enumerate((UNTIL + 2, UNTIL, UNTIL + 1)):
        await store.sponsorships.reserve(sponsorship(5, key(nonce), until=until))
    found = await store.sponsorships.open_sponsorships(CHAIN, 2)
    assert [each.valid_until - UNTIL for each in found] == [0, 1]
    assert await store.sponsorships.open_sponsorships(1, 2) == []
    assert await store.sponsorships.open_sponsorships(CHAIN, 2, key(0).sender) == found
    assert await store.sponsorships.open_sponsorships(CHAIN, 2, "0x") == []
    await store.sponsorships.reserve(sponsorship(5, key(1), until=UNTIL + 9))
    assert not await store.sponsorships.settle(key(1), UNTIL, 0)
    assert await spent(store) == {"all": 15, "hash did": 15}


async def test_a_did_is_known_from_its_session_on(store):
    assert not await store.sponsorships.knows("did:a:1")
    await store.open_session(session(), admit)
    assert await store.sponsorships.knows("did:a:1")
    await store.register(registration(identifier=ANN), claims)
    assert await store.sponsorships.knows("did:a:1")
    await store.release("handle", "ann", NOW)
    assert not await store.sponsorships.knows("did:a:1")
    assert not await store.sponsorships.knows("did:a:\0")
