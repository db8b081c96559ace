/** The first step: the file and its password. */

import { PluginCallError, StorageError } from "../errors.js";
import { el } from "../kit/el.js";
import { facts, field } from "./nodes.js";
import { opened } from "./opened.js";
import { form, step } from "./parts.js";

/** @param {import("./main.js").Page} page */
export function openSection(page) {
  const { text, vault } = page;
  if (vault) return step("opened", text("open.heading"), shown(page, vault));
  const open = (/** @type {import("./opened.js").OpenedVault} */ made) => {
    page.vault = made;
    page.draw("look");
  };
  const notes = [el("p", { class: "notice" }, text("open.passkey")), el("p", { class: "small" }, text("open.safe"))];
  return step("open", text("open.heading"), ...notes, openForm(page, "", open));
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
  const password = field(text("open.password"), { name: `${prefix}password`, type: "password" });
  const open = async () => {
    const chosen = file.input.files?.[0];
    if (!chosen) return file.input.focus();
    const octets = new Uint8Array(await chosen.arrayBuffer());
    await done(await explained(page, opened(octets, password.input.value, page.wasm)));
  };
  return form(page, text("open.do"), open, file.node, password.node);
}

/**
 * Says in the person's words why a file could not be opened.
 *
 * @template T
 * @param {import("./main.js").Page} page
 * @param {Promise<T>} opening
 * @returns {Promise<T>}
 */
async function explained({ text }, opening) {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof StorageError) throw new Error(text("open.other"), { cause: error });
    if (error instanceof PluginCallError) throw new Error(text("open.failed", { code: error.code }), { cause: error });
    throw error;
  }
}

/** @param {import("./main.js").Page} page @param {import("./opened.js").OpenedVault} vault */
function shown({ text }, { did, signer, account }) {
  return facts([
    [text("opened.did"), el("code", {}, did)],
    [text("opened.key"), el("code", { "data-key": true }, signer)],
    [text("opened.account"), el("code", { "data-account": true }, account)],
  ]);
}
