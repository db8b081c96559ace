/**
 * The card about the service's copy of the vault: the upload's state, and the choice between versions if two devices
 * changed the vault.
 */

import type { SnapshotState } from "../../snapshots/state.ts";
import type { TableDifference } from "../../snapshots/versions.ts";
import { passkeyKey, usePasskey } from "../library.ts";
import { text, type TextKey } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { go, opening } from "../parts/router.ts";
import { preparing, run, say, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "./card.ts";
import { copyStatus } from "./copy.ts";

/**
 * Returns the card, which says how far the upload is.
 *
 * @param state null if the module could not be loaded
 */
export function snapshotsCard(state: SnapshotState | null) {
  const name = copyStatus(state);
  const sentence = el("p", { "data-status": name }, text(`kept.${name}`, { reason: state?.reason ?? "" }));
  const now = button(
    text("kept.now"),
    pressed(async () => (await (await ready()).snapshots()).publish()),
    { name: "keep-now" },
  );
  const choose = button(text("kept.choose"), () => go("versions"), { kind: "main", name: "versions" });
  const file = button(text("kept.file"), pressed(saved), { kind: "plain", name: "snapshot-save" });
  const waits = name === "failed" || name === "queued";
  const actions = el("div", { class: "buttons" }, name === "conflict" && choose, waits && now, state !== null && file);
  return card(
    "snapshots",
    text("kept.heading"),
    paragraph("kept.lead"),
    el("div", { "data-name": "kept" }, sentence, actions),
  );
}

/** Saves the newest revision as a snapshot file. */
async function saved() {
  const bytes = await (await (await ready()).snapshots()).file();
  const address = URL.createObjectURL(new Blob([bytes], { type: "application/vnd.ipld.car" }));
  el("a", { href: address, download: `holdfast-${new Date().toISOString().slice(0, 10)}.car` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  say(text("kept.file.saved"));
}

/** The screen that asks which version to keep after two devices have changed the vault. */
export async function versions() {
  const still = preparing();
  const { vault } = await ready();
  const { wraps } = await vault.keys();
  if (!still()) return;
  const secret = wraps.some(({ kind }) => kind === "prf")
    ? null
    : field(text("password.label"), { type: "password", name: "password", autocomplete: "current-password" });
  const key = async () =>
    secret ? { kind: "password" as const, password: secret.input.value } : passkeyKey(await usePasskey());
  const found = el("div", { "aria-live": "polite", "data-name": "differences" });
  const compare = async () => {
    const differences = await (await (await ready()).snapshots()).compare(await key());
    found.replaceChildren(differences.length ? el("ul", {}, ...differences.map(row)) : paragraph("versions.same"));
  };
  const choose = (version: "here" | "there") => async () => {
    await (await (await ready()).snapshots()).choose(version, key);
    await go("home", { said: text("versions.done") });
  };
  show({
    name: "versions",
    heading: text("versions.heading"),
    redraw: () => void versions(),
    body: [
      paragraph("versions.lead"),
      form(
        (it) => run(it.querySelector("button"), compare, text("working")),
        secret && secret.node,
        buttons(submit(text("versions.compare"))),
      ),
      found,
      buttons(
        button(text("versions.here"), pressed(choose("here")), { name: "here" }),
        button(text("versions.there"), pressed(choose("there")), { name: "there" }),
        button(text("back"), opening("home"), { kind: "plain", name: "back" }),
      ),
    ],
  });
}

function row({ table, onlyHere, onlyThere, different }: TableDifference) {
  const counts = { here: onlyHere.length, there: onlyThere.length, different: different.length };
  return el(
    "li",
    {},
    text("versions.row", {
      table: text(`versions.table.${table}` as TextKey),
      ...counts,
    }),
  );
}

function pressed(work: () => Promise<unknown>) {
  return (event: Press) => run(event.currentTarget, work, text("working"));
}
