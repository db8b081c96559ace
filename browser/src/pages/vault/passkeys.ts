/** The card that lists, adds, renames and removes passkeys. */

import type { AddOptions } from "../../flows/passkeys.ts";
import type { Credential, DidRecord } from "../../generated/types.ts";
import { keyId } from "../library.ts";
import { moment, text } from "../parts/language.ts";
import { about as named, button, buttons, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { setVaultOf, vaultOf } from "../parts/notes.ts";
import { confirmed } from "../parts/dialog.ts";
import { ProblemError } from "../parts/problems.ts";
import { go, opening } from "../parts/router.ts";
import { run } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { ELSEWHERE, addPasskey, proveFor } from "./adding.ts";
import { card } from "./card.ts";
import type { Facts } from "./home.ts";

export async function passkeysCard({ credentials, wraps, name, did, record, unregistered }: Facts) {
  const rows = await Promise.all(
    credentials.map(async (it) => row(it, await keyId(it.credential_id), wraps, wraps.length < 2)),
  );
  for (const [at, { credential_id: id }] of credentials.entries()) {
    if (record && unregistered.includes(id)) rows[at].append(...unknownThere(id, record));
  }
  const add = (options: AddOptions) => (event: Press) =>
    run(
      event.currentTarget,
      async () => {
        const { credentialId, registered } = await addPasskey({ userName: name || did, ...options });
        if (record && record.channel !== "handle" && !registered) await proveFor(credentialId, record);
        else await go("home", { said: text(record && !registered ? "passkeys.unregistered" : "passkeys.added") });
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

/** @param key the name of its key in the vault */
function row(credential: Credential, key: string, wraps: { kind: string; id: string }[], only: boolean) {
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
  const remove = (event: Press) => run(event.currentTarget, () => removed(id, name, opens));
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

/** Explains that a passkey opens the vault but is not registered, so the service cannot find the DID with it. */
function unknownThere(id: string, record: DidRecord) {
  const register = async () => {
    if (record.channel !== "handle") return proveFor(id, record);
    await (await ready()).registerPasskey(id);
    await go("home", { said: text("passkeys.registered") });
  };
  const press = (event: Press) => run(event.currentTarget, register, text("working"));
  return [
    paragraph("passkeys.unregistered", {}, "small"),
    el("div", { class: "buttons" }, button(text("passkeys.register"), press, { name: "register-passkey" })),
  ];
}

function passwordRow({ id }: { kind: string; id: string }, only: boolean) {
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
  const press = (event: Press) => run(event.currentTarget, remove);
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

function renaming(item: HTMLElement, id: string, name: string) {
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
        button(text("cancel"), opening("home"), { kind: "plain" }),
      ),
    ),
  );
  nameField.input.focus();
  nameField.input.select();
}

async function removed(id: string, name: string, opens: boolean) {
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
