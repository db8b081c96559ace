/** The page on which a person confirms a shop's payment request. The vault's keys stay in the worker. */

import { Client, passkeyKey, payeeOf, usePasskey } from "../holdfast.js";
import { checkBalance, feeIn, feeOf, publicAccount } from "./account.js";
import { el } from "./el.js";
import { meta } from "./meta.js";
import { familiarity, paidBefore, rememberPayee } from "./payees.js";
import { isPassing, refusalOf } from "./refusals.js";
import { readRequest, Refusal } from "./request.js";
import { begin, guardMainButton, screen, showButtons, tell, warn } from "./screens.js";
import { amountOf, sheet, showFee } from "./sheet.js";
import { Shop } from "./shop.js";
import { text } from "./text.js";

/**
 * @typedef {import("./request.js").Request} Request
 * @typedef {import("./request.js").Asked} Asked
 * @typedef {import("./account.js").Fee} Fee
 * @typedef {import("../holdfast.js").VaultKey} VaultKey
 * @typedef {import("./text.js").TextKey} TextKey
 */

/** How long this window stays open at most until the vault has a first copy at the service. */
const COPY_WITHIN_MS = 5000;

/** One payment request and the window that handles it. */
class Payment {
  /** @type {Request | null} */
  #request = null;
  /** @type {Fee | null} the fee on the sheet */
  #fee = null;
  #payee = { address: "", did: /** @type {string | null} */ (null) };
  #did = "";
  /** @type {string[]} all vaults of this browser, the most recently used first */
  #dids = [];
  #shop;
  #client = new Client({ snapshots: { serviceDid: meta("did") || undefined } });
  #booted = this.#client.boot();
  #facts;
  #busy = false;
  #takeOver = false;
  #withPassword = false;
  /** Whether the person has agreed to everything and can no longer cancel. */
  #agreedTo = false;
  /** Whether the signed operation may have reached the bundler. */
  #handedOver = /** @type {import("./refusals.js").HandedOver} */ (false);
  #over = false;

  /**
   * @param {string} id of the payment request
   * @param {import("./request.js").Facts} facts
   */
  constructor(id, facts) {
    this.#facts = facts;
    this.#booted.catch(() => {});
    this.#shop = new Shop(id, { onRequest: (asked) => void this.#asked(asked), onOver: () => this.#end("over_title", text("over")) });
    document.addEventListener("keydown", ({ key }) => key === "Escape" && this.cancel());
    addEventListener("focus", guardMainButton);
  }

  /** Cancels the payment for the person, unless it is too late to cancel. */
  cancel() {
    if (this.#over || this.#agreedTo || !this.#request) return;
    this.#shop.refused("user_cancelled");
    this.#end("refused_title", text("cancelled"));
  }

  /** @param {Asked} asked */
  async #asked(asked) {
    if (this.#request || this.#over) return;
    tell(text("checking"));
    try {
      this.#request = readRequest(asked, this.#facts);
      await this.#booted;
      await this.#vaults();
      this.#payee = await payeeOf(this.#client, this.#request.params.to);
      await this.#draw();
      await this.#preview();
    } catch (error) {
      const refusal = refusalOf(error);
      if (this.#dids.length > 1 && refusal.code.startsWith("insufficient")) this.#failedChoice(refusal);
      else this.#refuse(refusal);
    }
  }

  /** Lists this browser's vaults. The most recently used vault pays, unless the person chooses another. */
  async #vaults() {
    const stored = await this.#client.vault.stored();
    this.#dids = stored.sort((one, other) => other.updatedAt - one.updatedAt).map((it) => it.did);
    if (this.#dids.length === 0) throw new Refusal("no_vault");
    this.#did = this.#dids[0];
  }

  /** @param {string} did the vault that is to pay instead: fee and balance are those of another account */
  async #chosen(did) {
    if (this.#busy || this.#over) return;
    this.#did = did;
    this.#fee = null;
    this.#takeOver = false;
    warn("");
    try {
      await this.#preview();
    } catch (error) {
      if (did === this.#did) this.#failedChoice(refusalOf(error));
    }
  }

  /** @param {Refusal} refusal for the chosen vault; another one may be able to pay */
  #failedChoice({ code, values }) {
    showFee(null);
    warn(text(/** @type {TextKey} */ (code), values));
  }

  async #draw() {
    const request = this.#known();
    const paid = await paidBefore().catch(() => []);
    const choice = { dids: this.#dids, did: this.#did, onChoice: (/** @type {string} */ did) => void this.#chosen(did) };
    const facts = { chainName: this.#facts.chainName, choice, familiarity: familiarity(this.#payee.address, paid) };
    screen(text("pay_host", { host: request.site.host }), [sheet(request, this.#payee, facts)], this.#buttons());
    performance.mark("holdfast:sheet");
  }

  /** Shows the fee and checks the balance if both are known before the vault is open. */
  async #preview() {
    const [request, did] = [this.#known(), this.#did];
    const key = await publicAccount(this.#client, did);
    if (key && !this.#busy) {
      await checkBalance(this.#client, key.address, request);
      const fee = await feeOf(this.#client, key, request, this.#payee.address);
      if (did === this.#did) this.#fee = fee;
    }
    if (!this.#over && did === this.#did) showFee(this.#fee);
  }

  async #approve() {
    if (this.#busy || this.#over) return;
    this.#busy = true;
    this.#setBusy(true);
    warn("");
    try {
      await this.#pay(await this.#key());
    } catch (error) {
      this.#failed(refusalOf(error, this.#handedOver));
    } finally {
      this.#busy = false;
    }
  }

  /** @returns {Promise<VaultKey>} */
  async #key() {
    if (this.#withPassword) return { kind: "password", password: passwordField().value };
    tell(text("passkey"));
    return passkeyKey(await usePasskey());
  }

  /** @param {VaultKey} key */
  async #pay(key) {
    const { vault } = this.#client;
    tell(text("preparing"));
    const opened = await vault.unlock(key, null, { did: this.#did, takeOver: this.#takeOver });
    if (!opened.success) throw new Refusal(this.#lockedBy(opened.error ?? ""));
    const request = this.#known();
    const account = await this.#client.account();
    // The balance is checked while the operation is being prepared. A balance that is too low is reported instead of
    // the sponsor's error.
    const enough = checkBalance(this.#client, account.address, request);
    enough.catch(() => {});
    const paying = this.#client.pay(request.params, {
      approve: (operation) => enough.then(() => this.#agreed(feeIn(operation))),
      onProgress: (step) => this.#progress(step),
    });
    const result = await paying.catch((error) => enough.then(() => Promise.reject(error)));
    tell(text("copying"));
    await this.#client.snapshots().then((it) => it.firstCopy(COPY_WITHIN_MS)).catch(() => {});
    this.#shop.paid(result);
    await rememberPayee(this.#payee.address).catch(() => {});
    this.#paid(result);
  }

  /** @param {string} error of the enclave */
  #lockedBy(error) {
    if (error === "open_elsewhere") return "open_elsewhere";
    if (error === "wrong_key") return this.#withPassword ? "wrong_password" : "wrong_key";
    return "vault_locked";
  }

  /**
   * Checks just before signing that the person has agreed to this fee, and asks again if not.
   *
   * @param {Fee} fee
   */
  async #agreed(fee) {
    const seen = this.#fee;
    if (!fee.sponsored && (seen === null || seen.sponsored || fee.cost > seen.cost)) await this.#askAgain(fee);
    else if (seen === null) showFee(fee);
    if (this.#over) throw new Refusal("user_cancelled");
    this.#agreedTo = true;
    this.#shop.handingOver();
    showButtons([]);
  }

  /**
   * @param {Fee} fee
   * @returns {Promise<void>}
   */
  #askAgain(fee) {
    this.#fee = fee;
    showFee(fee);
    tell("");
    warn(text("fee_changed"));
    return new Promise((resolve) => {
      const onclick = () => {
        this.#setBusy(true);
        warn("");
        resolve();
      };
      showButtons([this.#cancelButton(), { id: "approve", main: true, text: this.#payText(), onclick }]);
    });
  }

  /** @param {import("../flows/pay.js").PaymentStep} step */
  #progress(step) {
    if (step === "prepared") tell(text("signing"));
    if (step === "signed") {
      this.#handedOver = "perhaps";
      tell(text("sending"));
    }
    if (step === "sent") {
      this.#handedOver = "surely";
      tell(text("sent", { chain: this.#facts.chainName }));
    }
  }

  /** @param {Refusal} refusal */
  #failed(refusal) {
    if (this.#over) return;
    if (this.#handedOver || !isPassing(refusal)) return this.#refuse(refusal);
    this.#agreedTo = false;
    if (refusal.code === "open_elsewhere") this.#takeOver = true;
    tell("");
    showButtons(this.#buttons());
    warn(text(/** @type {TextKey} */ (refusal.code), refusal.values));
  }

  /** @param {Refusal} refusal */
  #refuse({ code, values }) {
    if (this.#over) return;
    this.#over = true;
    const shown = { ...values, ...(values.what && { what: text(/** @type {TextKey} */ (values.what)) }) };
    const open = code === "unconfirmed";
    const said = [el("p", { id: "refusal" }, text(/** @type {TextKey} */ (code), shown))];
    if (!open && code !== "chain_failed") said.push(el("p", {}, text("nothing_paid")));
    const back = { id: "back", main: true, text: text("back"), onclick: () => this.#back(code) };
    const register = code === "no_vault" ? [{ id: "register", href: "/", text: text("register") }] : [];
    screen(text(open ? "unconfirmed_title" : "refused_title"), said, [...register, back]);
    this.#close();
  }

  /** @param {string} code */
  #back(code) {
    this.#shop.refused(FOR_SHOP[code] ?? code);
    showButtons([]);
    tell(text("over"));
  }

  /** @param {import("../generated/types.js").PaymentResult} result */
  #paid({ explorerUrl }) {
    const request = this.#known();
    const said = el("p", { id: "outcome" }, text("done_text", { amount: amountOf(request), host: request.site.host }));
    const link = explorerUrl ? [{ id: "explorer", href: explorerUrl, text: text("explorer") }] : [];
    this.#over = true;
    screen(text("done"), [said], link);
    this.#close();
  }

  /**
   * @param {TextKey} title
   * @param {string} said
   */
  #end(title, said) {
    if (this.#over) return;
    this.#over = true;
    screen(text(title), [el("p", { id: "outcome" }, said)], []);
    this.#close();
  }

  #close() {
    void this.#client.vault.lock().catch(() => {}).finally(() => this.#client.close());
  }

  /** @returns {import("./screens.js").Button[]} */
  #buttons() {
    const other = this.#withPassword ? text("use_passkey") : text("use_password");
    const label = this.#takeOver ? text("use_here") : this.#payText();
    return [
      { id: "other-key", text: other, onclick: () => this.#otherKey() },
      this.#cancelButton(),
      { id: "approve", main: true, text: label, onclick: () => void this.#approve() },
    ];
  }

  /** @returns {import("./screens.js").Button} */
  #cancelButton() {
    return { id: "cancel", text: text("cancel"), onclick: () => this.cancel() };
  }

  #payText() {
    const request = this.#known();
    return request.token ? text("pay", { amount: amountOf(request) }) : text("pay_unknown");
  }

  #otherKey() {
    this.#withPassword = !this.#withPassword;
    document.getElementById("password-form")?.remove();
    if (this.#withPassword) document.getElementById("screen")?.append(passwordForm(() => void this.#approve()));
    showButtons(this.#buttons());
    if (this.#withPassword) passwordField().focus();
  }

  /** @param {boolean} busy */
  #setBusy(busy) {
    for (const button of document.querySelectorAll("#buttons button")) {
      if (button.id !== "cancel") /** @type {HTMLButtonElement} */ (button).disabled = busy;
    }
  }

  #known() {
    if (!this.#request) throw new Error("no request has arrived");
    return this.#request;
  }
}

/** Refusal codes that are reported to shops under a different name. */
const FOR_SHOP = /** @type {Record<string, string>} */ ({ insufficient_fee: "insufficient_balance", chain_failed: "chain_rejected" });

/** @returns {HTMLInputElement} */
function passwordField() {
  return /** @type {HTMLInputElement} */ (document.getElementById("password"));
}

/** @param {() => void} onsubmit */
function passwordForm(onsubmit) {
  const field = el("input", { id: "password", type: "password", autocomplete: "current-password", required: true });
  const submitted = (/** @type {Event} */ event) => {
    event.preventDefault();
    onsubmit();
  };
  return el("form", { id: "password-form", onsubmit: submitted }, el("label", { htmlFor: "password" }, text("password")), field);
}

begin();
const id = new URLSearchParams(location.search).get("request");
if (navigator.serviceWorker?.controller && id) {
  new Payment(id, { chainId: Number(meta("chain")), chainName: meta("chain-name"), usdc: meta("usdc") });
} else {
  screen(text("over_title"), [el("p", { id: "outcome" }, text("none"))], []);
}
