/** Passkeys: they open a snapshot, and sign as owners. Browsers use a passkey only on its site. */

import { fromHex, randomBytes } from "../bytes.js";
import { placeholderAssertion, signatureIn } from "../chain/assertions.js";
import { WebAuthnError } from "../errors.js";
import { instantiate } from "../enclave-host.js";
import { el } from "../kit/el.js";
import { signersIn } from "../passkeys/among.js";
import { usePasskey } from "../passkeys/use.js";
import { form, typed } from "./parts.js";
import { ownerAmong } from "./standing.js";

const ELSEWHERE = ["wrong_origin", "unsupported"]; // also where a page has no passkeys, because it came without HTTPS

/**
 * @typedef {import("./main.js").Page} Page
 * @typedef {import("../passkeys/use.js").UseOptions} UseOptions
 * @typedef {object} Found an owner's passkey
 * @property {string} signer X ‖ Y, 0x-hex
 * @property {(challenge: Uint8Array<ArrayBuffer>) => Promise<{assertion: string}>} ask asks for this passkey
 */

/** A passkey that is an owner of the account itself. */
export class PasskeyOwner {
  /** Of typical length, for estimates of gas. */
  placeholder = placeholderAssertion();
  #ask;

  /** @param {Found} found */
  constructor({ signer, ask }) {
    this.signer = signer;
    this.#ask = ask;
  }

  /** @param {unknown} _operation @param {string} hash of the operation */
  async signed(_operation, hash) {
    return { signature: signatureIn((await this.#ask(fromHex(hash))).assertion), hash };
  }
}

/**
 * A field for the passkey's site.
 *
 * @param {Page} page
 * @param {string} name
 */
export function siteField(page, name) {
  page.typed[name] ??= location.hostname;
  const { node, input, say } = typed(page, name, page.text("passkey.site"), { hint: page.text("passkey.site.hint") });
  const read = () => {
    const site = siteIn(input.value);
    say(site ? "" : page.text("bad.site"));
    if (!site) input.focus();
    return site;
  };
  return { node, read };
}

/** @param {string} text a host name, or the address of a page @returns {string} empty for other texts */
export function siteIn(text) {
  const address = text.includes("://") ? text.trim() : `https://${text.trim()}`;
  return URL.canParse(address) ? new URL(address).hostname : "";
}

/**
 * Asks for a passkey of a site, and says in the person's words why the browser used none.
 *
 * @param {Page} page
 * @param {string} site
 * @param {UseOptions} [options]
 */
export async function passkeyOf({ text }, site, options = {}) {
  try {
    return await usePasskey({ rpId: site, ...options });
  } catch (error) {
    if (!(error instanceof WebAuthnError)) throw error;
    const isElsewhere = location.protocol === "file:" || ELSEWHERE.includes(error.reason);
    throw new Error(text(isElsewhere ? "passkey.elsewhere" : "passkey.none", { site }), { cause: error });
  }
}

/**
 * A form that takes a passkey as the second owner.
 *
 * @param {Page} page
 * @param {(owner: PasskeyOwner) => Promise<void>} done
 */
export function passkeyForm(page, done) {
  const { text, node, standing } = page;
  const site = siteField(page, "second-passkey-site");
  const use = async () => {
    const named = site.read();
    if (named && node && standing)
      await done(new PasskeyOwner(await ownerPasskey(page, named, node, standing.account)));
  };
  return el("details", {}, el("summary", {}, text("second.passkey")), form(page, text("passkey.use"), use, site.node));
}

/**
 * Asks for a passkey of a site once, so that the page learns which owner of an account it is.
 *
 * @param {Page} page
 * @param {string} site
 * @param {import("./node.js").Node} node
 * @param {string} account
 * @returns {Promise<Found>}
 */
export async function ownerPasskey(page, site, node, account) {
  const { credentialId, assertion } = await passkeyOf(page, site, { challenge: randomBytes(32) });
  const enclave = await instantiate(page.wasm);
  const call = (/** @type {string} */ fn, /** @type {object} */ args) => enclave.call(fn, args);
  const signer = await ownerAmong(node, account, await signersIn(assertion, call));
  if (!signer) throw new Error(page.text("passkey.other"));
  const credentialIds = [credentialId];
  return { signer, ask: (challenge) => passkeyOf(page, site, { challenge, credentialIds }) };
}
