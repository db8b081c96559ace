/** The card that lists, adds, renames and removes passkeys. */

import { keyId } from "../library.js";
import { moment, text } from "../parts/language.js";
import { about as named, button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.js";
import { setVaultOf, vaultOf } from "../parts/notes.js";
import { confirmed } from "../parts/dialog.js";
import { ProblemError } from "../parts/problems.js";
import { go } from "../parts/router.js";
import { run } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { ELSEWHERE, addPasskey, proveFor } from "./adding.js";
import { card } from "./card.js";

/** @typedef {import("../library.js").Credential} Credential */

/** @param {import("./home.js").Facts} known */
export async function passkeysCard({ credentials, wraps, name, did, record, unregistered }) {
  const rows = await Promise.all(
    credentials.map(async (it) => row(it, await keyId(it.credential_id), wraps, wraps.length < 2)),
  );
  for (const [at, { credential_id: id }] of credentials.entries()) {
    if (record && unregistered.includes(id)) rows[at].append(...unknownThere(id, record));
  }
  const add = (/** @type {Record<string, any>} */ options) => (/** @type {Event} */ event) =>
    run(
      /** @type {HTMLElement} */ (event.currentTarget),
      async () => {
        const { credentialId, registered } = await addPasskey({ userName: name || did, ...options });
        if (record && !registered) await proveFor(credentialId, record);
        else await go("home", { said: text("passkeys.added") });
      },
      text("passkey.open"),
    );
  const only = wraps.length < 2;
  return card(
    "passkeys",
    text("passkeys.heading"),
    el(
      "ul",
      { class: "rows" },
      ...rows,
      ...wraps.filter((it) => it.kind === "password").map((it) => passwordRow(it, only)),
    ),
    only && paragraph("passkeys.last", {}, "small"),
    buttons(
      button(text("passkeys.add"), add({ hints: ["client-device"] }), { name: "add" }),
      button(text("passkeys.addKey"), add(ELSEWHERE), { kind: "plain", name: "add-key" }),
    ),
  );
}

/**
 * @param {Credential} credential
 * @param {string} key the name of its key in the vault
 * @param {{kind: string, id: string}[]} wraps
 * @param {boolean} only
 */
function row(credential, key, wraps, only) {
  const { credential_id: id, created_at: made, last_used: used } = credential;
  const name = credential.device_name || text("passkeys.unnamed");
  const opens = wraps.some((wrap) => wrap.kind === "prf" && wrap.id === key);
  const about = el(
    "p",
    { class: "small" },
    [text("passkeys.made", { time: moment(made) }), used !== made && text("passkeys.used", { time: moment(used) })]
      .filter(Boolean)
      .join(", "),
  );
  void vaultOf(id).then((it) => it?.copies && about.append(` · ${text(`passkeys.copies.${it.copies}`)}`));
  if (!opens) about.append(` · ${text("passkeys.closed")}`);
  const item = el("li", { "data-credential": id });
  const remove = (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), () => removed(id, name, opens));
  item.append(
    el("h3", {}, name),
    about,
    el(
      "div",
      { class: "buttons" },
      named(
        button(text("passkeys.rename"), () => renaming(item, id, name), { kind: "plain", name: "rename" }),
        name,
      ),
      // The last key that opens the vault cannot be removed, but a passkey that opens nothing can.
      !(only && opens) && named(button(text("passkeys.remove"), remove, { kind: "plain", name: "remove" }), name),
    ),
  );
  return item;
}

/**
 * Explains that a passkey opens the vault but is not registered, so the service cannot find the DID with it.
 *
 * @param {string} id
 * @param {import("../library.js").DidRecord} record
 */
function unknownThere(id, record) {
  const register = async () => {
    if (record.channel !== "handle") return proveFor(id, record);
    await (await ready()).registerPasskey(id);
    await go("home", { said: text("passkeys.registered") });
  };
  const press = (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), register, text("working"));
  return [
    paragraph("passkeys.unregistered", {}, "small"),
    el("div", { class: "buttons" }, button(text("passkeys.register"), press, { name: "register-passkey" })),
  ];
}

/**
 * @param {{kind: string, id: string}} wrap
 * @param {boolean} only
 */
function passwordRow({ id }, only) {
  const name = text("passkeys.password");
  const remove = async () => {
    const question = {
      heading: text("passkeys.remove.heading", { name }),
      words: text("passkeys.password.remove.text"),
      yes: text("passkeys.remove"),
    };
    if (!(await confirmed(question))) return;
    await (await ready()).vault.removeKey("password", id);
    await go("home", { said: text("passkeys.password.removed") });
  };
  const press = (/** @type {Event} */ event) => run(/** @type {HTMLElement} */ (event.currentTarget), remove);
  return el(
    "li",
    { "data-name": "password" },
    el("h3", {}, name),
    el(
      "div",
      { class: "buttons" },
      !only && named(button(text("passkeys.remove"), press, { kind: "plain", name: "remove" }), name),
    ),
  );
}

/**
 * @param {HTMLElement} item
 * @param {string} id
 * @param {string} name
 */
function renaming(item, id, name) {
  const nameField = field(text("passkeys.name"), { value: name, maxlength: 100, name: "passkey-name" });
  const save = async () => {
    const { vault } = await ready();
    const answer = await vault.exec("resource:credentials action:update", {
      credential_id: id,
      device_name: nameField.input.value.trim(),
    });
    if (!answer.success) throw new ProblemError("problem.unknown", { reason: answer.error ?? "update" });
    await go("home", { said: text("passkeys.renamed") });
  };
  item.replaceChildren(
    form(
      (it) => run(it.querySelector("button"), save),
      nameField.node,
      el(
        "div",
        { class: "buttons" },
        submit(text("passkeys.save")),
        button(text("cancel"), () => go("home"), { kind: "plain" }),
      ),
    ),
  );
  nameField.input.focus();
  nameField.input.select();
}

/**
 * @param {string} id
 * @param {string} name
 * @param {boolean} opens
 */
async function removed(id, name, opens) {
  const question = {
    heading: text("passkeys.remove.heading", { name }),
    words: text("passkeys.remove.text"),
    yes: text("passkeys.remove"),
  };
  if (!(await confirmed(question))) return;
  const client = await ready();
  if (opens) await client.removePasskey(id);
  else await client.vault.exec("resource:credentials action:delete", { credential_id: id });
  await setVaultOf(id, null);
  await go("home", { said: text("passkeys.removed") });
}
