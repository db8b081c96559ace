"""The table of chains lists their block explorers, and the browser client uses the same ones."""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.rules.chains import CHAINS, NETWORKS, operation_page

PAYING = Path(__file__).parents[2] / "browser/src/flows/pay.js"
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


def test_the_browser_client_has_the_same_explorers() -> None:
    table = re.search(r"EXPLORERS = .*?\(\{(.*?)\}\)", PAYING.read_text(), re.DOTALL)
    assert table is not None
    shown = dict(re.findall(r'(\d+): "([^"]+)"', table[1]))
    assert shown == {str(number): network.explorer for number, network in NETWORKS.items()}
