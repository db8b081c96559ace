"""THE table of chains: explorers, and the payment page's names of the same chains."""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.rules.chains import CHAINS, NETWORKS, operation_page

CONFIRM = Path(__file__).parents[2] / "src/holdfast/service/static/pay/confirm.js"
HASH = "0x" + "ab" * 32


def test_the_interfaces_chains_have_an_explorer_that_shows_user_operations() -> None:
    assert {number: operation_page(number, HASH) for number in (84532, 8453, 1)} == {
        84532: f"https://base-sepolia.blockscout.com/op/{HASH}",
        8453: f"https://base.blockscout.com/op/{HASH}",
        1: f"https://eth.blockscout.com/op/{HASH}",
    }
    assert operation_page(31337, HASH) == ""


def test_the_service_asks_two_of_them() -> None:
    assert set(CHAINS) == {84532, 8453}
    assert all(NETWORKS[number] is chain and chain.chain_id == number for number, chain in CHAINS.items())


def test_the_payment_page_names_the_same_chains() -> None:
    table = re.search(r"CHAINS = \{(.*?)\}", CONFIRM.read_text(), re.DOTALL)
    assert table is not None
    shown = dict(re.findall(r'(\d+): "([^"]+)"', table[1]))
    assert shown == {str(number): f"{network.name} ({number})" for number, network in NETWORKS.items()}
