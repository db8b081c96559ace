/** A passkey that owns the account and is all that the person has: no file of a vault. */

import { fromHex } from "../bytes.ts";
import { el } from "../kit/el.ts";
import type { Page } from "./main.ts";
import { Node } from "./node.ts";
import { addressOf, isUrl } from "./nodes.ts";
import { type OpenedVault, temporaryVault } from "./opened.ts";
import { form, typed } from "./parts.ts";
import { type Found, ownerPasskey, PasskeyOwner, siteField } from "./passkey.ts";

/** Signs first, as an opened vault does. A vault that only this page has pays for an ordinary transaction. */
export class PasskeyAlone extends PasskeyOwner {
  declare account: string;

  did = "";
  #vault;

  constructor(found: Found, account: string, vault: OpenedVault) {
    super(found);
    this.account = account;
    this.#vault = vault;
  }

  payer() {
    return this.#vault.payer();
  }
}

/** A form for the account's address and its passkey. */
export function aloneForm(page: Page, done: (owner: PasskeyAlone) => void) {
  const { text } = page;
  const account = typed(page, "account", text("alone.account"));
  const rpc = typed(page, "rpc", text("look.rpc"), { type: "url", hint: text("look.rpc.hint") });
  const site = siteField(page, "alone-site");
  const use = async () => {
    const named = addressOf(account.input.value);
    account.say(named ? "" : text("bad.address"));
    rpc.say(isUrl(rpc.input.value) ? "" : text("bad.url"));
    const host = site.read();
    if (!named) return account.input.focus();
    if (!isUrl(rpc.input.value)) return rpc.input.focus();
    if (!host) return;
    const found = await ownerPasskey(page, host, new Node(rpc.input.value), named);
    done(new PasskeyAlone(found, named, await temporaryVault(page.wasm, fromHex(found.signer))));
  };
  const fields = [account.node, rpc.node, site.node];
  return el("details", {}, el("summary", {}, text("alone")), form(page, text("passkey.use"), use, ...fields));
}
