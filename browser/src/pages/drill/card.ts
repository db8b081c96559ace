/**
 * The card of the recovery drill lists the ways back into the vault after losing a passkey or this browser, and lets
 * the person test each way.
 */

import { keyId, passkeyKey, usePasskey } from "../library.ts";
import { moment, text, type TextKey } from "../parts/language.ts";
import { about, button, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { addFacts } from "../../kit/notes.ts";
import { copiesOf } from "../parts/providers.ts";
import { go, opening } from "../parts/router.ts";
import { run, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "../vault/card.ts";
import { copyOf } from "../vault/copy.ts";
import type { Facts } from "../vault/home.ts";
import { fetchCopy, noteTrial, tryKey } from "./trials.ts";
import { passkeyMark, type Row, survives, type Way, ways } from "./ways.ts";

export function drillCard(known: Facts) {
  const rows = ways(known);
  const safe = survives(rows, known.tried);
  return card(
    "drill",
    text("drill.heading"),
    paragraph("drill.lead"),
    el(
      "ul",
      { class: "rows" },
      el(
        "li",
        { "data-loss": "passkey", "data-safe": String(safe.passkey) },
        text(safe.passkey ? "drill.passkey.safe" : "drill.passkey.unsafe"),
      ),
      el(
        "li",
        { "data-loss": "browser", "data-safe": String(safe.browser) },
        text(safe.browser ? "drill.browser.safe" : "drill.browser.unsafe"),
      ),
    ),
    el("ul", { class: "rows" }, ...rows.map((it) => row(it, known))),
  );
}

function row({ way, there, triedAt }: Row, known: Facts) {
  const asks = way === "passkey" || (way === "copy" && known.wraps.some(({ kind }) => kind === "prf"));
  const press = (event: Press) => run(event.currentTarget, () => TRIALS[way](known), asks ? text("passkey.open") : "");
  // Another device may have the vault without this browser's knowledge, so the device test is always offered.
  // What owns or brings back the account is known to the chain alone.
  const offered = way === "device" ? text("drill.device.has") : way === "account" && text("drill.try");
  const label = there ? text("drill.try") : offered;
  return el(
    "li",
    { "data-way": way, "data-tried": String(there && triedAt !== null) },
    el("h3", {}, text(`drill.${way}`)),
    el("p", { class: "small" }, stateOf({ way, there, triedAt }, known)),
    label &&
      el(
        "div",
        { class: "buttons" },
        about(button(label, press, { kind: "plain", name: `try-${way}` }), text(`drill.${way}`)),
      ),
  );
}

function stateOf({ way, there, triedAt }: Row, { copyAt, snapshot }: Facts) {
  if (way === "copy" && copyOf(snapshot) === "coming") return text("drill.copy.coming");
  if (!there) return text(`drill.${way}.none` as TextKey);
  if (!triedAt) return text("drill.untried");
  const time = moment(triedAt);
  return way === "copy" && copyAt
    ? text("drill.copy.tried", { time, written: moment(copyAt) })
    : text("drill.tried", { time });
}

const TRIALS: Record<Way, (known: Facts) => Promise<void>> = {
  passkey: tryPasskey,
  password: tryPassword,
  copy: tryCopy,
  file: () => go("drill-file"),
  device: () => go("drill-device"),
  account: () => go("drill-account"),
};

/** Tests any passkey except the most recently used one. */
async function tryPasskey({ did, credentials, wraps, tried }: Facts) {
  const named = await Promise.all(
    credentials.map(async (it) => ({ id: it.credential_id, key: await keyId(it.credential_id) })),
  );
  const opening = named.filter((it) => wraps.some((wrap) => wrap.kind === "prf" && wrap.id === it.key));
  const age = (it: { key: string }) => tried[passkeyMark(it.key)] ?? 0;
  const last = opening.reduce((one, other) => (age(other) > age(one) ? other : one));
  const others = age(last) === 0 ? opening : opening.filter((it) => it !== last);
  const used = await usePasskey({ credentialIds: others.map((it) => it.id) });
  await tryKey(did, await passkeyKey(used));
  await noteTrial(did, passkeyMark(await keyId(used.credentialId)));
  await go("home", { said: text("drill.passkey.works") });
}

async function tryPassword({ did }: Facts) {
  askPassword("drill-password", text("drill.password"), async (password) => {
    await tryKey(did, { kind: "password", password });
    await noteTrial(did, "password");
    await go("home", { said: text("drill.password.works") });
  });
}

/** Tests whether the service's newest copy can be opened as in an empty browser: with a passkey or the password. */
async function tryCopy({ did, credentials, wraps }: Facts) {
  if (!wraps.some(({ kind }) => kind === "prf")) {
    return askPassword("drill-copy", text("drill.copy"), async (password) => {
      const { name } = await (await ready()).vault.publishingKey();
      await copied(did, await fetchCopy(did, { name, key: { kind: "password", password } }), true);
    });
  }
  const passkey = await usePasskey({ credentialIds: credentials.map((it) => it.credential_id) });
  await copied(did, await fetchCopy(did, { passkey }), (await copiesOf(passkey.assertion)) !== "one");
}

/** @param elsewhere whether the key that opened the copy also exists outside this browser and device */
async function copied(did: string, { updatedAt, newest }: { updatedAt: number; newest: boolean }, elsewhere: boolean) {
  await noteTrial(did, "copy", { copyElsewhere: elsewhere ? Date.now() : 0 });
  await addFacts(did, { copyAt: updatedAt });
  await go("home", { said: text(newest ? "drill.copy.works" : "drill.copy.older", { time: moment(updatedAt) }) });
}

function askPassword(name: string, heading: string, trial: (password: string) => Promise<void>) {
  const passwordField = field(text("password.label"), {
    type: "password",
    name: "password",
    autocomplete: "current-password",
  });
  show({
    name,
    heading,
    focus: passwordField.input,
    redraw: () => askPassword(name, heading, trial),
    body: [
      form(
        (it) => run(it.querySelector("button"), () => trial(passwordField.input.value), text("working")),
        passwordField.node,
        el("div", { class: "buttons" }, submit(text("drill.try")), back()),
      ),
    ],
  });
}

/** Creates the button that leads back to the vault. */
export function back() {
  return button(text("back"), opening("home"), { kind: "plain", name: "back" });
}

/** Returns the open vault's DID. */
export async function openDid() {
  return (await (await ready()).vault.query()).did;
}
