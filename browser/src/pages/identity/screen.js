/** The screen about the DID at the chain's registry: its state, its names, its metadata, and who controls it. */

import "../keys/texts.js";
import { text } from "../parts/language.js";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.js";
import { confirmed } from "../parts/dialog.js";
import { go } from "../parts/router.js";
import { preparing, run, say, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { card } from "../vault/card.js";
import { grouped } from "../vault/values.js";
import { acceptCard, controlCard } from "./control.js";
import { namesCard } from "./names.js";

/** The registry's limit (contracts/src/DIDRegistry.sol). */
const MOST_METADATA_BYTES = 256;

/**
 * @typedef {object} Known what the screen shows
 * @property {import("../library.js").AccountDid} at the DID at the registry
 * @property {import("../library.js").RegisteredDid} found
 * @property {string} own the client's account
 */

/** @param {{said?: string}} [how] `said`: what happened just now */
export async function identity({ said = "" } = {}) {
  const still = preparing();
  const client = await ready();
  const at = await client.accountDid();
  const [found, { address: own }] = await Promise.all([at.registered(), client.account()]);
  if (!still()) return;
  draw({ at, found, own });
  say(said);
}

/** @param {Known} known */
function draw(known) {
  const { found, own } = known;
  const controls = found.controller === own;
  show({
    name: "identity",
    heading: text("did.heading"),
    redraw: () => draw(known),
    body: [
      stateCard(known),
      ...(controls && found.active ? [namesCard(known), metadataCard(known), controlCard(known)] : []),
      !controls && acceptCard(),
      buttons(button(text("back"), () => go("home"), { kind: "plain", name: "back" })),
    ],
  });
}

/** @param {Known} known */
function stateCard({ at, found, own }) {
  const { controller, active, did } = found;
  const controls = controller === own;
  const change = (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), () => changed(at, !active), text("working"));
  const name = active ? "deactivate" : "activate";
  return card(
    "did-state",
    text("vault.did"),
    el("p", { class: "mono" }, did),
    el(
      "p",
      { "data-name": "state" },
      text(controller === null ? "did.absent" : active ? "did.active" : "did.inactive"),
    ),
    controller !== null && !controls && paragraph("did.foreign", {}, "notice"),
    controller !== null && !controls && el("p", { class: "mono" }, grouped(controller)),
    controls && active && paragraph("did.deactivate.means"),
    controls &&
      el("div", { class: "buttons" }, button(text(`did.${name}`), change, { kind: active ? "bad" : "main", name })),
  );
}

/** @param {import("../library.js").AccountDid} at @param {boolean} active */
async function changed(at, active) {
  const question = {
    heading: text("did.deactivate.sure"),
    words: text("did.deactivate.means"),
    yes: text("did.deactivate"),
  };
  if (!active && !(await confirmed(question))) return;
  await at.setActive(active);
  await identity({ said: text(active ? "did.activated" : "did.deactivated") });
}

/** @param {Known} known */
function metadataCard({ at, found }) {
  const cid = field(
    text("did.metadata.cid"),
    { name: "metadata", value: found.metadata, autocapitalize: "none", spellcheck: "false", autocomplete: "off" },
    text("did.metadata.hint"),
  );
  const save = (/** @type {HTMLFormElement} */ it) => {
    const typed = cid.input.value.trim();
    const tooLong = new TextEncoder().encode(typed).length > MOST_METADATA_BYTES;
    cid.judge(tooLong ? text("did.metadata.long") : "");
    if (tooLong) return cid.input.focus();
    return run(it.querySelector("button"), () => saved(at, typed), text("working"));
  };
  return card(
    "did-metadata",
    text("did.metadata"),
    form(save, cid.node, el("div", { class: "buttons" }, submit(text("did.metadata.save")))),
  );
}

/** @param {import("../library.js").AccountDid} at @param {string} cid */
async function saved(at, cid) {
  await at.setMetadata(cid);
  await identity({ said: text("did.metadata.saved") });
}
