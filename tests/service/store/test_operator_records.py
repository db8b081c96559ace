"""Keys for the admin port and invitations, with every kind of database."""

import asyncio

import pytest
from tests.support.store_cases import NOW, admit, claims, registration, removal, session

from holdfast.rules.identifiers import Channel, Identifier
from holdfast.rules.invitations import Invitation
from holdfast.rules.limits import DAY_S
from holdfast.rules.quotas import Counted
from holdfast.service.store.administration import AdminKey, By, KeyRevoked, StoredInvitation
from holdfast.wire.errors import Refused

CLI, EVA = By("cli:root", NOW), By("key:eva", NOW + 1)
KEY = AdminKey("eva", b"\x01" * 32, "read write", NOW)
EVE = Identifier(Channel.HANDLE, "eve", "Eve")
END = NOW + 14 * DAY_S
ACTS = (
    lambda store: store.administration.ban("did did:a:9", "", EVA),
    lambda store: store.administration.lift("did did:a:1", EVA),
    lambda store: store.administration.release("handle", "ann", EVA),
    lambda store: store.administration.transfer("handle", "ann", "did:a:9", EVA),
    lambda store: store.administration.rename("handle", "ann", EVE, EVA),
    lambda store: store.administration.erase(removal(did="did:a:1"), EVA),
    lambda store: store.administration.invite(invitation("02"), EVA),
    lambda store: store.administration.use_up(invitation("01"), EVA),
    lambda store: store.administration.keep_key(KEY._replace(name="tim"), EVA),
    lambda store: store.administration.revoke_key("tom", EVA),
)


def invitation(number="0a" * 6, uses=3, made_at=NOW):
    return StoredInvitation(number, uses, END, made_at)


async def use(store, number="0a" * 6, uses=3):
    return await store.charge([Invitation(number, uses, int(END)).quota()], END)


async def test_a_key_has_its_name_for_good_and_an_erasure_names_it_and_not_the_person(store):
    admin = store.administration
    assert await admin.keep_key(KEY, CLI)
    assert await admin.key("eva") == KEY and await admin.key("tom") is None
    assert not await admin.keep_key(KEY._replace(digest=b"\x02" * 32), CLI)
    await store.register(registration(), claims)
    assert (await admin.erase(removal(did="did:a:1"), EVA)).identifiers == 1
    *told, made = await admin.acts(None, 10)
    assert {(act.operator, act.action) for act in told} == {("key:eva", "erased"), ("key:eva", "released")}
    assert all(act.key.startswith("hash ") for act in told) and "did:a:1" not in str(told)
    assert await admin.revoke_key("eva", By("cli:root", NOW + 15)) and not await admin.revoke_key("eva", CLI)
    assert not await admin.keep_key(KEY, CLI), "the audit would not say which key acted"
    assert await admin.keys() == [KEY._replace(revoked_at=NOW + 15)]
    revoked = (await admin.acts(None, 10))[0]
    keys = [(act.action, act.key) for act in (revoked, made)]
    assert keys == [("admin_key_revoked", "eva"), ("admin_key_made", "eva read write")]


async def test_an_act_names_its_key_and_nothing_is_done_with_one_that_was_revoked_meanwhile(store):
    admin = store.administration
    await admin.keep_key(KEY, CLI)
    await admin.keep_key(KEY._replace(name="tom"), CLI)
    await store.open_session(session(), admit)
    done = await asyncio.gather(*(admin.ban("did did:a:1", "", EVA) for _ in range(5)))
    assert sorted(done) == [False] * 4 + [True]
    assert [(act.operator, act.action) for act in await admin.acts(None, 1)] == [("key:eva", "banned")]
    await admin.invite(invitation("01"), CLI)
    await admin.revoke_key("eva", CLI)
    before = await admin.acts(None, 10)
    for act in ACTS:
        with pytest.raises(KeyRevoked):
            await act(store)
    assert await admin.acts(None, 10) == before and await store.is_claimed("handle", "ann")
    assert [ban.subject for ban in await admin.bans("", 10)] == ["did did:a:1"]
    assert [(one.number, one.used) for one in await admin.invitations(None, 10)] == [("01", 0)]


async def test_what_is_left_of_an_invitation_is_used_up_once(store):
    admin = store.administration
    assert await admin.invite(invitation(), CLI) and not await admin.invite(invitation(), CLI)
    admitted = await use(store)
    assert (await admin.invitations(None, 10))[0].used == 1
    assert sorted(await asyncio.gather(*(admin.use_up(invitation(), CLI) for _ in range(4)))) == [0, 0, 0, 2]
    await store.give_back(admitted, {Counted.INVITATIONS})  # a registration that was under way has failed
    with pytest.raises(Refused):
        await use(store)
    kept = await admin.invitation(invitation().number)
    assert kept is not None and kept.revoked_at == NOW and kept.used >= kept.uses
    assert [act.action for act in await admin.acts(None, 10)] == ["invitation_revoked", "invited"]
    assert await admin.use_up(invitation("0b" * 6, 2), CLI) == 2, "one that is not stored"
    with pytest.raises(Refused):
        await use(store, "0b" * 6, 2)


async def test_pages_of_invitations_until_they_expire(store):
    for n in range(5):
        await store.administration.invite(invitation(f"0{n}", made_at=NOW + n // 2), CLI)
    seen = []
    after = None
    while page := await store.administration.invitations(after, 2):
        seen += [one.number for one in page]
        after = (page[-1].made_at, page[-1].number)
    assert seen == ["04", "03", "02", "01", "00"]
    await store.expire(END + DAY_S + 3600)
    assert len(await store.administration.invitations(None, 10)) == 5, "they stay for a day"
    await store.expire(END + 3 * DAY_S)
    assert await store.administration.invitations(None, 10) == []
