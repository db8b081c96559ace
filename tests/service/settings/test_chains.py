"""HOLDFAST_CHAIN chooses the main chain; a chain file adds chains, and its mistakes are named without their values."""

import itertools
import re
from pathlib import Path

import pytest

from holdfast.indexer.settings import read_settings as read_indexer_settings
from holdfast.service.settings.chains import served_chains
from holdfast.service.settings.values import read_settings
from holdfast.settings.rows import SettingError

OWN = """
[[chain]]
id = 4217
name = "Our chain"
rpc = "https://rpc.example/v2/hunter2"
real_money = true
"""
USDC = "0x" + "5c" * 20


def chains_of(**settings):
    served = served_chains(read_settings({f"HOLDFAST_{name.upper()}": value for name, value in settings.items()}))
    return served.main.chain_id, {chain_id: chain.rpc for chain_id, chain in served.chains.items()}


def file_of(folder, text):
    file = folder / "chains.toml"
    file.write_text(text)
    return str(file)


@pytest.mark.parametrize(("settings", "chains"), [
    ({}, [(84532, "https://sepolia.base.org"), (8453, "https://mainnet.base.org")]),
    ({"chain": "8453"}, [(8453, "https://mainnet.base.org"), (84532, "https://sepolia.base.org")]),
    ({"chain": "8453", "rpc_url_8453": "https://a.example"}, [(8453, "https://a.example"), (84532, "https://sepolia.base.org")]),
    ({"chain": "8453", "rpc_url_8453": "https://a.example", "rpc_url": "https://b.example"},
     [(8453, "https://b.example"), (84532, "https://sepolia.base.org")]),
])  # fmt: skip
def test_the_main_chain_comes_first_and_its_endpoint_may_be_set(settings, chains):
    main, endpoints = chains_of(**settings)
    assert (main, list(endpoints.items())) == (chains[0][0], chains)


def test_a_chain_of_the_file_may_be_the_main_chain_and_a_row_of_a_known_one_changes_what_it_names(tmp_path):
    file = file_of(tmp_path, OWN + f'bundler = "https://b.example/key"\ntokens = {{ USDC = "{USDC}" }}\n')
    environment = {"HOLDFAST_CHAIN": "4217", "HOLDFAST_CHAIN_FILE": file}
    settings = read_settings(environment)
    assert (settings.rpc_url, settings.bundler_url) == ("https://rpc.example/v2/hunter2", "https://b.example/key")
    main = served_chains(settings).main
    assert (main.name, main.test_money, main.usdc, main.shown_rpc) == ("Our chain", False, USDC, "https://rpc.example")
    assert read_settings({**environment, "HOLDFAST_RPC_URL": "https://a.example"}).rpc_url == "https://a.example"
    indexer = read_indexer_settings(environment)
    assert (indexer.follow.chain_id, indexer.rpc_url, indexer.token) == (4217, settings.rpc_url, b"\x5c" * 20)
    main, endpoints = chains_of(chain="1")
    assert (main, list(endpoints)) == (1, [1, 84532, 8453])
    file = file_of(tmp_path, '[[chain]]\nid = 8453\nrpc = "https://a.example/key"\nbundler = "https://b.example"\n')
    base = served_chains(read_settings({"HOLDFAST_CHAIN_FILE": file})).chains[8453]
    assert (base.name, base.test_money, base.rpc, base.bundler) == (
        "Base", False, "https://a.example/key", "https://b.example",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("chain", "value", "message"),
    [(1, "false", "Ethereum has real money"), (84532, "true", "Base Sepolia has test money")],
)
def test_no_row_says_that_real_money_is_test_money(tmp_path, chain, value, message):
    row = f"[[chain]]\nid = {chain}\nreal_money = "
    with pytest.raises(SettingError) as caught:
        chains_of(chain_file=file_of(tmp_path, row + value))
    assert str(caught.value) == (
        f"HOLDFAST_CHAIN_FILE: chain 1 of the file (id {chain}): `real_money`: {message}; leave the field out"
    )
    chains_of(chain_file=file_of(tmp_path, row + ("true" if value == "false" else "false")))


def test_an_unknown_chain_and_what_is_no_id_are_refused_by_service_and_indexer():
    told = "this chain is not known; known are 84532, 8453, 1; describe others in HOLDFAST_CHAIN_FILE$"
    of = {"4217": told, **dict.fromkeys(("base", "0", "-1", "8453.0", "9" * 18), "the ID of a chain is needed")}
    for (chain, why), read in itertools.product(of.items(), (read_settings, read_indexer_settings)):
        with pytest.raises(SettingError, match=f"^HOLDFAST_CHAIN: {why}"):
            read({"HOLDFAST_CHAIN": chain})


ROW = "chain 1 of the file (id 4217)"


@pytest.mark.parametrize(("text", "message"), [
    ("", "each chain begins with a line [[chain]], and nothing stands outside of them"),
    ("id = 4217", "each chain begins with a line [[chain]], and nothing stands outside of them"),
    ("[[chain]]\nid = hunter2", "the file is not TOML (line 2, column 6)"),
    ('[[chain]]\nid = "hunter2"', "chain 1 of the file: `id` must be the chain's ID, a whole number"),
    ("[[chain]]\nid = true", "chain 1 of the file: `id` must be the chain's ID, a whole number"),
    ("[[chain]]\nid = 4217", f"{ROW}: `name`, `rpc`, `real_money` must be given"),
    (OWN + 'exploer = "hunter2"', (f"{ROW}: `exploer` is not a field; there are `id`, `name`, `rpc`, `public_rpc`,"
     " `bundler`, `explorer`, `tokens`, `real_money`")),
    (OWN + 'bundler = "hunter2"', f"{ROW}: `bundler`: an http:// or https:// address is needed"),
    (OWN + "explorer = 7", f"{ROW}: `explorer`: a text in quotation marks is needed"),
    (OWN + 'tokens = { USDC = "hunter2" }', f"{ROW}: `tokens`: 0x and 40 hex digits are needed"),
    (OWN + 'tokens = { DAI = "hunter2" }', (f'{ROW}: `tokens`: a table such as {{ USDC = "0x…" }} is needed;'
     " Holdfast names no other token")),
    (OWN.replace("true", '"yes"'), f"{ROW}: `real_money`: true or false is needed"),
    (OWN + OWN, "chain 2 of the file: the id 4217 stands there twice"),
])  # fmt: skip
def test_a_mistake_in_the_file_is_named_without_its_value(tmp_path, text, message):
    with pytest.raises(SettingError) as caught:
        read_settings({"HOLDFAST_CHAIN_FILE": file_of(tmp_path, text)})
    assert str(caught.value) == f"HOLDFAST_CHAIN_FILE: {message}"


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "large").write_bytes(b"#" * (256 * 1024 + 1))
    (tmp_path / "latin").write_bytes(b"\xff")
    for name, told in (
        ("missing", "cannot be read .No such"),
        ("large", "has more than 256 KiB"),
        ("latin", "is not UTF-8"),
    ):
        with pytest.raises(SettingError, match=f"^HOLDFAST_CHAIN_FILE: the file {told}"):
            read_settings({"HOLDFAST_CHAIN_FILE": str(tmp_path / name)})


def test_the_example_of_the_page_is_a_chain_file(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "settings.md").read_text("utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "chains.toml").write_text(example.replace("0x…", "0x" + "11" * 20))
    settings = read_settings({"HOLDFAST_CHAIN_FILE": str(tmp_path / "chains.toml"), "HOLDFAST_CHAIN": "4217"})
    assert settings.rpc_url == "https://rpc.our.example" and settings.public_rpc_url == "https://public.our.example"
