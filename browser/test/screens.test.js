/** What single screens of the pages do, without a browser: what they say, and what they do with the client. */

import assert from "node:assert/strict";

import { navigatorHas, one, press, told, type, until } from "./dom.js";
import { HELD, ROW, client, onPage, settled, visited } from "./on_page.js";
import { NetworkError, StorageError, VaultStore } from "../src/holdfast.ts";
import { consent } from "../src/pages/connect/consent.ts";
import { firstAnswer } from "../src/pages/connect/answered.ts";
import { fetchCopy } from "../src/pages/drill/trials.ts";
import { footer } from "../src/pages/footer.ts";
import { moveFrom, moveOrMoved } from "../src/pages/move/leave.ts";
import { leave } from "../src/pages/leave/screen.ts";
import { readyAt } from "../src/pages/keys/others.ts";
import { notice } from "../src/pages/keys/recovery.ts";
import "../src/pages/move/texts.ts";
import { make } from "../src/pages/move/make.ts";
import { el } from "../src/kit/el.ts";
import * as nodes from "../src/pages/parts/nodes.ts";
import { moment, text } from "../src/pages/parts/language.ts";
import { received, setReceived } from "../src/pages/parts/notes.ts";
import { addScreens, opening } from "../src/pages/parts/router.ts";
import { SERVICE, preparing, run, say, show } from "../src/pages/parts/screen.ts";
import { safety } from "../src/pages/register/safety.ts";
import { send } from "../src/pages/send/form.ts";
import { showState } from "../src/pages/start.ts";
import { obstacle } from "../src/pages/parts/obstacle.ts";
import { importVault } from "../src/pages/vault/backup.ts";
import { stuck } from "../src/pages/vault/stuck.ts";
import { enter } from "../src/pages/vault/unlock.ts";
import { service } from "../src/pages/parts/vault_client.ts";

/** The screen for leaving, with what it gets from the pages. */
async function leaving(found, more = {}) {
  const parts = {
    ...nodes,
    text,
    SERVICE,
    preparing,
    run,
    say,
    show,
    el,
    meta: () => "",
    go: async (name) => void visited.push([name]),
    confirmed: async () => true,
    ready: async () => ({ exportPerson: async () => found }),
    ...more,
  };
  await leave(parts);
}

const PERSON = { identifiers: [{ channel: "handle", key: "ada", given: "ada" }], credentials: [{}], snapshots: [] };

onPage("what is stored is saved as a file whose address is given up later", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const addresses = [];
  context.mock.method(URL, "createObjectURL", (blob) => (addresses.push(blob), "blob:1"));
  context.mock.method(URL, "revokeObjectURL", (address) => addresses.push(address));
  await leaving(PERSON);
  press("download");
  await until(() => told("status") !== "");
  assert.deepEqual(JSON.parse(await addresses[0].text()), PERSON);
  assert.equal(addresses.length, 1);
  context.mock.timers.tick(60_000);
  assert.deepEqual(addresses.slice(1), ["blob:1"]);
});

for (const agrees of [true, false])
  onPage(`a name is given back, and all is deleted, only if the person agrees: ${agrees}`, async () => {
    const taken = [];
    const takeBack = async (what) => void taken.push(what);
    const ready = async () => ({ exportPerson: async () => PERSON, takeBack });
    await leaving(PERSON, { ready, confirmed: async () => agrees });
    for (const [number, name] of ["free", "erase"].entries()) {
      press(name);
      await (agrees ? until(() => taken.length > number) : settled());
    }
    assert.deepEqual(taken, agrees ? [{ identifier: "ada", channel: "handle" }, { everything: true }] : []);
  });

onPage("a vault that is removed is locked and forgotten, with what the pages know of its passkeys", async () => {
  const did = "did:new:0x1";
  const asked = [];
  const vault = {
    query: async () => ({ did, credentials: [{ credential_id: "AAAA" }] }),
    lock: async () => void asked.push("lock"),
    forget: async (of) => void asked.push(of),
  };
  await leaving(PERSON, {
    ready: async () => ({ vault, exportPerson: async () => PERSON }),
    setVaultOf: async (...given) => void asked.push(given),
    unmarkVault: () => asked.push("unmarked"),
  });
  press("forget");
  await until(() => visited.length > 0);
  assert.deepEqual(asked, ["lock", did, ["AAAA", null], "unmarked"]);
});

for (const [offline, failing, words] of [
  [true, "", "offline"],
  [false, "status", "down"],
  [false, "readyz", "down"],
  [false, "balance", "partly"],
  [false, "", "works"],
])
  onPage(`the footer says how the service is: ${words}${failing && ` without ${failing}`}`, async (context) => {
    const answers = { status: { chainId: 1 }, readyz: {}, balance: {} };
    const answer = (name) => async () => (name === failing ? Promise.reject(new NetworkError("x")) : answers[name]);
    client(context, Object.fromEntries(Object.keys(answers).map((name) => [name, answer(name)])));
    navigatorHas("onLine", !offline);
    const node = el("span");
    await showState(node);
    navigatorHas("onLine", true);
    assert.equal(node.textContent, text(`footer.${words}`));
  });

onPage("a state that comes late does not replace a newer one", async (context) => {
  let late;
  const first = new Promise((_, reject) => (late = reject));
  const answers = [first, Promise.resolve({ chainId: 1 })];
  client(context, { status: () => answers.shift(), readyz: async () => ({}), balance: async () => ({}) });
  const node = el("span");
  const shown = showState(node);
  await showState(node);
  late(new NetworkError("too late"));
  await shown;
  assert.equal(node.textContent, text("footer.works"));
});

onPage("the footer names a test network, and switches the language of the screen", async (context) => {
  client(context, { status: async () => Promise.reject(new NetworkError("x")) });
  const turned = context.mock.fn();
  footer(turned);
  assert.deepEqual([document.documentElement.lang, one("#test-network").hidden], ["en", true]);
  const money = document.createElement("meta");
  money.name = "holdfast-test-money";
  money.setAttribute("content", "yes");
  document.head.append(money);
  press("language");
  assert.deepEqual([document.documentElement.lang, told("test-network")], ["de", text("network.test")]);
  assert.match(told("test-network"), /Testnetz/);
  money.remove();
  press("language");
  assert.equal(turned.mock.callCount(), 2);
  assert.deepEqual([document.documentElement.lang, told("test-network")], ["en", ""]);
});

onPage("a browser in which passkeys are impossible is told why", (context) => {
  context.after(() => (globalThis.location.hostname = "vault.example"));
  assert.match(obstacle().textContent, /This browser does not support passkeys/);
  globalThis.PublicKeyCredential = class {};
  navigatorHas("credentials", {});
  assert.equal(obstacle(), null);
  globalThis.location.hostname = "127.0.0.1";
  assert.equal(one("a", obstacle()).href, "https://vault.example/");
  context.mock.getter(localStorage, "length", () => {
    throw new DOMException("blocked", "SecurityError");
  });
  assert.match(obstacle().textContent, /Allow cookies and site data/);
  delete globalThis.PublicKeyCredential;
});

/** The screen of a request to sign a long text, in a box that shows 100 of its 900 pixels. */
async function asked(context, more = {}) {
  client(context, { vault: { query: async () => ({ did: "did:new:0x1" }) } });
  const requested = { name: "", account: false, sign: { text: "I log in.", challenge: "c" }, delegate: null };
  let box = null;
  const create = document.createElement;
  context.mock.method(document, "createElement", (name) => {
    const made = create(name);
    if (name === "pre") box = Object.assign(made, { scrollTop: 0, clientHeight: 100, scrollHeight: 900 });
    return made;
  });
  const refused = () => visited.push("refused");
  assert.ok(
    await consent({ origin: new URL("https://app.example"), requested, allowed: async () => {}, refused, ...more }),
  );
  return { box, allow: one('[data-name="allow"]') };
}

onPage("a long text can be signed once its end was on screen, and the button is not touched again", async (context) => {
  const { box, allow } = await asked(context);
  const scrolled = (top) => ((box.scrollTop = top), box.dispatchEvent(new Event("scroll")), allow.disabled);
  assert.deepEqual([allow.disabled, scrolled(790), scrolled(799)], [true, true, false]);
  allow.disabled = true; // while it works
  assert.ok(scrolled(0) && scrolled(799));
});

onPage("a click that comes too early allows nothing", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { box, allow } = await asked(context);
  box.scrollTop = 800;
  box.dispatchEvent(new Event("scroll"));
  for (const again of [false, true]) {
    if (again) dispatchEvent(new Event("focus")); // the window returns to the front
    allow.click();
    assert.equal(allow.disabled, false, "nothing runs");
    context.mock.timers.tick(500);
  }
  allow.click();
  assert.equal(allow.disabled, true);
});

onPage("a request is answered once", async () => {
  const request = { origin: "https://app.example", state: "a".repeat(32), expires: Date.now() / 1000 + 60 };
  assert.equal(await firstAnswer(request), true);
  assert.equal(await firstAnswer({ ...request, state: "b".repeat(32) }), true);
  assert.equal(await firstAnswer(request), false);
  assert.equal(await firstAnswer({ ...request, origin: "https://other.example" }), true);
});

onPage("a screen that cannot be loaded or drawn says why, and its button can be pressed again", async () => {
  const failures = [new TypeError("Failed to fetch dynamically imported module: x"), new NetworkError("none")];
  addScreens({ keys: async () => Promise.reject(failures.shift()) });
  show({ name: "home", heading: "Vault", body: [nodes.button("Keys", opening("keys"), { name: "keys" })] });
  while (failures.length > 0) {
    press("keys");
    assert.equal(told("status"), text("working"));
    await until(() => told("alert") === text("problem.offline"));
    assert.equal(one('[data-name="keys"]').disabled, false);
  }
});

for (const [screen, name, to] of [
  [send, "back", "home"],
  [() => safety(ROW), "later", "vault"],
])
  onPage(`while another screen is prepared, that is said, and no button acts twice: ${name}`, async (context) => {
    client(context, HELD);
    await screen();
    let shown;
    addScreens({ [to]: () => new Promise((done) => (shown = done)) });
    context.after(() => addScreens({ [to]: (given) => void visited.push([to, given]) }));
    press(name);
    assert.deepEqual([told("status"), one(`[data-name="${name}"]`).disabled], [text("working"), true]);
    shown();
  });

onPage("while a service takes a request and does not answer, that is said, here and in the footer", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  client(context, {});
  let answer, lose;
  context.mock.method(globalThis, "fetch", () => new Promise((done, lost) => ([answer, lose] = [done, lost])));
  const node = el("span");
  void showState(node);
  context.mock.timers.tick(8000);
  assert.equal(node.textContent, text("footer.down"));
  answer(Response.json({}));
  const done = run(null, () => service().readyz(), text("working"));
  context.mock.timers.tick(7999);
  assert.equal(told("status"), text("working"));
  context.mock.timers.tick(1);
  assert.equal(told("status"), text("slow"));
  answer(new Response("{}"));
  await done;
  assert.equal(told("status"), "");
  void service()
    .readyz()
    .catch(() => {});
  context.mock.timers.tick(8000);
  assert.equal(told("status"), text("slow"));
  lose(new TypeError("Failed to fetch"));
  await until(() => told("status") === "");
});

onPage(
  "a move says which service is silent; until its window answers, the page says to go on there",
  async (context) => {
    const did = ROW.did;
    const moveCheck = context.mock.fn(async () => ({ identifier: "ada", did }));
    moveCheck.mock.mockImplementationOnce(() => Promise.reject(new NetworkError("no answer in time")));
    client(context, {
      vault: { query: async () => ({ did }) },
      exportPerson: async () => stored,
      moveCheck,
      move: async (_address, { make: makes }, { onProgress }) => {
        onProgress("checked");
        if (!opened.closed) await makes({});
        return {
          identifier: "ada",
          leftBehind: ["ada@mail.example"],
          isOwner: true,
          missingOn: [],
          passkey: { secret: [1] },
        };
      },
    });
    /** @type {any} */
    let stored = { identifiers: [{ given: "ada@mail.example" }] };
    const opened = { closed: false };
    context.mock.method(((globalThis.open ??= () => null), globalThis), "open", () => opened);
    moveFrom();
    type("host", "new.example");
    press("submit");
    await until(() => told("alert") === text("move.unreachable", { host: "new.example" }));
    press("submit");
    await until(() => one("main").dataset.screen === "move-review");
    type("again", "new.example");
    press("submit");
    await settled();
    assert.equal(told("status"), text("move.waiting", { host: "new.example" }));
    opened.closed = true;
    await until(() => told("alert") === text("move.closed", { host: "new.example" }));
    await moveOrMoved();
    assert.equal(one("main").dataset.screen, "move", "nothing was moved");
    type("host", "new.example");
    press("submit");
    await until(() => one("main").dataset.screen === "move-review");
    type("again", "new.example");
    press("submit");
    for (const isReloaded of [false, true]) {
      if (isReloaded) document.fill();
      if (isReloaded) await moveOrMoved();
      await until(() => one("main").dataset.screen === "move-done");
      assert.equal(one('[data-name="there"]').href, "https://new.example/vault");
    }
    press("again");
    assert.equal(one("main").dataset.screen, "move");
    // The vault moves back.
    stored = { identifiers: [...stored.identifiers, { given: "ada" }] };
    await moveOrMoved();
    assert.equal(one("main").dataset.screen, "move");
    stored = { identifiers: [] };
    await moveOrMoved();
    assert.equal(one("main").dataset.screen, "move", "it is no longer remembered as moved");
  },
);

onPage("a passkey from the autofill list says what it waits for, and what failed", async (context) => {
  globalThis.PublicKeyCredential = /** @type {any} */ (class {});
  globalThis.PublicKeyCredential.isConditionalMediationAvailable = async () => true;
  const bytes = new ArrayBuffer(1);
  const response = { clientDataJSON: bytes, authenticatorData: bytes, signature: bytes };
  const used = { id: "AAAA", rawId: bytes, response, getClientExtensionResults: () => ({}) };
  navigatorHas("credentials", { get: async () => used });
  const { locks } = navigator;
  navigatorHas("locks", { query: async () => ({}) });
  context.after(() => {
    delete globalThis.PublicKeyCredential;
    navigatorHas("credentials", undefined);
    navigatorHas("locks", locks);
  });
  let fails = (_error) => {};
  const lookupDid = () => new Promise((_, reject) => (fails = reject));
  const stored = async () => [{ did: ROW.did }, { did: "did:new:0x2" }];
  client(context, { lookupDid, vault: { status: async () => ({ locked: true }), stored } });
  const entered = enter();
  await until(() => told("status") === text("working"));
  fails(new NetworkError("no answer"));
  await entered;
  assert.deepEqual([told("status"), told("alert")], ["", text("problem.offline")]);
});

onPage("while the vault's program does not come, the vault's page says that it waits", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  service().vault.dispatchEvent(new CustomEvent("taken")); // so the next client boots anew
  let booted;
  const boot = () => new Promise((done) => (booted = done));
  client(context, { boot, vault: { status: async () => ({ locked: false }) } });
  const entered = enter();
  context.mock.timers.tick(8000);
  assert.equal(told("status"), text("slow"));
  booted({});
  await entered;
  assert.deepEqual([told("status"), visited], ["", [["home", undefined]]]);
});

onPage("a page whose browser cannot read what it stores says so, and offers to try again", async (context) => {
  client(context, {
    vault: { status: async () => ({ locked: true }), stored: async () => Promise.reject(new StorageError("damaged")) },
  });
  await enter();
  assert.deepEqual([one("#screen button").textContent, told("alert")], [text("again"), text("problem.storage")]);
});

for (const answer of [{ success: true }, { success: false, error: "conflict" }])
  onPage(
    `a vault that opens, or is open, is shown also where nothing can be noted: ${answer.success}`,
    async (context) => {
      context.mock.method(VaultStore.prototype, "changeNote", async () => Promise.reject(new StorageError("full")));
      const vault = {
        status: async () => ({ locked: true }),
        stored: async () => [{ did: ROW.did }, { did: "did:new:0x2" }],
      };
      const chosen = { query: async () => ({ did: ROW.did }), unlock: async () => answer };
      client(context, { vault: { ...vault, ...chosen } });
      await enter({ locked: "unlock.locked" });
      press("use-password");
      await until(() => document.querySelector("form"));
      one("form").dispatchEvent(new Event("submit", { cancelable: true }));
      await until(() => visited.length || told("alert"));
      assert.deepEqual([visited, told("alert")], [[["home", undefined]], ""]);
    },
  );

for (const [keys, fails, deleted, noted] of [
  [["pairing"], false, [ROW.did], null],
  [["pairing"], true, [ROW.did], ROW.did], // another tab has it open
  [["AAAA", "pairing"], false, [], ROW.did], // such as a passkey that is synced
])
  onPage(`a received vault is deleted only if nothing else opens it: ${keys} ${fails}`, async (context) => {
    const wraps = keys.flatMap((id) => [1, id.length, ...Buffer.from(id), ...Array(88).fill(0)]);
    const sealed = Uint8Array.from([...Array(5).fill(0), keys.length, ...Array(38).fill(0), ...wraps]);
    context.mock.method(VaultStore.prototype, "load", async () => ({ sealed }));
    const [forgotten, removed] = [[], []];
    const forget = async (did) => (forgotten.push(did), fails && Promise.reject(new StorageError("elsewhere")));
    const stored = async () => [
      { did: ROW.did, updatedAt: 2 },
      { did: "did:new:0x2", updatedAt: 1 },
    ];
    const [unlock, removeKey] = [async () => ({ success: true }), async (...key) => void removed.push(key)];
    client(context, { vault: { status: async () => ({ locked: true }), stored, forget, unlock, removeKey } });
    await setReceived(ROW.did);
    await enter({ locked: "unlock.locked" });
    assert.deepEqual([forgotten, await received()], [deleted, noted]);
    press("use-password");
    await until(() => document.querySelector("form"));
    one("form").dispatchEvent(new Event("submit", { cancelable: true }));
    await until(() => visited.length);
    assert.deepEqual([removed, await received()], [noted ? [["secret", "pairing"]] : [], null]);
  });

for (const [name, replaced, shown] of [
  ["yes", [false, true], [["home", { said: text("import.here") }]]],
  ["no", [false], []],
])
  onPage(`a backup file replaces a stored vault only if the person says so: ${name}`, async (context) => {
    const asked = [];
    const imported = async (_file, _key, { replace }) => (asked.push(replace), { success: replace, error: "conflict" });
    client(context, { vault: { import: imported } });
    importVault();
    one("input[name=file]").files = [new Blob(["MTRV"])];
    type("password", "correct horse");
    Object.getPrototypeOf(one("form")).showModal = () => {};
    one("form").dispatchEvent(new Event("submit", { cancelable: true }));
    await until(() => document.querySelector("dialog"));
    press(name);
    await until(() => visited.length || told("alert"));
    assert.deepEqual([asked, visited], [replaced, shown]);
  });

onPage("a vault that cannot be opened here is replaced by the other device's", async () => {
  addScreens({ take: (given) => void visited.push(["take", given]) });
  stuck();
  press("take");
  assert.deepEqual(visited, [["take", { replace: true }]]);
});

for (const [dids, note, replace] of [
  [[ROW.did], ROW.did, true],
  [[ROW.did], null, false],
  [[ROW.did, "did:new:0x2"], ROW.did, false],
])
  onPage(`another link replaces only a vault that was received and never opened: ${dids} ${note}`, async (context) => {
    addScreens({ take: (given) => void visited.push(["take", given.replace]) });
    context.mock.method(VaultStore.prototype, "load", async () => null);
    const stored = async () => dids.map((did) => ({ did }));
    const forget = async () => Promise.reject(new StorageError("elsewhere"));
    client(context, { vault: { status: async () => ({ locked: true }), stored, forget } });
    await setReceived(note);
    context.after(() => (globalThis.location.hash = ""));
    globalThis.location.hash = "#pair=again";
    await enter();
    await setReceived(null);
    assert.deepEqual(visited, [["take", replace]]);
  });

onPage("the drill says whether the copy has this browser's last change, and leaves nothing behind", async (context) => {
  const deleted = [];
  globalThis.indexedDB = { deleteDatabase: (name) => deleted.push(name) };
  context.after(() => delete globalThis.indexedDB);
  const found = { did: ROW.did, updatedAt: 5, revision: 8 };
  client(context, { recover: async () => found, close: async () => {} });
  const stored = { revision: 9 };
  context.mock.method(VaultStore.prototype, "load", async () => stored);
  assert.deepEqual(await fetchCopy(ROW.did, {}), { updatedAt: 5, newest: false });
  stored.revision = 8;
  assert.deepEqual(await fetchCopy(ROW.did, {}), { updatedAt: 5, newest: true });
  await assert.rejects(fetchCopy("did:new:0x2", {}), { key: "drill.file.other" });
  assert.deepEqual(deleted, Array(3).fill("holdfast-trial"));
});

onPage(
  "a passkey that another page asks for replaces none: its user handle ends with random bytes",
  async (context) => {
    const handles = [];
    const create = async ({ publicKey }) => {
      handles.push(Buffer.from(publicKey.user.id).toString("hex"));
      throw new DOMException("", "NotAllowedError");
    };
    globalThis.PublicKeyCredential = class {};
    navigatorHas("credentials", { create });
    context.after(() => (delete globalThis.PublicKeyCredential, navigatorHas("credentials", undefined)));
    const wanted = { name: "ada", userHandle: "ab".repeat(32), challenge: new Uint8Array(32) };
    const opener = {
      postMessage({ type, word }) {
        const data = { holdfast: "move/1", type: "make", word, ...wanted };
        const told = Object.assign(new Event("message"), { source: opener, origin: "https://old.example", data });
        if (type === "ready") setImmediate(() => dispatchEvent(told));
      },
    };
    await make(opener);
    await until(() => !one('[data-name="make"]').ariaDisabled); // a click meant for the other page is ignored
    press("make");
    await until(() => handles.length === 1);
    await until(() => !one('[data-name="make"]').disabled);
    press("make");
    await until(() => handles.length === 2);
    for (const handle of handles) assert.match(handle, new RegExp(`^${wanted.userHandle}[0-9a-f]{64}$`));
    assert.notEqual(handles[0], handles[1]);
  },
);

const [OWN, OTHER] = ["11", "22"].map((byte) => `0x${byte.repeat(64)}`);
const NOTICES = ["mine", "takeover", "takeover.owners", "takeover.shared", "takeover.unknown"];
for (const { newOwners, says } of [
  { newOwners: [OWN], says: ["mine"] },
  { newOwners: [OTHER], says: ["takeover", "takeover.owners"] },
  { newOwners: [OTHER, OWN], says: ["takeover", "takeover.owners", "takeover.shared"] },
  { newOwners: null, says: ["takeover", "takeover.unknown"] },
])
  onPage(`while the account is being recovered, whose keys follow is said: ${says.join(", ")}`, () => {
    const shown = notice({ readyAt: 1, newOwners }, OWN, () => ({ name: "" }), { main: true });
    assert.deepEqual(
      NOTICES.filter((key) => shown.textContent.includes(text(`keys.${key}`))),
      says,
    );
    assert.equal(shown.querySelectorAll("[data-signer]").length, says.length > 1 ? (newOwners?.length ?? 0) : 0);
  });

onPage("a recovery that was started ends after its delay, also if the chain cannot tell its time", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: 5000 });
  const chain = { tells: async () => ({ readyAt: 9 }), lags: async () => null, fails: async () => assert.fail() };
  const told = Object.values(chain).map((recovery) => readyAt({ recovery }, 7200));
  assert.deepEqual(await Promise.all(told), [9000, 7205000, 7205000].map(moment));
});
