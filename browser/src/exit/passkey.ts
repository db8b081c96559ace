/** Passkeys: they open a snapshot, and sign as owners. Browsers use a passkey only on its site. */

import { fromHex, randomBytes } from "../bytes.ts";
import { placeholderAssertion, signatureIn } from "../chain/assertions.ts";
import { WebAuthnError } from "../errors.ts";
import { instantiate } from "../enclave-host.ts";
import { el } from "../kit/el.ts";
import { type CallEnclave, signersIn } from "../passkeys/among.ts";
import { type UseOptions, usePasskey } from "../passkeys/use.ts";
import type { Page } from "./main.ts";
import type { Node } from "./node.ts";
import { form, typed } from "./parts.ts";
import { ownerAmong } from "./standing.ts";

const ELSEWHERE = ["wrong_origin", "unsupported"]; // also where a page has no passkeys, because it came without HTTPS

/** an owner's passkey */
export interface Found {
  /** X ‖ Y, 0x-hex */ signer: string;
  /** asks for this passkey */ ask: (challenge: Uint8Array<ArrayBuffer>) => Promise<{ assertion: string }>;
}

/** A passkey that is an owner of the account itself. */
export class PasskeyOwner {
  declare signer: string;

  /** Of typical length, for estimates of gas. */
  placeholder = placeholderAssertion();
  #ask;

  constructor({ signer, ask }: Found) {
    this.signer = signer;
    this.#ask = ask;
  }

  /** @param hash of the operation */
  async signed(_operation: unknown, hash: string) {
    return { signature: signatureIn((await this.#ask(fromHex(hash))).assertion), hash };
  }
}

/** A field for the passkey's site. */
export function siteField(page: Page, name: string) {
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

/** @param text a host name, or the address of a page @returns empty for other texts */
export function siteIn(text: string): string {
  const address = text.includes("://") ? text.trim() : `https://${text.trim()}`;
  return URL.canParse(address) ? new URL(address).hostname : "";
}

/** Asks for a passkey of a site, and says in the person's words why the browser used none. */
export async function passkeyOf({ text }: Page, site: string, options: UseOptions = {}) {
  try {
    return await usePasskey({ rpId: site, ...options });
  } catch (error) {
    if (!(error instanceof WebAuthnError)) throw error;
    const isElsewhere = location.protocol === "file:" || ELSEWHERE.includes(error.reason);
    throw new Error(text(isElsewhere ? "passkey.elsewhere" : "passkey.none", { site }), { cause: error });
  }
}

/** A form that takes a passkey as the second owner. */
export function passkeyForm(page: Page, done: (owner: PasskeyOwner) => Promise<void>) {
  const { text, node, standing } = page;
  const site = siteField(page, "second-passkey-site");
  const use = async () => {
    const named = site.read();
    if (named && node && standing)
      await done(new PasskeyOwner(await ownerPasskey(page, named, node, standing.account)));
  };
  return el("details", {}, el("summary", {}, text("second.passkey")), form(page, text("passkey.use"), use, site.node));
}

/** Asks for a passkey of a site once, so that the page learns which owner of an account it is. */
export async function ownerPasskey(page: Page, site: string, node: Node, account: string): Promise<Found> {
  const { credentialId, assertion } = await passkeyOf(page, site, { challenge: randomBytes(32) });
  const enclave = await instantiate(page.wasm);
  const call: CallEnclave = (fn, args) => enclave.call(fn, args);
  const signer = await ownerAmong(node, account, await signersIn(assertion, call));
  if (!signer) throw new Error(page.text("passkey.other"));
  const credentialIds = [credentialId];
  return { signer, ask: (challenge) => passkeyOf(page, site, { challenge, credentialIds }) };
}
