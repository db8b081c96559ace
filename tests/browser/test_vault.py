"""The vault in the worker: two tabs, automatic locking, storage, export to another profile, and hostile messages."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest
from tests.support.passkeys import CLIENT, MAKE, Authenticator, new_page, outcome, visit
from tests.support.serving import PATIENCE_S, Server

from holdfast.enclave import Enclave

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Browser, Page

PASSWORD = "correct horse battery"
KEY = "{kind: 'password', password: 'correct horse battery'}"
SECOND = 1000
LAST_STATUS = "Object.fromEntries(events.map(({subsystem, status}) => [subsystem, status]))"


@pytest.fixture
def server(serve: Callable[..., Server]) -> Server:
    return serve()


async def with_vault(page: Page) -> str:
    """Open a vault in a page, and add PASSWORD as a key, because other tabs lack this tab's passkeys."""
    await Authenticator.of(page)
    await page.evaluate(CLIENT, {})
    made = await page.evaluate(MAKE, {"name": "ada", "options": {}})
    await page.evaluate(f"client.vault.addKey({KEY})")
    return made["did"]


async def told(page: Page, event: str) -> None:
    await page.wait_for_function("(type) => events.some((it) => it.type === type)", arg=event)


async def test_boot_says_what_is_ready_and_what_is_not(browser: Browser, server: Server) -> None:
    page = await new_page(browser, server)
    before = await outcome(page, "window.early = new hf.Client(); return early.vault.status()")
    assert before["name"] == "ClientStateError" and "boot" in before["message"]
    status = await page.evaluate(CLIENT, {})
    assert status == {"enclave": True, "helia": False, "libp2p": False, "ready": False}
    # The service stores snapshots, so `helia` is ready; the module for pairing can be had, so `libp2p` is.
    ends = {"helia": "ready", "libp2p": "ready"}
    async with asyncio.timeout(PATIENCE_S):
        while not ends.items() <= (await page.evaluate(LAST_STATUS)).items():
            await asyncio.sleep(0.02)
    assert await page.evaluate("client.bootStatus") == dict.fromkeys(status, True)
    events = await page.evaluate("events")
    assert {event["type"] for event in events} == {"boot-progress"}
    steps = [(event["subsystem"], event["status"]) for event in events]
    assert steps[:2] == [("enclave", "booting"), ("enclave", "ready")]
    assert all(event["error"] for event in events if event["status"] == "failed")
    assert (await outcome(page, "return client.boot()"))["name"] == "ClientStateError"
    after = await outcome(page, "await client.close(); await client.close(); return client.vault.status()")
    assert after["name"] == "ClientStateError" and "closed" in after["message"]
    assert (await outcome(page, "return client.contracts()"))["name"] == "ClientStateError"


async def test_subsystems_start_after_the_enclave(browser: Browser, server: Server) -> None:
    page = await new_page(browser, server)
    ready = await outcome(page, """
      const events = [];
      const subsystems = {helia: async (vault) => vault.status(), libp2p: async () => {}};
      const vault = new hf.Vault({subsystems, onEvent: (event) => events.push(event)});
      await vault.boot();
      while (!vault.bootStatus.ready) await new Promise((resolve) => setTimeout(resolve, 10));
      return events.map(({subsystem, status}) => subsystem + " " + status).at(-1).endsWith("ready");
    """)  # fmt: skip
    assert ready["value"] is True, ready


async def test_a_module_that_is_not_there_or_not_the_expected_one(browser: Browser, server: Server) -> None:
    page = await new_page(browser, server)
    for options in ("{wasmUrl: '/nowhere.wasm'}", "{sha256: '00'.repeat(32)}", "{wasmUrl: '/openapi.json'}"):
        seen = await outcome(page, f"return new hf.Vault({options}).boot()")
        assert seen["name"] == "WasmLoadError" and seen["message"].startswith("WASM load failed: "), (options, seen)


async def test_an_application_may_say_where_its_worker_is(browser: Browser, server: Server) -> None:
    page = await new_page(browser, server)  # its policy allows only scripts that the client lists
    seen = await outcome(page, "return new hf.Vault({workerUrl: '/client/worker.js?copy'}).boot()")
    assert seen["value"]["enclave"] is True, seen


async def test_pairing_is_not_ready_without_its_module(browser: Browser, server: Server) -> None:
    page = await new_page(browser, server)
    await page.route("**/client/pairing/libp2p.js", lambda route: route.fulfill(status=404))
    await page.evaluate(CLIENT, {})
    async with asyncio.timeout(PATIENCE_S):
        while (await page.evaluate(LAST_STATUS)).get("libp2p") != "failed":
            await asyncio.sleep(0.02)
    assert (await page.evaluate("client.bootStatus"))["ready"] is False


async def test_two_tabs_share_one_vault(browser: Browser, server: Server) -> None:
    context = await browser.new_context()
    first, second = await new_page(context, server), await new_page(context, server)
    await first.bring_to_front()
    did = await with_vault(first)
    await second.evaluate(CLIENT, {})
    elsewhere = await outcome(second, f"return client.vault.unlock({KEY})")
    assert elsewhere["value"] == {"success": False, "error": "open_elsewhere"}
    assert (await outcome(second, f"return client.vault.forget('{did}')"))["code"] == "open_elsewhere"
    await first.evaluate(
        "client.vault.exec('resource:services action:create', {id: 's1', type: 'T', endpoint: 'https://x'})"
    )
    taken = await outcome(second, f"return client.vault.unlock({KEY}, null, {{takeOver: true}})")
    assert taken["value"] == {"success": True, "did": did}
    await told(first, "locked")
    assert (await outcome(first, "return client.vault.sign(new Uint8Array(32))"))["code"] == "vault_locked"
    assert (await outcome(first, f"return client.vault.unlock({KEY})"))["value"]["error"] == "open_elsewhere"
    await second.close()
    for _ in range(100):
        opened = await outcome(first, f"return client.vault.unlock({KEY})")
        if opened["value"]["success"]:
            break
        await asyncio.sleep(0.05)
    assert opened["value"] == {"success": True, "did": did}
    await context.close()


async def test_a_tab_that_does_not_answer_loses_the_vault_and_writes_no_more(browser: Browser, server: Server) -> None:
    context = await browser.new_context()
    first, second = await new_page(context, server), await new_page(context, server)
    await first.bring_to_front()
    did = await with_vault(first)
    await second.evaluate(CLIENT, {})
    # From here on the first page holds the vault's lock, but no longer responds to messages.
    await first.evaluate("client.vault.lock()")
    await first.evaluate(
        f"() => new Promise((held) => navigator.locks.request('hf-vault:holdfast-vault:{did}', () => (held(), new Promise(() => {{}}))))"
    )
    taken = await outcome(second, f"return client.vault.unlock({KEY}, null, {{takeOver: true}})")
    assert taken["value"] == {"success": True, "did": did}
    await second.evaluate("new hf.VaultStore().own(client.did ?? '" + did + "', 'another worker')")
    lost = await outcome(second, "return client.vault.addKey({kind: 'password', id: 'p2', password: 'another horse'})")
    assert lost["name"] in {"StorageError", "ClientStateError"}, lost
    await told(second, "taken")
    assert (await outcome(second, "return client.vault.status()"))["name"] == "ClientStateError"
    await context.close()


async def test_an_idle_vault_locks_itself_and_says_so(browser: Browser, server: Server) -> None:
    page = await new_page(browser, server)
    did = await with_vault(page)
    await page.evaluate("client.vault.setAutoLock(1)")
    await told(page, "locked")
    assert await page.evaluate("client.vault.status().then(({locked}) => locked)") is True
    locks = await page.evaluate(
        "navigator.locks.query().then(({held}) => held.filter(({name}) => name.startsWith('hf-vault')))"
    )
    assert locks == [], "a locked vault is free for other tabs"
    opened = await outcome(page, f"return client.vault.unlock({KEY})")
    assert opened["value"] == {"success": True, "did": did}


async def test_a_reload_finds_what_was_changed_last(browser: Browser, server: Server) -> None:
    page = await new_page(browser, server)
    did = await with_vault(page)
    created = await outcome(
        page,
        "return client.vault.exec('resource:services action:create', {id: 's1', type: 'T', endpoint: 'https://x'})",
    )
    assert created["value"]["success"] is True, created
    await page.reload()
    await visit(page, server)
    await page.evaluate(CLIENT, {})
    manifests = await page.evaluate("client.vault.stored()")
    assert [(it["did"], it["rootCid"], it["schemaVersion"]) for it in manifests] == [(did, None, 1)]
    assert manifests[0]["wasmVersion"] == await page.evaluate("client.vault.wasmVersion")
    assert (await outcome(page, f"return client.vault.unlock({KEY})"))["value"]["success"] is True
    listed = await outcome(page, "return client.vault.exec('resource:services action:list')")
    assert [row["id"] for row in listed["value"]["result"]] == ["s1"]
    await page.evaluate(f"new hf.VaultStore().setNote('registration:{did}:handle:ada', {{}})")
    await page.evaluate(
        f"new hf.VaultStore().setNote('snapshots:{did}', {{acknowledgedRevision: 9, acknowledgedRoot: 'b', sequence: 4}})"
    )
    await page.evaluate(f"client.vault.forget('{did}')")
    assert await page.evaluate("client.vault.stored()") == []
    assert await page.evaluate(f"new hf.VaultStore().note('registration:{did}:handle:ada')") is None
    assert (await page.evaluate(f"new hf.VaultStore().note('snapshots:{did}')"))["sequence"] == 4
    assert (await outcome(page, f"return client.vault.unlock({KEY})"))["value"] == {
        "success": False, "error": "vault_uninitialized",
    }  # fmt: skip


async def test_an_export_opens_in_another_profile_and_in_python(browser: Browser, server: Server) -> None:
    page = await new_page(browser, server)
    did = await with_vault(page)
    exported = (await outcome(page, f"return client.vault.export({{password: '{PASSWORD}'}})"))["value"]
    assert exported["did"] == did and isinstance(exported["data"], list)
    other = await new_page(await browser.new_context(), server)
    await other.evaluate(CLIENT, {})
    take = "(data) => client.vault.import({data, password: PASSWORD}, KEY)".replace("KEY", KEY)
    wrong = await other.evaluate(take.replace("PASSWORD", "'wrong horse battery'"), exported["data"])
    assert wrong == {"success": False, "error": "export_rejected"}
    taken = await other.evaluate(take.replace("PASSWORD", f"'{PASSWORD}'"), exported["data"])
    assert taken == {"success": True, "did": did, "accounts": 1, "credentials": 1}
    await other.evaluate("client.vault.lock()")
    again = await other.evaluate(take.replace("PASSWORD", f"'{PASSWORD}'"), exported["data"])
    assert again == {"success": False, "error": "conflict"}, "a stored vault is replaced only on demand"
    replaced = await other.evaluate(
        f"(data) => client.vault.import({{data, password: '{PASSWORD}'}}, {KEY}, {{replace: true}})", exported["data"]
    )
    assert replaced["success"] is True
    with Enclave() as enclave:
        imported = enclave.call(
            "import", data=bytes(exported["data"]), password=PASSWORD, key={"kind": "secret", "secret": bytes(32)}
        )
        assert imported["did"] == did


async def test_storage_that_fails_is_a_storage_error_and_loses_nothing(browser: Browser, server: Server) -> None:
    page = await new_page(browser, server)
    did = await with_vault(page)
    await page.evaluate("client.vault.lock()")
    await page.evaluate("client.close()")
    seen = await outcome(page, """
      const store = new hf.VaultStore();
      const {manifest, sealed, revision} = await store.load();
      return store.save(manifest, sealed, revision);
    """)  # fmt: skip
    assert seen["name"] == "StorageError" and seen["message"].startswith("Storage: "), seen
    seen = await outcome(page, "IDBFactory.prototype.open = () => { throw new DOMException('full', 'QuotaExceededError'); };"
                               "return new hf.VaultStore({dbName: 'other'}).load()")  # fmt: skip
    assert seen["name"] == "StorageError" and seen["cause"] == "QuotaExceededError", seen
    await visit(page, server)
    await page.evaluate(CLIENT, {})
    assert (await outcome(page, f"return client.vault.unlock({KEY})"))["value"] == {"success": True, "did": did}


async def test_pairing_brings_the_vault_to_another_profile(browser: Browser, server: Server) -> None:
    old, new = await new_page(browser, server), await new_page(await browser.new_context(), server)
    did = await with_vault(old)
    await new.evaluate(CLIENT, {})
    began = await new.evaluate("client.vault.syncInit()")
    answered = await old.evaluate(
        "({session_id, public_key}) => client.vault.syncRespond(session_id, {publicKey: public_key})", began
    )
    assert answered["status"] == "compare"
    shown = await new.evaluate(
        "([id, publicKey]) => client.vault.syncCompare(id, {publicKey})", [began["session_id"], answered["public_key"]]
    )
    other = await old.evaluate(
        "([id, reveal]) => client.vault.syncCompare(id, {reveal})", [began["session_id"], shown["reveal"]]
    )
    assert shown["code"] == other["code"]
    sealed = await old.evaluate(
        "([id, code]) => client.vault.syncRespond(id, {code})", [began["session_id"], shown["code"]]
    )
    done = await new.evaluate(
        f"([sessionId, code, encryptedVault]) => client.vault.syncComplete({{sessionId, code, encryptedVault}}, {KEY})",
        [began["session_id"], other["code"], sealed["encrypted_vault"]],
    )
    assert done["success"] is True and done["did"] == did
    assert [it["did"] for it in await new.evaluate("client.vault.stored()")] == [did]


WORKER = """
async (messages) => {
  const policy = trustedTypes.createPolicy ? null : null;
  window.raw = new Worker(hf.scriptAddress("/client/worker.js"), {type: "module"});
  window.replies = [];
  raw.onmessage = ({data}) => replies.push(data);
  raw.onerror = (event) => replies.push({crashed: event.message});
  raw.postMessage({id: 1, fn: "boot", args: {wasmUrl: new URL("/enclave.wasm", location.href).href}});
  while (replies.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  return replies[0];
}
"""
SEND = """
async (messages) => {
  const before = replies.length;
  for (const message of messages) raw.postMessage(message);
  raw.postMessage({id: 999999, fn: "status", args: {}});
  while (!replies.slice(before).some(({id}) => id === 999999)) await new Promise((resolve) => setTimeout(resolve, 5));
  const all = replies.slice(before);
  replies.length = 0;
  return all;
}
"""
REFUSED = [
    None, 7, "text", [], {}, {"id": 0, "fn": "status", "args": {}}, {"id": -1, "fn": "status", "args": {}},
    {"id": "1", "fn": "status", "args": {}}, {"id": 1.5, "fn": "status", "args": {}}, {"id": 2, "fn": "status"},
    {"id": 2, "fn": "constructor", "args": {}}, {"id": 2, "fn": "__proto__", "args": {}}, {"id": 2, "fn": "wipe", "args": {}},
    {"id": 2, "fn": "status", "args": []}, {"id": 2, "fn": "status", "args": {"x": 1}}, {"id": 2, "fn": ["status"], "args": {}},
    {"id": 2, "fn": "status", "args": {}, "more": 1}, {"id": 2, "fn": "query", "args": {"did": 5}},
    {"id": 2, "fn": "query", "args": {"did": "d" * 2000}}, {"id": 2, "fn": "query", "args": {"toString": "x"}},
    {"id": 2, "fn": "sign", "args": {"digest": [1] * 65}}, {"id": 2, "fn": "sign", "args": {"digest": [256]}},
    {"id": 2, "fn": "unlock", "args": {"key": {"kind": "prf", "secret": [0] * 32, "more": 1}}},
    {"id": 2, "fn": "unlock", "args": {"key": "secret"}}, {"id": 2, "fn": "exec", "args": {"filter": "f" * 2000}},
    {"id": 2, "fn": "exec", "args": {"filter": "resource:accounts action:list", "args": {"x": ["y"] * 400_000}}},
]  # fmt: skip


async def test_messages_outside_the_table_never_reach_the_enclave(browser: Browser, server: Server) -> None:
    page = await new_page(browser, server)
    booted = await page.evaluate(WORKER)
    assert booted["result"]["version"]["abi"] == 1, booted
    answers = await page.evaluate(SEND, REFUSED)
    refused = [it for it in answers if it["id"] != 999999]
    assert len(refused) == len(REFUSED)
    for answer in refused:
        assert answer["error"]["code"] == "invalid_message", answer


async def test_random_messages_crash_nothing(browser: Browser, server: Server) -> None:
    """In this fuzz test, every message must get exactly one response, and the worker must keep running."""
    page = await new_page(browser, server, unbuilt=True)
    await page.evaluate(WORKER)
    names = await page.evaluate("async () => Object.entries((await import('/client/vault/protocol.js')).FUNCTIONS)"
                                ".filter(([name]) => name !== 'boot').map(([name, fields]) => [name, Object.keys(fields)])")  # fmt: skip
    seed = random.randrange(2**32)
    generator = random.Random(seed)
    for _ in range(6):
        messages = [_message(generator, names, number) for number in range(1, 60)]
        answers = await asyncio.wait_for(page.evaluate(SEND, messages), PATIENCE_S)
        assert not any("crashed" in it for it in answers), (seed, answers)
        assert len([it for it in answers if "id" in it and it["id"] != 999999]) == len(messages), seed
        status = next(it for it in answers if it.get("id") == 999999)
        assert status["result"]["locked"] in {True, False}, seed


def _message(generator: random.Random, names: list[list], number: int) -> object:
    fn, fields = generator.choice(names)
    args = {field: _value(generator, 3) for field in fields if generator.random() < 0.6}
    if generator.random() < 0.1:
        args[_text(generator)] = 1
    return {"id": number, "fn": fn, "args": args}


def _value(generator: random.Random, depth: int) -> object:
    kinds = [
        lambda: _text(generator), lambda: generator.randrange(-(2**53), 2**53), generator.random, lambda: None,
        lambda: generator.random() < 0.5, lambda: [generator.randrange(256) for _ in range(generator.randrange(80))],
        lambda: "0x" + "ab" * generator.randrange(40), lambda: "resource:accounts action:list",
        lambda: {"kind": "secret", "secret": [1] * 32}, lambda: {"kind": "password", "password": "p" * 12},
    ]  # fmt: skip
    if depth:
        kinds += [
            lambda: [_value(generator, depth - 1) for _ in range(generator.randrange(4))],
            lambda: {_text(generator): _value(generator, depth - 1) for _ in range(generator.randrange(4))},
        ]
    return generator.choice(kinds)()


def _text(generator: random.Random) -> str:
    return "".join(chr(generator.choice([0, 34, 92, 65, 0x1F600, 0x202E, 48])) for _ in range(generator.randrange(12)))
