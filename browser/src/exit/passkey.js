/** Passkeys: they open a snapshot, and sign as the second owner. Browsers use a passkey only on its site. */

import { fromBase64, fromHex, randomBytes } from "../bytes.js";
import { placeholderAssertion, signatureIn } from "../chain/assertions.js";
import { WebAuthnError } from "../errors.js";
import { el } from "../kit/el.js";
import { usePasskey } from "../passkeys/use.js";
import { form, typed } from "./parts.js";

const ELSEWHERE = ["wrong_origin", "unsupported"]; // also where a page has no passkeys, because it came without HTTPS
const KEY_LENGTH = 130;
const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/**
 * @typedef {import("./main.js").Page} Page
 * @typedef {import("../passkeys/use.js").UseOptions} UseOptions
 */

/** A passkey that is an owner of the account itself. */
export class PasskeyOwner {
  /** Of typical length, for estimates of gas. */
  placeholder = placeholderAssertion();
  #ask;

  /**
   * @param {string} signer X ‖ Y, 0x-hex
   * @param {(challenge: Uint8Array<ArrayBuffer>) => Promise<{assertion: string}>} ask asks for this passkey
   */
  constructor(signer, ask) {
    this.signer = signer;
    this.#ask = ask;
  }

  /** @param {unknown} _operation @param {string} hash of the operation */
  async signed(_operation, hash) {
    return { signature: signatureIn((await this.#ask(fromHex(hash))).assertion) };
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
 * A form that takes a passkey as the second owner. The browser asks for it once, so that the page learns which owner it is.
 *
 * @param {Page} page
 * @param {() => Promise<string[]>} signers returns keys that it may have, 0x-hex
 * @param {(owner: PasskeyOwner) => Promise<void>} done
 */
export function passkeyForm(page, signers, done) {
  const { text } = page;
  const site = siteField(page, "second-passkey-site");
  const use = async () => {
    const named = site.read();
    if (!named) return;
    const { credentialId, assertion } = await passkeyOf(page, named, { challenge: randomBytes(32) });
    const signer = await signerAmong(await signers(), assertion);
    if (!signer) throw new Error(text("second.passkey.other"));
    const credentialIds = [credentialId];
    await done(new PasskeyOwner(signer, (challenge) => passkeyOf(page, named, { challenge, credentialIds })));
  };
  return el("details", {}, el("summary", {}, text("second.passkey")), form(page, text("passkey.use"), use, site.node));
}

/**
 * Returns whose signature an assertion has.
 *
 * @param {string[]} signers 0x-hex
 * @param {string} assertion base64 of its JSON
 * @returns {Promise<string>} empty if of another key
 */
export async function signerAmong(signers, assertion) {
  const { response } = JSON.parse(new TextDecoder().decode(fromBase64(assertion)));
  const client = await crypto.subtle.digest("SHA-256", fromBase64(response.clientDataJSON));
  const signed = new Uint8Array([...fromBase64(response.authenticatorData), ...new Uint8Array(client)]);
  const signature = fromHex(signatureIn(assertion).slice(0, KEY_LENGTH)); // r and s come first
  for (const signer of signers.filter((it) => it.length === KEY_LENGTH)) {
    const key = await crypto.subtle.importKey("raw", fromHex(`0x04${signer.slice(2)}`), ECDSA, false, ["verify"]);
    if (await crypto.subtle.verify(ECDSA, key, signature, signed)) return signer;
  }
  return "";
}
