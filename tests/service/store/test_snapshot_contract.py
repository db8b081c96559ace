"""The contract of SnapshotIndex, tested with every kind of database."""

import asyncio

import pytest
from tests.support.snapshot_cases import DID, NOW, OTHER, allow, keep, pin, record, taking, use
from tests.support.store_cases import MAIL, claims, goes_on, registration

from holdfast.rules.pins import PinRequest, PinState
from holdfast.rules.registration import Confirmation
from holdfast.rules.snapshot_quotas import Usage
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.snapshot_index import NewPin, NewRoot, NewUpload
from holdfast.wire.failures import INSUFFICIENT_FUNDS, SnapshotRefused


@pytest.fixture
def index(store):
    return store.snapshots


async def test_a_snapshot_is_found_whole_and_in_order(index):
    await keep(index, "a")
    kept = await index.root("a")
    assert kept is not None and kept.did == DID
    assert [(place.cid, place.size) for place in kept.blocks] == [("a", 10), ("a-block", 10), ("shared", 10)]
    for place in kept.blocks:
        assert await index.block(place.cid) == place
    assert await index.root("a-block") is None and await index.block("other") is None
    assert await index.usage(DID) == Usage(30, 0, 1, 1) and await index.usage(OTHER) == Usage(0, 0, 0, 0)


def root(name="a"):
    return NewRoot(cid=name, did=DID, blocks=(name,), size=10, publisher=None, pin="p", held_until=0.0, now=NOW)


async def begun(index, name="a", upload="u"):
    """Begin an upload, and place a block; return its place."""
    await index.begin_upload(NewUpload(upload_id=upload, did=DID, now=NOW, expires_at=NOW + 900), taking(1))
    (place,) = await index.insert_blocks(DID, upload, [(name, 10)])
    return place


async def test_a_block_that_was_only_placed_is_collected_and_no_upload_that_took_too_long_finishes(index):
    place = await begun(index)
    assert await index.block("a") is None
    await index.expire(NOW)
    assert await index.garbage(10) == [], "the upload holds it"
    await index.end_upload(DID, "u")
    await index.expire(NOW)
    assert await index.garbage(10) == [place.key]
    await index.collected([place.key])
    assert await index.garbage(10) == []
    assert (await begun(index)).key != place.key, "an object is never named again"
    await index.expire(NOW + 901)
    for late in (index.finish_upload("u", root(), use(1), allow, allow), index.insert_blocks(DID, "u", [("a", 10)])):
        with pytest.raises(StoreUnavailable):
            await late
    assert await index.root("a") is None


async def test_a_refused_finish_changes_nothing(index):
    def refuse(_usage):
        raise SnapshotRefused(INSUFFICIENT_FUNDS)

    await begun(index)
    for decide, admit in ((refuse, allow), (allow, refuse)):
        with pytest.raises(SnapshotRefused):
            await index.finish_upload("u", root(), use(1, what="a"), decide, admit)
        assert await index.root("a") is None and await index.pins(DID) == []
    await index.finish_upload("u", root(), use(1, what="a"), allow, allow)
    assert (await index.usage(DID)) == Usage(10, 0, 1, 1)


async def test_blocks_stay_while_any_snapshot_links_to_them(index):
    await keep(index, "a")
    await keep(index, "b")
    (second, first) = await index.pins(DID)
    assert await index.remove_pin(DID, first.request_id, NOW)
    await index.expire(NOW)
    gone = await index.garbage(10)
    assert sorted(key.partition(".")[0] for key in gone) == ["a", "a-block"]
    assert await index.block("shared") is not None and await index.root("a") is None
    assert not await index.remove_pin(DID, first.request_id, NOW) and not await index.remove_pin(
        OTHER, second.request_id, NOW
    )


async def test_tokens_make_one_thing_of_a_kind(index):
    def add(number, token, what="w"):
        new = NewPin(request_id=f"r{number}", did=DID, request=PinRequest(cid="a"), now=NOW)
        return index.add_pin(new, use(token, "pin", what), allow)

    first = await add(0, 1)
    assert first is not None and first.state is PinState.QUEUED and await add(1, 1) == first
    with pytest.raises(SnapshotRefused):
        await add(2, 1, "other")
    assert len(await index.pins(DID)) == 1
    races = await asyncio.gather(*(add(n, 2) for n in range(3, 8)))
    assert len({pin.request_id for pin in races}) == 1


async def test_a_token_uploads_one_snapshot_and_may_repeat_it(index):
    async def finish(upload, name):
        await begun(index, name, upload)
        await index.finish_upload(upload, root(name), use(1, what=name), allow, allow)

    await index.add_pin(
        NewPin(request_id="r", did=DID, request=PinRequest(cid="a"), now=NOW), use(1, "pin", "w"), allow
    )
    await finish("u1", "a")
    await finish("u2", "a")
    with pytest.raises(SnapshotRefused, match="TOKEN_USED"):
        await finish("u3", "b")
    assert await index.root("a") is not None and await index.root("b") is None


async def test_a_pin_keeps_what_was_asked_and_has_its_own_moment(index):
    request = {"name": "n\u00e4me", "origins": ("/a/p2p/Q",), "meta": {"k\u0000": "v\u2028"}}
    made = await pin(index, 1, "a", request=request)
    assert made.request == PinRequest(cid="a", **request)
    assert await index.pin(DID, "request-1") == made and await index.pin(OTHER, "request-1") is None
    assert await pin(index, 2, "a", replaces="none") is None
    for number, moment in enumerate((NOW, NOW, NOW - 100, NOW + 1)):  # also when the clock goes back
        new = NewPin(request_id=f"r{number}", did=DID, request=PinRequest(cid=f"c{number}"), now=moment)
        await index.add_pin(new, use(number, "pin", str(number)), allow)
    stamps = [pin.created_us for pin in await index.pins(DID)]
    assert stamps == sorted(set(stamps), reverse=True) and len(stamps) == 5
    assert (await pin(index, 7, "c3", replaces="r3")).created_us == stamps[1] + 1, "after those that stay"
    assert (await pin(index, 8, "a", did=OTHER)).created_us == NOW * 1_000_000, "whatever other DIDs have"


async def test_an_own_snapshot_s_pin_replaces_that_of_its_upload(index):
    await keep(index, "a")
    seen = []
    new = NewPin(request_id="r", did=DID, request=PinRequest(cid="a"), now=NOW)
    made = await index.add_pin(new, use(1, "pin"), seen.append)
    assert made is not None and made.state is PinState.PINNED
    assert ([usage.pins for usage in seen], len(await index.pins(DID))) == ([0], 1)


async def test_a_snapshot_without_a_pin_is_held_until_its_time_is_over(index):
    for held_until in (NOW + 100, NOW + 200, NOW + 150):  # it is uploaded again
        await keep(index, "a", pin=None, held_until=held_until)
    await index.expire(NOW + 199)
    assert await index.root("a") is not None
    await index.expire(NOW + 200)
    assert await index.root("a") is None


async def test_another_did_s_pin_that_waits_holds_no_snapshot(index):
    assert (await pin(index, 1, "a", did=OTHER)).state is PinState.QUEUED
    await keep(index, "a")
    (held,), (waiting,) = await index.pins(DID), await index.pins(OTHER)
    assert "dag_size" in held.info and "dag_size" not in waiting.info
    assert await index.remove_pin(DID, held.request_id, NOW)
    assert await index.root("a") is None and len(await index.pins(OTHER)) == 1
    await pin(index, 2, "b", did=OTHER)
    await keep(index, "b", pin=None, held_until=NOW + 5)
    assert await index.remove_pin(OTHER, "request-2", NOW + 6)
    assert await index.root("b") is not None, "it goes with its own pins, or as expired"


async def test_a_did_is_registered_while_the_chain_has_not_refused_its_last_credential(index, store):
    for credential in ("one", "two"):
        await store.register(
            registration(credential_id=credential, did=DID), claims if credential == "one" else goes_on
        )
    await store.register(registration(identifier=MAIL, credential_id="three", did=OTHER), claims)
    await store.settle("one", Confirmation.REFUSED, None, NOW)
    assert await index.is_registered(DID) and await index.is_registered(OTHER)
    await store.settle("three", Confirmation.CONFIRMED, 1, NOW)
    assert await index.is_confirmed(OTHER) and not await index.is_confirmed(DID)
    assert await store.revoke_credential("two", NOW)
    assert not await index.is_registered(DID)
    await store.register(registration(credential_id="one", did=DID), goes_on)
    assert await index.is_registered(DID), "the row that the chain refused made way"
    assert await store.release("handle", "ann", NOW) and await store.release("email", MAIL.key, NOW)
    assert not await index.is_registered(DID) and not await index.is_registered(OTHER)


async def test_revocations_and_registrations(index):
    assert not await index.is_registered(DID)
    assert not await index.is_revoked(DID, ("c1", "c2"), NOW)
    await index.revoke(DID, "c2", NOW, NOW + 700)
    assert await index.is_revoked(DID, ("c1", "c2"), NOW + 5) and not await index.is_revoked(OTHER, ("c1", "c2"), NOW)
    await index.revoke(DID, None, NOW + 10, NOW + 700)
    await index.revoke(DID, None, NOW + 5, NOW + 600)
    assert await index.is_revoked(DID, ("x", "y"), NOW + 10) and not await index.is_revoked(DID, ("x", "y"), NOW + 11)
    await index.expire(NOW + 700 + 90_001)
    assert not await index.is_revoked(DID, ("c1", "c2"), NOW)


async def test_names_stay_with_their_did_and_rise(index):
    await keep(index, "a", publisher="name")
    await keep(index, "theirs", did=OTHER, publisher="name")
    await keep(index, "unbound")

    seen = []

    def decide(kept):
        seen.append(kept)
        return True

    assert await index.publish(record("name", "a", 2**53 - 1), decide) and seen == [None]
    kept = await index.record("name")
    assert kept is not None and (kept.did, kept.root, kept.sequence, kept.validity_ns) == (DID, "a", 2**53 - 1, 2**63)
    assert (kept.ttl_ns, kept.data) == (2**63 - 1, b"r")
    assert await index.publish(record("name", "a", 1), lambda _kept: False)
    assert await index.record("name") == kept
    for name, root in (("name", "theirs"), ("name", "unbound"), ("name", "none"), ("other", "a")):
        assert not await index.publish(record(name, root, 9), decide)
    assert await index.record("name") == kept and await index.record("other") is None


async def test_a_did_leads_to_the_name_of_its_newest_snapshot(index):
    assert await index.publisher(DID) is None
    await keep(index, "a", publisher="first")
    await keep(index, "theirs", did=OTHER, publisher="other")
    await pin(index, 1, "queued")
    assert (await index.publisher(DID), await index.publisher(OTHER)) == ("first", "other")
    await keep(index, "b", publisher="second")
    assert await index.publisher(DID) == "second"
    await keep(index, "unbound")
    assert await index.publisher(DID) is None


DAY_S = 86400


async def refuse_all(store):
    """Register a DID that the chain refuses at NOW."""
    await store.register(registration(did=DID), claims)
    await store.settle("cred", Confirmation.REFUSED, None, NOW)


async def test_what_a_refused_did_stored_is_gone_after_thirty_days(store, index):
    await refuse_all(store)
    await store.register(registration(did=OTHER, identifier=MAIL, credential_id="other"), claims)
    await keep(index, "a", publisher="k51")
    await keep(index, "b", did=OTHER, publisher="k52")
    await keep(index, "c", publisher="k52")
    await pin(index, 1, "elsewhere")
    for name, of in (("k51", "a"), ("k52", "b")):
        assert await index.publish(record(name, of), lambda _kept: True)
    await index.expire(NOW + 29 * DAY_S)
    assert await index.usage(DID) == Usage(60, 0, 2, 2), "the pin that waited has failed"
    await index.expire(NOW + 30 * DAY_S + 1)
    assert await index.usage(DID) == Usage(0, 0, 0, 0)
    assert await index.root("a") is None and await index.pins(DID) == [] and await index.record("k51") is None
    assert await index.root("b") is not None, "another DID's stay, with the block that both have"
    assert await index.record("k52") is not None, "only its own names go"
    garbage = [name.rpartition(".")[0] for name in await index.garbage(10)]
    own = {"a", "a-block", "c", "c-block"}
    assert own <= set(garbage) <= {*own, "shared"}
    assert await index.block("shared") is not None
    others = asyncio.Event()
    asyncio.get_running_loop().call_soon(others.set)
    assert await index.totals() == (1, 1, 30) and others.is_set(), "no request waits until all rows are counted"


async def test_a_pin_fails_after_a_day_takes_no_room_then_and_is_pinned_by_a_later_upload_or_goes(index):
    await pin(index, 1, "a")
    await pin(index, 2, "elsewhere")
    await index.expire(NOW + DAY_S)
    assert {held.state for held in await index.pins(DID)} == {PinState.QUEUED}
    await index.expire(NOW + DAY_S + 1)
    assert [held.state for held in await index.pins(DID)] == [PinState.FAILED] * 2
    seen = []
    late = NewUpload(upload_id="u", did=DID, now=NOW, expires_at=NOW + 2 * DAY_S)
    await index.begin_upload(late, lambda usage: seen.append(usage) or 10)
    assert seen == [Usage(0, 0, 0, 0)]
    await index.insert_blocks(DID, "u", [("a", 10)])
    await index.finish_upload("u", root(), use(2), allow, allow)
    await index.expire(NOW + 60 * DAY_S)
    assert [(held.request.cid, held.state) for held in await index.pins(DID)] == [("a", PinState.PINNED)]


@pytest.mark.parametrize("end", ["revoked", "released"])
async def test_a_registration_that_ends_otherwise_leaves_thirty_days_too(store, index, end):
    await store.register(registration(did=DID), claims)
    await keep(index, "a")
    if end == "revoked":
        await store.revoke_credential("cred", NOW)
    else:
        await store.release("handle", "ann", NOW)
    await index.expire(NOW + DAY_S)  # sees it first here
    await index.expire(NOW + 30 * DAY_S)
    assert await index.root("a") is not None
    await index.expire(NOW + 31 * DAY_S + 1)
    assert await index.root("a") is None


@pytest.mark.parametrize("days", [29, 70])
async def test_the_thirty_days_begin_with_the_end_of_the_last_registration(store, index, days):
    await refuse_all(store)
    await keep(index, "a")
    await store.register(registration(did=DID, identifier=MAIL, credential_id="again"), claims)
    await index.expire(NOW + (days - 1) * DAY_S)
    await store.settle("again", Confirmation.REFUSED, None, NOW + days * DAY_S)
    await index.expire(NOW + (days + 29) * DAY_S)
    assert await index.root("a") is not None
    await index.expire(NOW + (days + 30) * DAY_S + 1)
    assert await index.root("a") is None
