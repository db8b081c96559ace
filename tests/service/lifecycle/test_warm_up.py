"""After startup, a background thread loads modules that would otherwise delay the first request of each kind."""

import json
import subprocess
import sys

import pytest
from tests.support.serving import environment_of
from tests.support.soak import cases

from holdfast.service.lifecycle import warm_up

PROGRAM = """
import asyncio, json, sys
from holdfast.rules.identifiers import Channel, parse_identifier
from holdfast.service.lifecycle import warm_up
from holdfast.service.bootstrap.services import build_service
from holdfast.service.bootstrap.stores import open_store
from holdfast.service.settings.secrets import read_secrets
from holdfast.service.settings.values import read_settings

SLOW = ("aiohttp", "holdfast.rules.unicode_tables", "httpcore", "inngest", "phonenumbers", "precis_i18n")

def loaded():
    return [name for name in SLOW if name in sys.modules]

async def first_requests(service):
    await service.sessions.holder(parse_identifier("\\u00e4nn", Channel.HANDLE))
    parse_identifier("ann@ex\\u00e4mple.org", Channel.EMAIL)
    parse_identifier("+14155552671", Channel.SMS)
    await service.accounts.state(bytes(20))

async def main():
    settings = read_settings()
    store = open_store(settings)
    service = build_service(settings, read_secrets(settings), store)
    await service.start()
    at_start = loaded()
    await next(task for task in asyncio.all_tasks() if task.get_name() == "holdfast-warm-up")
    warm, modules = loaded(), set(sys.modules)
    try:
        await first_requests(service)
    except Exception as error:
        refused = str(error)
    await service.stop()
    print(json.dumps([at_start, warm, sorted(set(sys.modules) - modules), refused]))

warm_up.AFTER_S = 2
asyncio.run(main())
"""


@pytest.mark.parametrize("engine", cases({"no engine": False, "engine": True}, "engine"))
def test_what_is_slow_to_load_is_there_before_it_is_asked_for(tmp_path, engine):
    environment = environment_of(tmp_path / "data", **({"INNGEST_DEV": "1"} if engine else {}))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, done.stderr
    at_start, warm, loaded_by_requests, refused = json.loads(done.stdout.splitlines()[-1])
    assert at_start == []  # startup has waited for none of them
    always = ["aiohttp", "holdfast.rules.unicode_tables", "phonenumbers", "precis_i18n"]
    assert warm == (sorted([*always, "httpcore", "inngest"]) if engine else always)
    assert refused == "rpc_error"  # the chain was called, at an address on which nothing listens
    assert loaded_by_requests == []


async def test_what_fails_is_logged_and_the_rest_is_loaded(monkeypatch, caplog):
    monkeypatch.setattr(warm_up, "AFTER_S", 0.0)
    for missing in ("aiohttp", "inngest"):
        monkeypatch.setitem(sys.modules, missing, None)
    await warm_up.warm_up(engine=True)
    failed = [("warm-up failed", "upstreams"), ("warm-up failed", "workflow")]
    assert [(record.message, record.kind) for record in caplog.records] == failed
