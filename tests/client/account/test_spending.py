"""A spending permission, its calls, and its delegation's policy are those of the shared vectors."""

from types import SimpleNamespace
from unittest.mock import AsyncMock, call, patch

import pytest
from tests.support.vector_files import vectors

from holdfast.chain.account_calls import Permission, grant_permission, revoke_permission, spend
from holdfast.chain.errors import RpcError
from holdfast.client.account import spending_methods
from holdfast.client.account.spending import Spending, SpendingTerms, permission_of, policy_of, spending_in
from holdfast.client.account.spending_methods import SpendingMethods
from holdfast.client.types import ExecOutput
from holdfast.wire.client_errors import NetworkError

MISTYPED = "0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
ROWS, NONE = (vectors("accounts/permissions")[name] for name in ("vectors", "none"))


def permission(row):
    given = row["permission"]
    return Permission(
        key_id=bytes.fromhex(given["keyId"][2:]),
        token=given["token"],
        allowance=int(given["allowance"]),
        period=given["period"],
        start=given["start"],
        until=given["until"],
        target=given["target"],
        function=bytes.fromhex(given["function"][2:]),
        salt=int(given["salt"]),
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_permission_has_the_id_the_calls_and_the_policy_of_the_vectors(row):
    made, account = permission(row), row["account"]
    calls = {
        "grant": grant_permission(account, made),
        "revoke": revoke_permission(account, made.id),
        "spend": spend(account, made, row["to"], 1),
    }
    assert {name: (to, value, f"0x{data.hex()}") for name, (to, value, data) in calls.items()} == {
        name: (account, 0, row[name]) for name in calls
    }
    assert f"0x{made.id.hex()}" == row["id"]
    policy = policy_of(account, row["chainId"], made)
    assert policy == row["policy"]
    assert spending_in(policy) == Spending(account, row["chainId"], made.id)


@pytest.mark.parametrize(("at", "statement"), [case[1:] for case in NONE], ids=[case[0] for case in NONE])
def test_a_policy_that_names_no_permission_stands_for_none(at, statement):
    policy = ROWS[0]["policy"]
    assert spending_in([*policy[:at], *([statement] if statement else []), *policy[at + 1 :]]) is None


@pytest.mark.parametrize(
    "wrong",
    [
        *({name: value} for name in ("token", "payee") for value in ("", "0x12", "11" * 20, MISTYPED, "ada")),
        *({"allowance": value} for value in (-1, 1 << 160)),
        *({name: value} for name in ("period", "until") for value in (-1, 1 << 48)),
    ],
)
def test_terms_out_of_range_are_refused_before_anything_is_signed(wrong):
    terms = {"to": f"did:new:0x{'11' * 32}", "token": "native", "allowance": 5} | wrong
    with pytest.raises(ValueError, match=r"not an address|typing error|range"):
        permission_of(SpendingTerms(**terms), 7, 9)


class Silent(SpendingMethods):
    """The methods where no endpoint of the chain answers."""

    vault = AsyncMock()
    _chain = AsyncMock(side_effect=NetworkError("no endpoint of the chain is known"))


async def test_a_delegation_is_revoked_although_the_chain_does_not_answer(monkeypatch):
    rows = [{"cid": it, "command": "/accounts/spend", "revoked_at": None} for it in ("own", "other")]
    spending = {"own": Spending("0x", 1, b"\1" * 32), "other": Spending("0x", 1, b"\2" * 32)}
    monkeypatch.setattr(spending_methods, "spending_of_row", lambda row: spending[row["cid"]])
    vault = Silent.vault
    vault.exec.return_value = ExecOutput(success=True, result=rows)
    with pytest.raises(NetworkError):
        await Silent().end_spending(b"\1" * 32)
    assert vault.exec.await_args == call("resource:delegations action:revoke", {"cid": "own"})


def test_the_spender_is_the_key_of_the_apps_did():
    terms = {"token": "native", "allowance": 5, "payee": "0x" + "aa" * 20}
    made = permission_of(SpendingTerms(to=f"did:new:0x{'11' * 32}", **terms), 7, 9)
    assert (made.key_id, made.token, made.start, made.salt) == (b"\x11" * 32, "0x" + "00" * 20, 7, 9)
    assert made.target == "0xaAaAaAaaAaAaAaaAaAAAAAAAAaaaAaAaAaaAaaAa"
    with pytest.raises(ValueError, match="did:new"):
        permission_of(SpendingTerms(to="did:key:zDn", **terms), 7, 9)


@pytest.mark.parametrize(("newest", "start"), [(5, 5), (1 << 48, 9), (RpcError("no answer"), 9), (None, 9)])
async def test_a_permission_starts_no_later_than_the_chains_newest_block(monkeypatch, newest, start):
    monkeypatch.setattr(spending_methods.time, "time", lambda: 9.5)
    chain = None if newest is None else AsyncMock(block_time=AsyncMock(side_effect=[newest]))
    account = AsyncMock(key=SimpleNamespace(address="0x" + "aa" * 20), contracts=SimpleNamespace(chain_id=1))
    account.chain.return_value = chain
    given = {"vault": AsyncMock(), "_opened": AsyncMock(return_value=account), "_operated": AsyncMock()}
    with patch.multiple(SpendingMethods, **given):
        terms = SpendingTerms(to=f"did:new:0x{'11' * 32}", token="native", allowance=5)
        assert (await SpendingMethods().allow_spending(terms)).permission.start == start
