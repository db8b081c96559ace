/** A passkey that owns the account and is all that the person has: no file of a vault. */

import { fromHex } from "../bytes.js";
import { el } from "../kit/el.js";
import { Node } from "./node.js";
import { addressOf, isUrl } from "./nodes.js";
import { temporaryVault } from "./opened.js";
import { form, typed } from "./parts.js";
import { ownerPasskey, PasskeyOwner, siteField } from "./passkey.js";

/** Signs first, as an opened vault does. A vault that only this page has pays for an ordinary transaction. */
export class PasskeyAlone extends PasskeyOwner {
  did = "";
  #vault;

  /**
   * @param {import("./passkey.js").Found} found
   * @param {string} account
   * @param {import("./opened.js").OpenedVault} vault
   */
  constructor(found, account, vault) {
    super(found);
    this.account = account;
    this.#vault = vault;
  }

  payer() {
    return this.#vault.payer();
  }
}

/**
 * A form for the account's address and its passkey.
 *
 * @param {import("./main.js").Page} page
 * @param {(owner: PasskeyAlone) => void} done
 */
export function aloneForm(page, done) {
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
