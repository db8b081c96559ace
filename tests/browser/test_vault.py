"""The vault in the worker: two tabs, automatic locking, storage, and an export to another profile."""

import asyncio

from tests.support.passkeys import CLIENT, MAKE, Authenticator, new_page, outcome, visit
from tests.support.serving import PATIENCE_S

PASSWORD = "correct horse battery"
KEY = "{kind: 'secret', id: 'device', secret: new Uint8Array(32).fill(7)}"
CREATE = "client.vault.exec('resource:services action:create', {id: 's1', type: 'T', endpoint: 'https://x'})"
LAST_STATUS = "Object.fromEntries(events.map(({subsystem, status}) => [subsystem, status]))"


async def with_vault(page):
    """Open a vault in a page, and add KEY, because other tabs lack this tab's passkeys."""
    await Authenticator.of(page)
    await page.evaluate(CLIENT, {})
    made = await page.evaluate(MAKE, {"name": "ada", "options": {}})
    await page.evaluate(f"client.vault.addKey({KEY})")
    return made["did"]


async def told(page, event):
    await page.wait_for_function("(type) => events.some((it) => it.type === type)", arg=event)


async def test_boot_says_what_is_ready_and_what_is_not(page):
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
    await page.evaluate("client.close()")
    # An application may say where its worker is, and what starts after the enclave; its policy allows only listed scripts.
    ready = await outcome(page, """
      const subsystems = {helia: async (vault) => vault.status(), libp2p: async () => {}};
      const workerUrl = "/client/worker.js?copy";
      let ready;
      const all = new Promise((resolve) => { ready = resolve; });
      const vault = new hf.Vault({workerUrl, subsystems, onEvent: (event) => vault.bootStatus.ready && ready(event)});
      const {enclave} = await vault.boot();
      return [enclave, (await all).status];
    """)  # fmt: skip
    assert ready["value"] == [True, "ready"], ready
    for options in ("{wasmUrl: '/nowhere.wasm'}", "{sha256: '00'.repeat(32)}", "{wasmUrl: '/openapi.json'}"):
        seen = await outcome(page, f"return new hf.Vault({options}).boot()")
        assert seen["name"] == "WasmLoadError" and seen["message"].startswith("WASM load failed: "), (options, seen)


async def test_two_tabs_share_one_vault(browser, shared):
    context = await browser.new_context()
    first, second = await new_page(context, shared), await new_page(context, shared)
    await first.bring_to_front()
    did = await with_vault(first)
    await second.evaluate(CLIENT, {})
    elsewhere = await outcome(second, f"return client.vault.unlock({KEY})")
    assert elsewhere["value"] == {"success": False, "error": "open_elsewhere"}
    assert (await outcome(second, f"return client.vault.forget('{did}')"))["code"] == "open_elsewhere"
    await first.evaluate(CREATE)
    taken = await outcome(second, f"return client.vault.unlock({KEY}, null, {{takeOver: true}})")
    assert taken["value"] == {"success": True, "did": did}
    await told(first, "locked")
    assert (await outcome(first, "return client.vault.sign(new Uint8Array(32))"))["code"] == "vault_locked"
    assert (await outcome(first, f"return client.vault.unlock({KEY})"))["value"]["error"] == "open_elsewhere"
    await second.close()
    async with asyncio.timeout(PATIENCE_S):
        while not (opened := (await outcome(first, f"return client.vault.unlock({KEY})"))["value"])["success"]:
            await asyncio.sleep(0.05)
    assert opened == {"success": True, "did": did}
    await first.evaluate("client.vault.lock()")
    second = await new_page(context, shared)
    await second.evaluate(CLIENT, {})
    await a_tab_that_does_not_answer_loses_the_vault(first, second, did)


async def a_tab_that_does_not_answer_loses_the_vault(first, second, did):
    # The first page holds the vault's lock, but does not respond to messages.
    await first.evaluate(
        f"() => new Promise((held) => navigator.locks.request('hf-vault:holdfast-vault:{did}', () => (held(), new Promise(() => {{}}))))"
    )
    taken = await outcome(second, f"return client.vault.unlock({KEY}, null, {{takeOver: true}})")
    assert taken["value"] == {"success": True, "did": did}
    await second.evaluate(f"new hf.VaultStore().own('{did}', 'another worker')")
    lost = await outcome(second, "return client.vault.addKey({kind: 'secret', id: 'p2', secret: new Uint8Array(32)})")
    assert lost["name"] in {"StorageError", "ClientStateError"}, lost
    await told(second, "taken")
    assert (await outcome(second, "return client.vault.status()"))["name"] == "ClientStateError"


async def test_a_vault_locks_itself_and_a_reload_finds_what_was_changed_last(browser, shared):
    page = await new_page(browser, shared)
    did = await with_vault(page)
    await an_idle_vault_locks_itself(page, did)
    assert (await outcome(page, f"return {CREATE}"))["value"]["success"] is True
    await visit(page, shared)
    await storage_that_fails_loses_nothing(page)
    await visit(page, shared)
    await page.evaluate(CLIENT, {})
    manifests = await page.evaluate("client.vault.stored()")
    assert [(it["did"], it["rootCid"], it["schemaVersion"]) for it in manifests] == [(did, None, 1)]
    assert manifests[0]["wasmVersion"] == await page.evaluate("client.vault.wasmVersion")
    assert (await outcome(page, f"return client.vault.unlock({KEY})"))["value"] == {"success": True, "did": did}
    listed = await outcome(page, "return client.vault.exec('resource:services action:list')")
    assert [row["id"] for row in listed["value"]["result"]] == ["s1"]
    await a_forgotten_vault_leaves_its_snapshots_place(page, did)


async def an_idle_vault_locks_itself(page, did):
    await page.evaluate("client.vault.setAutoLock(1)")
    await told(page, "locked")
    assert await page.evaluate("client.vault.status().then(({locked}) => locked)") is True
    locks = await page.evaluate(
        "navigator.locks.query().then(({held}) => held.filter(({name}) => name.startsWith('hf-vault')))"
    )
    assert locks == [], "a locked vault is free for other tabs"
    opened = await outcome(page, f"return client.vault.unlock({KEY})")
    assert opened["value"] == {"success": True, "did": did}


async def storage_that_fails_loses_nothing(page):
    seen = await outcome(page, """
      const store = new hf.VaultStore();
      const {manifest, sealed, revision} = await store.load();
      return store.save(manifest, sealed, revision);
    """)  # fmt: skip
    assert seen["name"] == "StorageError" and seen["message"].startswith("Storage: "), seen
    seen = await outcome(page, "IDBFactory.prototype.open = () => { throw new DOMException('full', 'QuotaExceededError'); };"
                               "return new hf.VaultStore({dbName: 'other'}).load()")  # fmt: skip
    assert seen["name"] == "StorageError" and seen["cause"] == "QuotaExceededError", seen


async def a_forgotten_vault_leaves_its_snapshots_place(page, did):
    await page.evaluate(f"new hf.VaultStore().setNote('registration:{did}:handle:ada', {{}})")
    await page.evaluate(
        f"new hf.VaultStore().setNote('snapshots:{did}', {{acknowledgedRevision: 9, acknowledgedRoot: 'b', sequence: 4}})"
    )
    await page.evaluate(f"new hf.VaultStore().setNote('snapshots:forgotten:{did}', 7)")
    await page.evaluate(f"client.vault.forget('{did}')")
    assert await page.evaluate("client.vault.stored()") == []
    forgotten = await page.evaluate(f"new hf.VaultStore().note('snapshots:forgotten:{did}')")
    assert forgotten == 0, "what a removed key opens is still to be unpinned, and revisions start again"
    assert await page.evaluate(f"new hf.VaultStore().note('registration:{did}:handle:ada')") is None
    state = await page.evaluate(f"new hf.VaultStore().note('snapshots:{did}')")
    assert (state["acknowledgedRoot"], state["sequence"], "acknowledgedRevision" in state) == ("b", 4, False)
    assert (await outcome(page, f"return client.vault.unlock({KEY})"))["value"] == {
        "success": False, "error": "vault_uninitialized",
    }  # fmt: skip


async def test_an_export_brings_the_vault_to_another_profile(browser, shared):
    old, new = await new_page(browser, shared), await new_page(await browser.new_context(), shared)
    did = await with_vault(old)
    await new.evaluate(CLIENT, {})
    exported = (await outcome(old, f"return client.vault.export({{password: '{PASSWORD}'}})"))["value"]
    assert exported["did"] == did and isinstance(exported["data"], list)
    take = f"([data, password, options]) => client.vault.import({{data, password}}, {KEY}, options)"
    taken = {"success": True, "did": did, "accounts": 1, "credentials": 1}
    assert await new.evaluate(take, [exported["data"], PASSWORD, {}]) == taken
    await new.evaluate("client.vault.lock()")
    again = await new.evaluate(take, [exported["data"], PASSWORD, {}])
    assert again == {"success": False, "error": "conflict"}, "a stored vault is replaced only on demand"
    assert await new.evaluate(take, [exported["data"], PASSWORD, {"replace": True}]) == taken
