"""Two local chains: a service on one with the ID of Base, and one on the test network that pays on both."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

import pytest
from tests.support.availability import why_no_chain
from tests.support.chain_service import ChainService, chain_service
from tests.support.payments import new_vault, payment, someone
from tests.support.terminal import Terminal

import holdfast
from holdfast.chain.signers import key_id
from holdfast.client.storage.vault_store import VaultStore
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import did_hash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BASE, TEST = 8453, 84532
INDEXED_WITHIN_S = 30
SAID = {BASE: "Base (8453), real money", TEST: "Base Sepolia (84532), test money without value"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChainService]:
    """A service whose main chain is a local one with the ID of Base."""
    if why := why_no_chain():
        pytest.skip(why)
    with chain_service(tmp_path_factory.mktemp("base"), chain_id=BASE) as running:
        yield running


@pytest.fixture(scope="module")
def both(chain: ChainService, base: ChainService, tmp_path_factory: pytest.TempPathFactory) -> ChainService:
    """A service on the test network that serves the other chain too."""
    folder = tmp_path_factory.mktemp("both")
    file = folder / "chains.toml"
    file.write_text(base.row)
    return chain.another(folder / "data", chain.bundler_url, HOLDFAST_CHAIN_FILE=str(file))


@pytest.fixture
def client(both: ChainService, tmp_path: Path) -> Iterator[holdfast.Client]:
    with (
        VaultStore(directory=tmp_path) as store,
        new_vault(store) as vault,
        holdfast.Client(both.base_url, vault=vault, timeout=60) as made,
    ):
        yield made


def test_a_vault_registers_and_pays_on_base(base: ChainService, tmp_path: Path) -> None:
    with (
        VaultStore(directory=tmp_path) as store,
        new_vault(store) as vault,
        holdfast.Client(base.base_url, vault=vault, timeout=60) as client,
    ):
        handle = "h" + secrets.token_hex(6)
        made = client.register(handle=handle)
        assert (
            base.read("DIDRegistry", "getDid(bytes32)", did_hash(made.did))[12:32].hex()
            == made.smart_account[2:].lower()
        )
        status, payee = client.status(), someone()
        assert (status.chain, status.chain_id, client.contracts().chain_id) == ("Base", BASE, BASE)
        assert client.indexer_health().chain == BASE
        base.give(made.smart_account, 5_000_000)
        paid = client.pay(payment(base, payee, 1_500_000, chain_id=BASE))
        assert (base.usdc_of(payee), paid.chain) == (1_500_000, BASE)
        assert paid.explorer_url == f"https://base.blockscout.com/op/{paid.user_op_hash}"
        assert client.balance(payee, "USDC", BASE).formatted == "1.500000"
        with pytest.raises(ValueError, match="this service pays on chain 8453, not on 84532"):
            client.pay(payment(base, payee, 1, chain_id=TEST))


def test_one_account_pays_on_two_chains(client: holdfast.Client, chain: ChainService, base: ChainService) -> None:
    account, payee = client.smart_account_address(), someone()
    chain.give(account, 100)
    base.give(account, 100)
    for place, chain_id, amount in ((chain, TEST, 1), (base, BASE, 20), (base, BASE, 3)):
        result = client.pay(payment(place, payee, amount, chain_id=chain_id))
        receipt = client.user_operation_receipt(result.user_op_hash, chain_id=chain_id)
        assert receipt is not None and place.receipt(receipt.transaction_hash) is not None
    assert (chain.usdc_of(payee), base.usdc_of(payee)) == (1, 23)
    assert [client.balance(account, "USDC", each).balance for each in (TEST, BASE)] == ["99", "77"]
    assert [client.money_on(each) for each in (TEST, BASE)] == [SAID[TEST], SAID[BASE]]
    assert [(each.chain_id, each.main, each.test_money, each.payments) for each in client.chains().chains] == [
        (TEST, True, True, True),
        (BASE, False, False, True),
    ]
    client.register(handle="h" + secrets.token_hex(6))
    assert [(note.amount, note.symbol, note.state) for note in client.payments()] == [
        ("0.000001", "USDC", "confirmed"),
        ("0.00002", "USDC on Base", "confirmed"),
        ("0.000003", "USDC on Base", "confirmed"),
    ]
    with pytest.raises(ValueError, match="pays on chain 84532, not on 1"):
        client.pay(payment(chain, payee, 1, chain_id=1))


def test_a_did_is_paid_on_another_chain_at_its_address(
    client: holdfast.Client, both: ChainService, base: ChainService, tmp_path: Path
) -> None:
    (tmp_path / "payee").mkdir()
    with (
        VaultStore(directory=tmp_path / "payee") as store,
        new_vault(store, "bob") as vault,
        holdfast.Client(both.base_url, vault=vault, timeout=60) as bob,
    ):
        did = bob.register(handle="h" + secrets.token_hex(6)).did
        address = bob.smart_account_address()
        end = time.monotonic() + INDEXED_WITHIN_S
        while not bob.indexer_did(to_hex(did_hash(did))).active and time.monotonic() < end:
            time.sleep(0.05)
    base.give(client.smart_account_address(), 7)
    client.pay(payment(base, did, 7, chain_id=BASE))
    assert base.usdc_of(address) == 7


def test_the_command_line_says_whose_money_is_real(
    both: ChainService, base: ChainService, chain: ChainService, tmp_path: Path
) -> None:
    terminal = Terminal(tmp_path, both.base_url.replace("127.0.0.1", "localhost"), key="passkey")
    terminal.json("vault", "create", "--software")
    account = terminal.json("whoami")["smartAccount"]
    for place, chain_id in ((chain, TEST), (base, BASE)):
        place.give(account, 5)
        chosen = ("--chain", str(chain_id))
        assert terminal.run("balance", *chosen).stdout.endswith(f"0.000005 USDC on {SAID[chain_id]}\n")
        assert terminal.json("pay", someone(), "1", "--token", place.usdc, *chosen, "--yes")["chain"] == chain_id


def test_an_owner_is_added_on_every_chain_of_the_service_by_one_signature(
    both: ChainService, chain: ChainService, base: ChainService, tmp_path: Path
) -> None:
    ada = Terminal(tmp_path, both.base_url.replace("127.0.0.1", "localhost"), key="passkey")
    ada.json("vault", "create", "--software")
    added = "0x" + secrets.token_hex(20)
    done = ada.json("account", "owners", "add", added, "--yes")
    assert [(row["chainId"], row["applied"], row["error"]) for row in done["chains"]] == [
        (TEST, 1, None),
        (BASE, 1, None),
    ]
    state = ("keyState(bytes32)", key_id(bytes.fromhex(added[2:])))
    assert [place.call(done["account"], *state)[31] for place in (chain, base)] == [1, 1]
    assert [(row["chainId"], row["applied"]) for row in ada.json("account", "bring")["chains"]] == [(BASE, 0)]
