"""Owners of an account through the JavaScript client, on the local chain: two vaults, and an account that both own."""

import json
from base64 import b64decode

import pytest
from tests.support.passkeys import answer_rpc, outcome
from tests.support.paying import PAYEE, Person

from holdfast.chain.account_calls import SignedChanges, apply_changes, create_account_with
from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.signers import passkey_signer
from holdfast.client.account.values import signed_from_text, signed_to_text

pytestmark = pytest.mark.timeout(300)


async def with_endpoint(browser, chain):
    person = await Person.unregistered(browser, chain)
    await person.page.evaluate("(rpcUrl) => { client.gas = {rpcUrl}; }", await answer_rpc(person.page, chain))
    return person


async def does(person, code, account=None):
    """Return the result of code that uses `keys`, an account's keys, as a person's application would."""
    named = json.dumps(account) if account else ""
    told = await outcome(person.page, f"const keys = await client.accountKeys({named}); {code}")
    return told.get("value", told)


async def brings(person, signed, account, how="{}"):
    return await does(person, f"return keys.bring({json.dumps(signed)}, {how})", account)


@pytest.mark.soak  # tests/client/flows/test_account_on_chain.py does so in the gate
async def test_another_vault_creates_the_account_with_its_changes_and_two_sign(browser, chain):
    first, second = [await with_endpoint(browser, chain) for _ in range(2)]
    account = first.account
    keys = [await does(person, "return keys.signer()") for person in (first, second)]
    before = await does(first, "return [await keys.view(), await keys.history(), await keys.origin()]")
    assert (before[0]["deployed"], before[1:]) == (False, [[], None]), before
    assert [each["signer"] for each in before[0]["owners"]] == keys[:1]
    added = await does(first, f"return keys.sign([{{kind: 'add_owner', signer: '{keys[1]}'}}])")
    missing = await brings(second, [added], account)
    assert (missing["name"], "does not exist on this chain yet" in missing["message"]) == ("OperationFailed", True)
    x, y = keys[0][:66], "0x" + keys[0][66:]
    made = await brings(second, [added], account, f"{{origin: {{x: BigInt('{x}'), y: BigInt('{y}')}}}}")
    assert (made["chainId"], made["applied"]) == (84532, 1)
    origin = "const {x, y, salt} = await keys.origin(); return [await keys.history(), x === BigInt('%s'), Number(salt)]"
    assert await does(second, origin % x, account) == [[{**added, "changes": with_expiry(added)}], True, 0]
    await both_must_sign(first, second, account)
    view = await does(first, "return keys.view()")
    assert [(each["signer"], each["isPrimary"]) for each in view["owners"]] == [(keys[0], True), (keys[1], False)]
    assert (view["deployed"], view["settings"]["threshold"], view["recovery"]) == (True, 1, None)


def with_expiry(signed):
    return [{**change, "value": change.get("value", 0)} for change in signed["changes"]]


async def both_must_sign(first, second, account):
    """Require two owners, and no longer, which the second owner signs on top of the first."""
    await does(first, "return keys.bring([await keys.sign([{kind: 'set_threshold', value: 2}])])")
    one = await does(first, "return keys.sign([{kind: 'set_threshold', value: 1}])")
    alone = await brings(first, [one], account)
    assert alone["name"] == "OperationFailed", alone
    cosigned = f"return keys.sign({json.dumps(one['changes'])}, {{cosigned: {json.dumps(one)}}})"
    two = await does(second, cosigned, account)
    late = await brings(second, [{**two, "sequence": 9}], account)
    assert "lacks the account's changes before 9" in late["message"], late
    assert (await brings(second, [two], account))["applied"] == 1
    assert (await brings(second, [two], account)) == {"chainId": 84532, "applied": 0, "userOpHash": None}
    other = await does(second, cosigned.replace('"value": 1', '"value": 2', 1), account)
    assert (other["name"], "signed different changes" in other["message"]) == ("TypeError", True)


@pytest.mark.soak  # tests/client/flows/test_account_commands.py and browser/test/exit_passkeys.test.js in the gate
async def test_a_passkey_that_is_an_owner_gives_a_new_vault_the_account(browser, chain):
    first, second = [await with_endpoint(browser, chain) for _ in range(2)]
    account, new = first.account, await does(second, "return keys.signer()")
    listed = await second.page.evaluate("client.vault.exec('resource:credentials action:list').then((it) => it.result)")
    passkey = passkey_signer(b64decode(listed[0]["public_key"]))
    assert passkey
    owner = f"return keys.sign([{{kind: 'add_owner', signer: '{new}'}}], {{passkey: {{}}}})"
    await does(first, f"return keys.bring([await keys.sign([{{kind: 'add_owner', signer: '{PAYEE}'}}])])")
    told = await does(second, owner, account)
    assert (told["name"], "not an owner of the account" in told["message"]) == ("OperationFailed", True)
    await does(first, f"return keys.bring([await keys.sign([{{kind: 'add_owner', signer: '0x{passkey.hex()}'}}])])")
    assert (await brings(second, [await does(second, owner, account)], account))["applied"] == 1
    view = await does(second, "return keys.view()", account)
    assert [each["signer"] for each in view["owners"]][2:] == [f"0x{passkey.hex()}", new]


LIE = Change(ChangeKind.ADD_OWNER, b"\7" * 64)


def of_text(signed):
    return signed_from_text(json.dumps({"holdfast": "account-changes", "version": 1, "changes": [signed]}))[0]


@pytest.mark.soak  # tests/client/flows/test_several_chains.py and browser/test/account_changes.test.js in the gate
async def test_forged_changes_in_front_hide_no_removal_of_a_stolen_key(browser, chain):
    first, second = [await with_endpoint(browser, chain) for _ in range(2)]
    account = first.account
    keys = [await does(person, "return keys.signer()") for person in (first, second)]
    lies = [SignedChanges(account, place, (LIE,), b"\7" * 100) for place in range(2)]
    forged = json.loads(signed_to_text(lies))["changes"]
    added = await does(first, f"return keys.sign([{{kind: 'add_owner', signer: '{keys[1]}'}}])")
    # A stranger submits the public changes, with forged ones after the arguments, where no contract reads them.
    key = int(keys[0][:66], 16), int(keys[0][66:], 16)
    to, _, data = create_account_with(ADDRESSES["AppFactory"], key, 0, [of_text(added)])
    chain.send(to, data + b"".join(apply_changes(lie)[2] for lie in lies))
    removed = await does(second, f"return keys.sign([{{kind: 'remove_owner', signer: '{keys[0]}'}}])", account)
    assert (await brings(second, [forged[1], removed, added, forged[1]], account))["applied"] == 1
    history = await does(second, "return keys.history()", account)
    assert [each["signature"] for each in history] == [
        each["signature"] for each in (forged[0], added, forged[1], removed)
    ]
    view = await does(second, "return keys.view()", account)
    assert [each["signer"] for each in view["owners"]] == [keys[1]]


async def test_an_app_spends_by_a_permission_and_no_further(browser, chain):
    owner, app = [await with_endpoint(browser, chain) for _ in range(2)]
    chain.give(owner.account, 9_000)
    spending = "const spending = await client.accountSpending();"
    terms = f"{{to: '{app.did}', token: '{chain.usdc}', allowance: 5000n, period: 3600, payee: '{PAYEE.lower()}'}}"
    allowed = await does(owner, f"{spending} return spending.allow(await spending.proposed({terms}))")

    def spent(amount, to=PAYEE):
        return f"{spending} return spending.spend('{allowed['container']}', {{to: '{to}', amount: {amount}n}})"

    before = chain.usdc_of(PAYEE)
    assert len(await does(app, spent(2_000))) == 66
    assert len(await does(app, spent(2_000))) == 66
    assert chain.usdc_of(PAYEE) - before == 4_000
    told = "return (await spending.list()).map((it) => [it.id, it.to, it.cid, Number(it.spent), Number(it.left)])"
    listed = [allowed["permissionId"], app.did, allowed["cid"], 4_000, 1_000]
    assert await does(owner, spending + told) == [listed]
    beyond, elsewhere = await does(app, spent(1_001)), await does(app, spent(1, owner.account))
    assert (beyond["code"], beyond["message"]) == ("permission", "1000 of the permission are left in this period")
    assert (elsewhere["name"], "does not allow" in elsewhere["message"]) == ("PaymentRefused", True)
    end = f"{spending} return spending.end('{allowed['permissionId']}')"
    assert len(await does(owner, end)) == 66
    assert await does(owner, end) is None
    assert "was revoked" in (await does(app, spent(1)))["message"]
