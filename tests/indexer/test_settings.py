from pathlib import Path

import pytest

from holdfast.chain.contracts import addresses
from holdfast.indexer.runtime import identity
from holdfast.indexer.settings import read_settings
from holdfast.settings.rows import SettingError

SECRET = "kEy5ecret"


def test_nothing_set_means_our_contracts_on_the_public_test_chain():
    settings = read_settings({})
    assert settings.registry.hex() == addresses.DID_REGISTRY[2:].lower()
    assert settings.factory.hex() == addresses.APP_FACTORY[2:].lower()
    assert settings.follow.chain_id == 84532
    assert settings.rpc_url.startswith("https://")
    assert settings.sqlite_path.name == "indexer.db"


def test_every_variable_counts():
    settings = read_settings(
        {
            "HOLDFAST_RPC_URL": f"http://localhost:1/{SECRET}", "HOLDFAST_CONTRACT_DID_REGISTRY": "0x" + "aa" * 20,
            "HOLDFAST_CONTRACT_APP_FACTORY": "0x" + "BB" * 20, "HOLDFAST_DATA_DIR": "/srv/data",
            "HOLDFAST_INDEXER_START_BLOCK": "12", "HOLDFAST_INDEXER_JOURNAL_BLOCKS": "34",
            "HOLDFAST_INDEXER_POLL_SECONDS": "0.5", "HOLDFAST_INDEXER_BEHIND_SECONDS": "0",
            "HOLDFAST_INDEXER_HOST": "::1", "HOLDFAST_INDEXER_PORT": "9000",
        }
    )  # fmt: skip
    assert (settings.host, settings.port) == ("::1", 9000) and SECRET not in repr(settings)
    assert (settings.registry, settings.factory) == (b"\xaa" * 20, b"\xbb" * 20)
    assert settings.sqlite_path == Path("/srv/data/indexer.db")
    assert read_settings({"HOLDFAST_INDEXER_DATABASE_URL": "sqlite:////x/y.db"}).sqlite_path == Path("/x/y.db")
    elsewhere = read_settings({"HOLDFAST_DATABASE_URL": "postgresql://u:p@h/d", "HOLDFAST_DATA_DIR": "/srv/data"})
    assert elsewhere.sqlite_path == Path("/srv/data/indexer.db"), "the index is in a file"
    follow = settings.follow
    assert (follow.start_block, follow.journal_blocks, follow.poll_s, follow.behind_patience_s) == (12, 34, 0.5, 0.0)


@pytest.mark.parametrize(("name", "value"), [
    ("HOLDFAST_RPC_URL", f"ftp://{SECRET}"),
    ("HOLDFAST_LOG", SECRET),
    ("HOLDFAST_INDEXER_DATABASE_URL", f"postgresql://{SECRET}"),
    ("HOLDFAST_CONTRACT_DID_REGISTRY", SECRET),
    ("HOLDFAST_CONTRACT_APP_FACTORY", "0x12"),
    ("HOLDFAST_INDEXER_START_BLOCK", "-1"),
    ("HOLDFAST_INDEXER_START_BLOCK", "1" * 30),
    ("HOLDFAST_INDEXER_JOURNAL_BLOCKS", "0"),
    ("HOLDFAST_INDEXER_PORT", "0"),
    ("HOLDFAST_INDEXER_PORT", "65536"),
    ("HOLDFAST_INDEXER_POLL_SECONDS", "soon"),
    ("HOLDFAST_INDEXER_POLL_SECONDS", "inf"),
    ("HOLDFAST_INDEXER_BEHIND_SECONDS", "-1"),
])  # fmt: skip
def test_a_wrong_value_names_its_variable_and_not_itself(name, value):
    with pytest.raises(SettingError) as caught:
        read_settings({name: value})
    assert name in str(caught.value)
    assert SECRET not in str(caught.value)


def test_an_index_is_of_its_chain_contracts_and_start():
    usual = identity(read_settings({}))
    assert usual == identity(read_settings({"HOLDFAST_RPC_URL": "http://elsewhere"}))
    for name, value in {
        "HOLDFAST_CONTRACT_DID_REGISTRY": "0x" + "aa" * 20,
        "HOLDFAST_CONTRACT_APP_FACTORY": "0x" + "aa" * 20,
        "HOLDFAST_INDEXER_START_BLOCK": "1",
    }.items():
        assert identity(read_settings({name: value})) != usual
