/** The card of the drill: what leads back into the vault if a passkey or this browser is lost, and a trial of each. */

import { keyId, passkeyKey, usePasskey } from "../library.js";
import { moment, text } from "../parts/language.js";
import { button, el, field, form, paragraph, submit } from "../parts/nodes.js";
import { go } from "../parts/router.js";
import { run, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { card } from "../vault/card.js";
import { noteTrial, tryKey } from "./trials.js";
import { passkeyMark, survives, ways } from "./ways.js";

/** @param {import("../vault/home.js").Facts} known */
export function drillCard(known) {
  const rows = ways(known);
  const safe = survives(rows);
  return card(
    "drill",
    text("drill.heading"),
    paragraph("drill.lead"),
    el(
      "ul", { class: "rows" },
      el("li", { "data-loss": "passkey", "data-safe": String(safe.passkey) }, text(safe.passkey ? "drill.passkey.safe" : "drill.passkey.unsafe")),
      el("li", { "data-loss": "browser", "data-safe": String(safe.browser) }, text(safe.browser ? "drill.browser.safe" : "drill.browser.unsafe")),
    ),
    el("ul", { class: "rows" }, ...rows.map((it) => row(it, known))),
  );
}

/**
 * @param {import("./ways.js").Row} row
 * @param {import("../vault/home.js").Facts} known
 */
function row({ way, there, triedAt }, known) {
  const state = !there ? text(`drill.${way}.none`) : triedAt ? text("drill.tried", { time: moment(triedAt) }) : text("drill.untried");
  const press = (/** @type {Event} */ event) => run(/** @type {HTMLElement} */ (event.currentTarget), () => TRIALS[way](known), way === "passkey" ? text("passkey.open") : "");
  // Another device may have the vault without this browser knowing it: its trial is always offered.
  const can = there || way === "device";
  return el(
    "li", { "data-way": way, "data-tried": String(there && triedAt !== null) },
    el("h3", {}, text(`drill.${way}`)),
    el("p", { class: "small" }, state),
    can && el("div", { class: "buttons" }, button(text("drill.try"), press, { kind: "plain", name: `try-${way}` })),
  );
}

/** @type {Record<import("./ways.js").Way, (known: import("../vault/home.js").Facts) => Promise<void>>} */
const TRIALS = { passkey: tryPasskey, password: tryPassword, file: () => go("drill-file"), device: () => go("drill-device") };

/**
 * Any passkey but the one that was used last.
 *
 * @param {import("../vault/home.js").Facts} known
 */
async function tryPasskey({ did, credentials, wraps, tried }) {
  const named = await Promise.all(credentials.map(async (it) => ({ id: it.credential_id, key: await keyId(it.credential_id) })));
  const opening = named.filter((it) => wraps.some((wrap) => wrap.kind === "prf" && wrap.id === it.key));
  const age = (/** @type {{key: string}} */ it) => tried[passkeyMark(it.key)] ?? 0;
  const last = opening.reduce((one, other) => (age(other) > age(one) ? other : one));
  const others = age(last) === 0 ? opening : opening.filter((it) => it !== last);
  const used = await usePasskey({ credentialIds: others.map((it) => it.id) });
  await tryKey(did, await passkeyKey(used));
  await noteTrial(did, passkeyMark(await keyId(used.credentialId)));
  await go("home", { said: text("drill.passkey.works") });
}

/** @param {import("../vault/home.js").Facts} known */
async function tryPassword({ did }) {
  const asked = field(text("password.label"), { type: "password", name: "password", autocomplete: "current-password" });
  const trial = async () => {
    await tryKey(did, { kind: "password", password: asked.input.value });
    await noteTrial(did, "password");
    await go("home", { said: text("drill.password.works") });
  };
  show({
    name: "drill-password",
    heading: text("drill.password"),
    focus: asked.input,
    body: [form((it) => run(it.querySelector("button"), trial, text("working")), asked.node, el("div", { class: "buttons" }, submit(text("drill.try")), back()))],
  });
}

/** The way back to the vault. */
export function back() {
  return button(text("back"), () => go("home"), { kind: "plain", name: "back" });
}

/** The DID of the open vault. */
export async function openDid() {
  return (await (await ready()).vault.query()).did;
}
