/** The screen about the DID at the chain's registry: its state, its names, its metadata, and who controls it. */

import "../keys/texts.ts";
import type { AccountDid, RegisteredDid } from "../../account/did.ts";
import { text } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { confirmed } from "../parts/dialog.ts";
import { opening } from "../parts/router.ts";
import { preparing, run, say, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "../vault/card.ts";
import { grouped } from "../vault/values.ts";
import { acceptCard, controlCard } from "./control.ts";
import { namesCard } from "./names.ts";

/** The registry's limit (contracts/src/DIDRegistry.sol). */
const MOST_METADATA_BYTES = 256;

/** what the screen shows */
export interface Known {
  /** the DID at the registry */ at: AccountDid;
  found: RegisteredDid;
  /** the client's account */ own: string;
}

/** @param how `said`: what happened just now */
export async function identity({ said = "" }: { said?: string } = {}) {
  const still = preparing();
  const client = await ready();
  const at = await client.accountDid();
  const [found, { address: own }] = await Promise.all([at.registered(), client.account()]);
  if (!still()) return;
  draw({ at, found, own });
  say(said);
}

function draw(known: Known) {
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
      buttons(button(text("back"), opening("home"), { kind: "plain", name: "back" })),
    ],
  });
}

function stateCard({ at, found, own }: Known) {
  const { controller, active, did } = found;
  const controls = controller === own;
  const change = (event: Press) => run(event.currentTarget, () => changed(at, !active), text("working"));
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

async function changed(at: AccountDid, active: boolean) {
  const question = {
    heading: text("did.deactivate.sure"),
    words: text("did.deactivate.means"),
    yes: text("did.deactivate"),
  };
  if (!active && !(await confirmed(question))) return;
  await at.setActive(active);
  await identity({ said: text(active ? "did.activated" : "did.deactivated") });
}

function metadataCard({ at, found }: Known) {
  const cid = field(
    text("did.metadata.cid"),
    { name: "metadata", value: found.metadata, autocapitalize: "none", spellcheck: "false", autocomplete: "off" },
    text("did.metadata.hint"),
  );
  const save = (it: HTMLFormElement) => {
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

async function saved(at: AccountDid, cid: string) {
  await at.setMetadata(cid);
  await identity({ said: text("did.metadata.saved") });
}
