from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.entry_points import ENTRY_POINTS
from holdfast.world.facts import next_steps, table_of

FACTS = {
    "service": "http://localhost:1",
    "rpc": "http://127.0.0.1:2",
    "bundler": "http://127.0.0.1:3",
    "indexer": "http://localhost:1/api/indexer",
    "chainId": 84532,
    "entryPoints": {entry_point.version: entry_point.address for entry_point in ENTRY_POINTS},
    "contracts": dict(ADDRESSES),
    "testAccount": {"address": "0x" + "1" * 40, "privateKey": "0x" + "2" * 64},
    "data": "/d",
    "outbox": "/d/outbox",
    "logs": "/l",
}


def test_the_table_shows_every_address_whole_and_what_to_try_next():
    lines = table_of(FACTS).splitlines()
    addresses = [*FACTS["entryPoints"].values(), *ADDRESSES.values(), *FACTS["testAccount"].values()]
    for value in (*addresses, FACTS["service"], FACTS["rpc"], FACTS["bundler"], FACTS["outbox"]):
        assert any(value in line for line in lines), value

    steps = next_steps(FACTS)
    assert any(FACTS["testAccount"]["address"] in step for step in steps)
    assert all(step in table_of(FACTS) for step in steps)
    assert steps[0].startswith("open http://localhost:1 "), "people begin with the pages"
