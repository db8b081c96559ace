"""The table of chains lists their block explorers, and the browser client uses the same ones."""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.rules.chains import BALANCE_CHAIN_IDS, CHAINS, operation_page

PAYING = Path(__file__).parents[2] / "browser/src/flows/chains.js"
HASH = "0x" + "ab" * 32


def test_the_interfaces_chains_have_an_explorer_that_shows_user_operations() -> None:
    assert {number: operation_page(CHAINS[number].explorer, HASH) for number in (84532, 8453, 1)} == {
        84532: f"https://base-sepolia.blockscout.com/op/{HASH}",
        8453: f"https://base.blockscout.com/op/{HASH}",
        1: f"https://eth.blockscout.com/op/{HASH}",
    }
    assert operation_page("", HASH) == ""


def test_every_row_is_of_its_id_and_one_network_has_test_money() -> None:
    assert all(chain.chain_id == number for number, chain in CHAINS.items())
    assert [number for number, chain in CHAINS.items() if chain.test_money] == [84532]
    assert set(BALANCE_CHAIN_IDS) <= set(CHAINS)


def test_the_browser_client_has_the_same_explorers() -> None:
    table = re.search(r"EXPLORERS = .*?\(\{(.*?)\}\)", PAYING.read_text(), re.DOTALL)
    assert table is not None
    shown = dict(re.findall(r'(\d+): "([^"]+)"', table[1]))
    assert shown == {str(number): chain.explorer for number, chain in CHAINS.items()}
