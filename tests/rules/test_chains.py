"""The table of chains."""

from holdfast.rules.chains import CHAINS, known_money_text, operation_page

HASH = "0x" + "ab" * 32


def test_the_interfaces_chains_have_an_explorer_that_shows_user_operations():
    assert {number: operation_page(CHAINS[number].explorer, HASH) for number in (84532, 8453, 1)} == {
        84532: f"https://base-sepolia.blockscout.com/op/{HASH}",
        8453: f"https://base.blockscout.com/op/{HASH}",
        1: f"https://eth.blockscout.com/op/{HASH}",
    }
    assert operation_page("", HASH) == ""


def test_money_is_called_what_it_is():
    assert [known_money_text(chain_id) for chain_id in (84532, 8453, 1, 10)] == [
        "Base Sepolia (84532), test money without value",
        "Base (8453), real money",
        "Ethereum (1), real money",
        "chain 10",
    ]
