"""Registration and payments on a real local chain, through the client's public interface only."""

from __future__ import annotations

import asyncio
import secrets
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.blocking import asynchronous
from tests.support.payments import KEY, new_vault, payment, settled, someone
from tests.support.soak import cases
from tests.support.software_authenticator import SoftwareAuthenticator
from tests.support.terminal import Terminal

import holdfast
from holdfast.chain import calls
from holdfast.cli.exits import Exit
from holdfast.client import types
from holdfast.client.blocking.loop import run
from holdfast.client.flows.accounts import STATE_AGE_S
from holdfast.client.flows.operations import OperationFailed
from holdfast.client.flows.payee import payee_of
from holdfast.client.flows.payment import PaymentRefused
from holdfast.client.flows.registration import Registration
from holdfast.client.passkeys import Authenticator, Person
from holdfast.client.storage.vault_store import VaultStore
from holdfast.wire.client_errors import NetworkError
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import alias_hash, checksum_address, did_hash
from holdfast.world.software_key import SoftwareKey

SEEN = []


@pytest.fixture
def store(tmp_path):
    with VaultStore(directory=tmp_path) as opened:
        yield opened


@pytest.fixture
def client(chain, store):
    vault = new_vault(store)
    with holdfast.Client(chain.base_url, vault=vault, timeout=60) as made:
        yield made
    vault.close()


@pytest.fixture
def registered(client):
    return client.register(handle="h" + secrets.token_hex(6), on_progress=SEEN.append)


def test_a_handle_is_registered_on_the_chain_and_at_the_service(client, chain):
    handle, steps = "h" + secrets.token_hex(6), []
    made = client.register(handle=handle, on_progress=steps.append)
    assert isinstance(made, Registration)
    assert steps == ["session", "sent to the chain", "on the chain", "registered"]
    assert made.did == client.vault.status().did
    assert settled(client, made.smart_account).is_active
    assert client.check_alias(handle).did == made.did
    assert client.register(handle=handle) == made
    assert client.register(handle="other" + secrets.token_hex(4)) == made


def test_a_payment_arrives_and_waits_for_its_receipt(client, chain, registered):
    chain.give(registered.smart_account, 5_000_000)
    payee, steps = someone(), []
    result = client.pay(payment(chain, payee, 1_500_000, label="lunch"), on_progress=steps.append)
    assert chain.usdc_of(payee) == 1_500_000
    assert steps == ["prepared", "signed", "sent", "confirmed"]
    assert result.tx_hash == result.user_op_hash
    assert result.to_json() == {
        "txHash": result.user_op_hash,
        "userOpHash": result.user_op_hash,
        "chain": 84532,
        "token": chain.usdc,
        "explorerUrl": f"https://base-sepolia.blockscout.com/op/{result.user_op_hash}",
    }
    (noted,) = client.payments()
    assert (noted.hash, noted.state, noted.label) == (result.user_op_hash, "confirmed", "lunch")
    assert (noted.to, noted.address, noted.amount, noted.symbol) == (payee, payee, "1.5", "USDC")


def test_the_transaction_that_carried_a_payment_is_told(client, chain, registered):
    chain.give(registered.smart_account, 5)
    result = client.pay(payment(chain, someone(), 5))
    receipt = client.user_operation_receipt(result.user_op_hash)
    assert receipt.transaction_hash != result.tx_hash
    mined = chain.receipt(receipt.transaction_hash)
    assert (mined.block_number, mined.succeeded) == (receipt.block_number, True)
    assert from_hex(result.user_op_hash) in {topic for log in mined.logs for topic in log.topics}
    assert (receipt.success, receipt.reason) == (True, None)
    assert client.user_operation_receipt("0x" + "11" * 32) is None
    assert client.user_operation_receipt("0x" + "11" * 32, within_s=0.2) is None
    with pytest.raises(ValueError, match="64 hexadecimal"):
        client.user_operation_receipt("0x11")


@pytest.mark.parametrize(
    ("written", "canonical"),
    [("\uff21da{}", "ada{}"), ("\u00c4DA{}", "\u00e4da{}"), ("A\u0308da{}", "\u00e4da{}"), ("ADA{}", "ada{}")],
)
def test_the_alias_on_the_chain_is_the_handle_that_the_service_knows(client, chain, written, canonical):
    end = secrets.token_hex(5)
    made = client.register(handle=written.format(end))
    alias = canonical.format(end)
    assert chain.read("DIDRegistry", "getAlias(bytes32)", alias_hash(alias))[:32] == did_hash(made.did)
    assert client.check_alias(alias).did == made.did


def test_an_account_that_pays_itself_needs_no_block_from_elsewhere(chain, tmp_path):
    """The local chain mines a block only for a transaction, so its bundler mines an extra block after a commitment."""
    gas = holdfast.GasPolicy(sponsored=False)
    with (
        VaultStore(directory=tmp_path) as store,
        new_vault(store) as vault,
        holdfast.Client(chain.base_url, vault=vault, timeout=60, gas=gas) as client,
    ):
        chain.fund(client.smart_account_address(), 10**18)
        steps = []
        client.register(handle="h" + secrets.token_hex(6), on_progress=steps.append)
    assert steps == ["session", "commitment sent", "committed", "sent to the chain", "on the chain", "registered"]


def test_after_a_change_of_keys_payments_to_the_did_still_arrive(client, chain, registered):
    """The DID is still derived from the first key, and so is the address."""
    account, new = registered.smart_account, SoftwareKey.generate()
    perform(client, calls.set_public_key(account, new.x, new.y))
    time.sleep(STATE_AGE_S)
    until(lambda: client.indexer_account(account).found)
    mine = asynchronous(client)._account()
    run(mine.open())
    assert run(payee_of(asynchronous(client), registered.did, mine)).address == account
    with pytest.raises(OperationFailed, match="controlled by another key"):
        client.pay(payment(chain, someone(), 1))


def perform(client, call):
    """Send one user operation from the vault's account and wait for its receipt."""

    async def flow():
        account = asynchronous(client)._account()
        await account.open()
        await account.wait(await account.send(await account.signed(await account.prepared(call))))

    run(flow())


def until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.parametrize("face", cases({"blocking": "blocking", "asyncio": "asyncio"}, "blocking"))
def test_a_vault_whose_second_share_lies_elsewhere_registers_and_pays(chain, store, face):
    kept, asked, payee = [], [], someone()

    def fetch():
        asked.append(1)
        return kept[0]

    passkey = Authenticator("http://localhost:8787", SoftwareAuthenticator()).create_passkey(Person("ada"))
    given = types.GenerateInput(credential=passkey.credential)

    def keep(shares):
        kept.append(shares.val_share)

    def blocking():
        with holdfast.Vault(store, val_share=fetch) as vault:
            vault.generate(given, KEY, keep_share=keep)
            with holdfast.Client(chain.base_url, vault=vault, timeout=60) as client:
                account = client.register(handle="h" + secrets.token_hex(6)).smart_account
                chain.give(account, 1_000)
                client.pay(payment(chain, payee, 1_000))

    async def awaited():
        async with holdfast.AsyncVault(store, val_share=fetch) as vault:
            await vault.generate(given, KEY, keep_share=keep)
            async with holdfast.AsyncClient(chain.base_url, vault=vault, timeout=60) as client:
                account = (await client.register(handle="h" + secrets.token_hex(6))).smart_account
                await asyncio.to_thread(chain.give, account, 1_000)
                await client.pay(payment(chain, payee, 1_000))

    blocking() if face == "blocking" else asyncio.run(awaited())
    assert chain.usdc_of(payee) == 1_000
    assert len(asked) >= 2


def test_a_payment_that_fails_inside_is_an_error(client, chain, registered):
    with pytest.raises(OperationFailed):
        client.pay(payment(chain, someone(), 10**12))
    assert client.payments() == [], "nothing was signed"


def test_what_cannot_be_a_payment_is_refused(client, chain, registered):
    good = payment(chain, someone(), 5).to_json()
    for name, bad in [
        ("amount", "0"),
        ("amount", "-1"),
        ("amount", "1.5"),
        ("token", "DOGE"),
        ("chainId", 1),
        ("to", "bob"),
    ]:
        with pytest.raises(ValueError, match=name):
            client.pay(types.PaymentParams.from_json({**good, name: bad}))


def test_a_did_is_paid_through_the_indexer(client, chain, registered, tmp_path):
    with (
        VaultStore(directory=tmp_path / "other") as other_store,
        new_vault(other_store, "bob") as other,
        holdfast.Client(chain.base_url, vault=other, timeout=60) as bob,
    ):
        found = bob.register(handle="b" + secrets.token_hex(6))
    chain.give(registered.smart_account, 1_000)
    for _ in range(300):  # until it is indexed
        try:
            client.pay(payment(chain, found.did, 1_000))
            break
        except PaymentRefused:
            asyncio.run(asyncio.sleep(0.2))
    assert chain.usdc_of(found.smart_account) == 1_000
    with pytest.raises(PaymentRefused, match="not registered"):
        client.pay(payment(chain, "did:new:0x" + "00" * 32, 5))


def delegated(client, policy, to="did:key:zDnaeauPWVsCwreeRxYutKVufGz8e1VMn4x9p6J9PswiH8KPG", command="/accounts/pay"):
    given = types.DelegationOptions(to=to, command=command, caveats={"policy": policy})
    return client.vault.mint_delegation(given)


def test_a_delegations_limits_hold_before_anything_is_signed(client, chain, registered):
    chain.give(registered.smart_account, 1_000_000)
    payee = someone()
    token = delegated(client, [["<=", ".amount", 300], ["<=", ".total", 500], ["==", ".to", payee]])
    client.pay(payment(chain, payee, 300, ucan=token.container))
    for amount, to in ((301, payee), (201, payee), (1, someone())):
        with pytest.raises(PaymentRefused, match="policy_denied"):
            client.pay(payment(chain, to, amount, ucan=token.container))
    client.pay(payment(chain, payee, 200, ucan=token.container))
    with pytest.raises(PaymentRefused, match="policy_denied"):
        client.pay(payment(chain, payee, 1, ucan=token.container))
    assert chain.usdc_of(payee) == 500


def test_other_commands_revoked_and_foreign_tokens_do_not_pay(client, chain, registered, tmp_path):
    other_command = delegated(client, [], command="/accounts/list")
    with pytest.raises(PaymentRefused, match="command_denied"):
        client.pay(payment(chain, someone(), 1, ucan=other_command.container))
    revoked = delegated(client, [])
    assert client.vault.exec("resource:delegations action:revoke", {"cid": revoked.cid}).success
    with pytest.raises(PaymentRefused, match="token_revoked"):
        client.pay(payment(chain, someone(), 1, ucan=revoked.container))
    with VaultStore(directory=tmp_path / "thief") as thief_store, new_vault(thief_store, "eve") as thief:
        theirs = thief.mint_delegation(types.DelegationOptions(to=thief.did_key(), command="/accounts/pay"))
    with pytest.raises(PaymentRefused):
        client.pay(payment(chain, someone(), 1, ucan=theirs.container))
    with pytest.raises(PaymentRefused):
        client.pay(payment(chain, someone(), 1, ucan="AAAA"))


def test_an_interrupted_registration_goes_on_and_registers_once(client, chain, monkeypatch):
    handle = "h" + secrets.token_hex(6)
    for step in ("session", "sent to the chain", "on the chain"):

        def stop(told, step=step):
            if told == step:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            client.register(handle=handle, on_progress=stop)
    made = client.register(handle=handle)
    assert settled(client, made.smart_account).nonce == "1"
    assert made.tx_hash != "0x" + "00" * 32


def test_a_lost_answer_does_not_register_twice(client, chain, monkeypatch):
    handle, real = "h" + secrets.token_hex(6), asynchronous(client).register_did

    async def lost(**fields):
        await real(**fields)
        raise NetworkError("no answer (ReadTimeout)")

    monkeypatch.setattr(asynchronous(client), "register_did", lost)
    with pytest.raises(NetworkError):
        client.register(handle=handle)
    monkeypatch.undo()
    assert client.register(handle=handle).identifier == handle


def test_the_asyncio_face_registers_and_pays(chain, tmp_path):
    async def journey():
        with VaultStore(directory=tmp_path) as store:
            async with holdfast.AsyncVault(store) as vault:
                passkey = Authenticator("http://localhost:8787", SoftwareAuthenticator()).create_passkey(Person("ada"))
                await vault.generate(types.GenerateInput(credential=passkey.credential), KEY)
                async with holdfast.AsyncClient(chain.base_url, vault=vault, timeout=60) as client:
                    made = await client.register(handle="h" + secrets.token_hex(6))
                    await asyncio.to_thread(chain.give, made.smart_account, 100)
                    payee = someone()
                    await client.pay(payment(chain, payee, 100))
                    assert await asyncio.to_thread(chain.usdc_of, payee) == 100

    asyncio.run(journey())


def test_the_commands_register_and_pay(chain, tmp_path):
    """A person creates a vault, registers, looks up the identity, delegates and pays."""
    terminal = Terminal(tmp_path / "vault", chain.base_url)
    # Creates a new passkey, because a credential can be registered only once.
    fresh = Authenticator("http://localhost:8787", SoftwareAuthenticator()).create_passkey(Person("ada"))
    (tmp_path / "credential").write_text(fresh.credential)
    terminal.json("vault", "create", "--credential", str(tmp_path / "credential"))
    handle = "c" + secrets.token_hex(6)
    made = terminal.json("register", "--handle", handle)
    known = terminal.json("whoami")
    assert (known["registered"]["identifier"], known["smartAccount"]) == (handle, made["smart_account"])
    assert f"account {made['smart_account']}\n" in terminal.run("whoami").stdout
    chain.give(made["smart_account"], 1_000)
    time.sleep(STATE_AGE_S)
    assert [it["balance"] for it in terminal.json("balance")["balances"]] == ["0", "1000"]
    assert (
        terminal.run("balance").stdout
        == f"account {made['smart_account']}\n0.0 ETH and 0.001000 USDC on Base Sepolia (84532), test money without value\n"
    )
    payee = someone()
    token = terminal.json("vault", "delegate", made["did"], "/accounts/pay", "--at-most", "600", "--payee", payee)[
        "token"
    ]
    words = ("--token", chain.usdc, "--ucan", token, "--yes")
    terminal.run("pay", payee, "601", *words, code=Exit.FAILED)
    paid = terminal.json("pay", payee, "600", *words)
    assert paid["chain"] == 84532
    assert paid["txHash"] == paid["userOpHash"] != paid["transactionHash"]
    assert chain.receipt(paid["transactionHash"]).succeeded
    assert chain.usdc_of(payee) == 600
    shown = terminal.run("pay", payee, "1", "--token", chain.usdc, "--yes").stdout.splitlines()
    assert [line.split(" ")[0] for line in shown[:2]] == ["paid:", "transaction:"]
    assert chain.receipt(shown[1].split(" ")[1]).succeeded
    # A pipe cannot confirm a payment, so nothing is paid without --yes, whatever the input.
    terminal.run("pay", payee, "1", "--token", chain.usdc, typed="y\n", code=Exit.USAGE)
    assert chain.usdc_of(payee) == 601
    assert [note["amount"] for note in terminal.json("payments")["payments"]] == ["0.0006", "0.000001"]


def test_an_invocation_pays_once(client, chain, registered, tmp_path):
    chain.give(registered.smart_account, 1_000)
    payee = someone()
    with VaultStore(directory=tmp_path / "agent") as agent_store, new_vault(agent_store, "agent") as agent:
        delegation = delegated(client, [["<=", ".amount", 50]], to=agent.did_key())
        args = {"to": payee, "amount": 50, "token": checksum_address(bytes.fromhex(chain.usdc[2:])), "chainId": 84532}
        asking = types.InvocationOptions(command="/accounts/pay", args=args, token=delegation.container)
        invocation = agent.mint_invocation(asking).container
    with pytest.raises(PaymentRefused):  # a payment that the invocation does not match does not use it up
        client.pay(payment(chain, payee, 49, ucan=invocation))
    client.pay(payment(chain, payee, 50, ucan=invocation))
    with pytest.raises(PaymentRefused, match="used before"):
        client.pay(payment(chain, payee, 50, ucan=invocation))
    assert chain.usdc_of(payee) == 50


def test_parallel_payments_stay_within_the_total(client, chain, registered):
    chain.give(registered.smart_account, 1_000)
    payee, token = someone(), delegated(client, [["<=", ".total", 30]]).container

    def attempt(_number):
        try:
            return client.pay(payment(chain, payee, 10, ucan=token))
        except PaymentRefused:
            return None

    with ThreadPoolExecutor(6) as pool:
        made = [result for result in pool.map(attempt, range(6)) if result is not None]
    assert (len(made), chain.usdc_of(payee)) == (3, 30)
