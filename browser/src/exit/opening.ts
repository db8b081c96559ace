/** The first step: the file, and its password or passkey. */

import { PluginCallError, StorageError } from "../errors.ts";
import { type Child, el } from "../kit/el.ts";
import { passkeyKey } from "../passkeys/use.ts";
import { aloneForm } from "./alone.ts";
import type { Page } from "./main.ts";
import { facts, field } from "./nodes.ts";
import { opened, type OpenedVault } from "./opened.ts";
import { form, step } from "./parts.ts";
import { passkeyOf, siteField } from "./passkey.ts";
import type { FirstOwner } from "./plan.ts";
import type { TextKey } from "./texts.ts";

export function openSection(page: Page) {
  const { text, vault, locked } = page;
  if (vault) return step("opened", text("open.heading"), shown(page, vault));
  const open = (made: FirstOwner) => {
    page.vault = made;
    if (made.signer !== locked.first) Object.assign(page, { second: null, standing: null, chosen: null, sent: null });
    page.draw(page.chosen ? "plan" : "look");
  };
  const note = locked.first
    ? el("p", { class: "notice" }, text("open.again"))
    : el("p", { class: "small" }, text("open.safe"));
  return step("open", text("open.heading"), note, openForm(page, "", open), aloneForm(page, open));
}

/**
 * A form that opens a vault.
 *
 * @param prefix of the fields' names
 */
export function openForm(page: Page, prefix: string, done: (vault: OpenedVault) => void | Promise<void>) {
  const { text } = page;
  const accept = ".car,.mtrv,application/octet-stream";
  const file = field(text("open.file"), { name: `${prefix}file`, type: "file", accept });
  const { files } = page;
  file.input.files = files[prefix] ?? null;
  file.input.addEventListener("change", () => (files[prefix] = file.input.files));
  const password = field(text("open.password"), { name: `${prefix}password`, type: "password" });
  const site = siteField(page, `${prefix}site`);
  const open = async (keyOf: () => Promise<Parameters<typeof opened>[1]>, failed: TextKey) => {
    const chosen = file.input.files?.[0];
    file.say(chosen ? "" : text("bad.file"));
    if (!chosen) return file.input.focus();
    const octets = new Uint8Array(await chosen.arrayBuffer());
    await done(await explained(page, opened(octets, await keyOf(), page.wasm), failed));
  };
  const byPassword = () => open(async () => ({ kind: "password", password: password.input.value }), "open.failed");
  const byPasskey = async () => {
    const named = site.read();
    if (named) await open(() => keyOfPasskey(page, named), "passkey.unfit");
  };
  return el(
    "div",
    {},
    form(page, text("open.do"), byPassword, file.node, password.node),
    el(
      "details",
      { "data-passkey": true },
      el("summary", {}, text("open.passkey")),
      form(page, text("passkey.use"), byPasskey, site.node),
    ),
  );
}

async function keyOfPasskey(page: Page, site: string) {
  const used = await passkeyOf(page, site);
  if (!used.hasKey) throw new Error(page.text("passkey.no_prf"));
  return passkeyKey(used);
}

/**
 * Says in the person's words why a file could not be opened.
 *
 * @param failed what is said of a key that does not fit
 */
async function explained<T>({ text }: Page, opening: Promise<T>, failed: TextKey): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof StorageError) throw new Error(text("open.other"), { cause: error });
    if (error instanceof PluginCallError) throw new Error(text(failed, { code: error.code }), { cause: error });
    throw error;
  }
}

function shown({ text }: Page, { did, signer, account }: FirstOwner) {
  return facts([
    ...(did ? [[text("opened.did"), el("code", {}, did)] as [string, Child]] : []),
    [text("opened.key"), el("code", { "data-key": true }, signer)],
    [text("opened.account"), el("code", { "data-account": true }, account)],
  ]);
}
