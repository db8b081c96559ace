/** The first step: the file, and its password or passkey. */

import { PluginCallError, StorageError } from "../errors.js";
import { el } from "../kit/el.js";
import { passkeyKey } from "../passkeys/use.js";
import { aloneForm } from "./alone.js";
import { facts, field } from "./nodes.js";
import { opened } from "./opened.js";
import { form, step } from "./parts.js";
import { passkeyOf, siteField } from "./passkey.js";

/** @typedef {import("./texts.js").TextKey} TextKey */

/** @param {import("./main.js").Page} page */
export function openSection(page) {
  const { text, vault, locked } = page;
  if (vault) return step("opened", text("open.heading"), shown(page, vault));
  const open = (/** @type {import("./plan.js").FirstOwner} */ made) => {
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
 * @param {import("./main.js").Page} page
 * @param {string} prefix of the fields' names
 * @param {(vault: import("./opened.js").OpenedVault) => void | Promise<void>} done
 */
export function openForm(page, prefix, done) {
  const { text } = page;
  const accept = ".car,.mtrv,application/octet-stream";
  const file = field(text("open.file"), { name: `${prefix}file`, type: "file", accept });
  const { files } = page;
  file.input.files = files[prefix] ?? null;
  file.input.addEventListener("change", () => (files[prefix] = file.input.files));
  const password = field(text("open.password"), { name: `${prefix}password`, type: "password" });
  const site = siteField(page, `${prefix}site`);
  const open = async (
    /** @type {() => Promise<Parameters<typeof opened>[1]>} */ keyOf,
    /** @type {TextKey} */ failed,
  ) => {
    const chosen = file.input.files?.[0];
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

/** @param {import("./main.js").Page} page @param {string} site */
async function keyOfPasskey(page, site) {
  const used = await passkeyOf(page, site);
  if (!used.hasKey) throw new Error(page.text("passkey.no_prf"));
  return passkeyKey(used);
}

/**
 * Says in the person's words why a file could not be opened.
 *
 * @template T
 * @param {import("./main.js").Page} page
 * @param {Promise<T>} opening
 * @param {TextKey} failed what is said of a key that does not fit
 * @returns {Promise<T>}
 */
async function explained({ text }, opening, failed) {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof StorageError) throw new Error(text("open.other"), { cause: error });
    if (error instanceof PluginCallError) throw new Error(text(failed, { code: error.code }), { cause: error });
    throw error;
  }
}

/** @param {import("./main.js").Page} page @param {import("./plan.js").FirstOwner} vault */
function shown({ text }, { did, signer, account }) {
  return facts([
    ...(did ? [/** @type {[string, any]} */ ([text("opened.did"), el("code", {}, did)])] : []),
    [text("opened.key"), el("code", { "data-key": true }, signer)],
    [text("opened.account"), el("code", { "data-account": true }, account)],
  ]);
}
