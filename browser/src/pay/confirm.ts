/** The page on which a person confirms a shop's payment request. The vault's keys stay in the worker. */

import "../kit/kit.ts";
import type { PaymentStep } from "../flows/pay.ts";
import { payeeOf } from "../flows/payee.ts";
import { Client } from "../holdfast.ts";
import { facts, noteSent, type Sent, shareSent } from "../kit/stored.ts";
import type { VaultKey } from "../passkeys/secrets.ts";
import { checkBalance, type Fee, feeIn, feeOf, publicAccount } from "./account.ts";
import { showOver, showPaid, showRefusal } from "./endings.ts";
import { KeyEntry } from "./key_entry.ts";
import { meta } from "../kit/meta.ts";
import { familiarity, paidBefore, rememberPayee } from "../kit/payees.ts";
import { showReceive } from "./receive.ts";
import { type HandedOver, isPassing, refusalOf } from "./refusals.ts";
import { type Facts, movedBy, type PaymentMessage, readRequest, Refusal, type Request } from "./request.ts";
import { begin, type Button, guardMainButton, keepFocus, screen, showButtons, tell, warn } from "./screens.ts";
import { amountOf, type Payer, requestSheet, showFee, showLeft } from "./sheet.ts";
import { Shop } from "./shop.ts";
import { language, text, type TextKey } from "./text.ts";

/**
 * `asking`: the sheet is shown; `working`: the person has approved, and may still cancel; `agreed`: the operation is
 * being signed and sent, and only the chain decides
 */
type State = "reading" | "asking" | "working" | "agreed" | "over";

/** How long this window stays open at most until the vault has a first copy at the service. */
const COPY_WITHIN_MS = 5000;

/** One payment request and the window that handles it. */
class Payment {
  #state: State = "reading";
  /** Whether the signed operation may have reached the bundler. */
  #handedOver = false as HandedOver;
  /** Nothing reads it before it has arrived. */
  #request = null as unknown as Request;
  /** the fee on the sheet */
  #fee: Fee | null = null;
  #hash = "";
  #payee = { address: "", did: null as string | null };
  #did = "";
  /** all vaults of this browser, the most recently used first */
  #payers: Payer[] = [];
  #shop;
  #client = new Client({ snapshots: { serviceDid: meta("did") || undefined } });
  #booted = this.#client.boot();
  #entry = new KeyEntry(() => void this.#approve());
  #facts;

  /** @param id of the payment request */
  constructor(id: string, facts: Facts) {
    this.#facts = facts;
    this.#booted.catch(() => {}); // reported when the request has been read
    // After the agreement the page goes on to the receipt, whatever has become of the request.
    const onOver = () => this.#state !== "agreed" && this.#end("over_title", "over");
    this.#shop = new Shop(id, { onRequest: (message) => void this.#received(message), onOver });
    document.addEventListener("keydown", ({ key }) => key === "Escape" && this.cancel());
    addEventListener("focus", guardMainButton);
  }

  /** Cancels the payment for the person, unless it is too late to cancel. */
  cancel() {
    if (!this.#request || this.#state === "agreed" || this.#state === "over") return;
    this.#shop.refused("user_cancelled");
    this.#end("refused_title", "cancelled");
  }

  async #received(message: PaymentMessage) {
    if (this.#state !== "reading" || this.#request) return;
    tell(text("checking"));
    try {
      this.#request = readRequest(message, this.#facts);
      await this.#booted;
      await this.#findPayers();
      this.#payee = await payeeOf(this.#client, this.#request.params.to);
      await this.#draw();
      await this.#previewOf(this.#did);
    } catch (error) {
      this.#unpayable(refusalOf(error));
    }
  }

  /** Lists this browser's vaults. The most recently used vault pays, unless the person chooses another. */
  async #findPayers() {
    const stored = (await this.#client.vault.stored()).sort((one, other) => other.updatedAt - one.updatedAt);
    if (stored.length === 0) throw new Refusal("no_vault");
    const names = stored.map(async ({ did }) => ({ did, name: (await factsOf(did)).identifier ?? "" }));
    this.#payers = await Promise.all(names);
    this.#did = stored[0].did;
  }

  /** @param did the vault that is to pay instead: fee and balance are those of another account */
  async #chosen(did: string) {
    this.#did = did;
    this.#fee = null;
    warn("");
    showReceive();
    await this.#previewOf(did);
  }

  /** @param did the vault that is to pay; what is known only after another one was chosen does not count */
  async #previewOf(did: string) {
    await this.#preview().catch((error) => did === this.#did && this.#unpayable(refusalOf(error)));
  }

  /** @param refusal that is known before the person has approved; another vault may be able to pay */
  #unpayable(refusal: Refusal) {
    if (this.#state !== "reading" && this.#state !== "asking") return; // what the person approved has its own outcome
    if (this.#payers.length < 2 || !refusal.code.startsWith("insufficient")) return this.#refuse(refusal);
    showFee(null);
    warnOf(refusal);
    showReceive(refusal.values.account);
  }

  async #draw() {
    const request = this.#request;
    const paid = await paidBefore().catch(() => []);
    if (this.#state !== "reading") return;
    const choice = {
      payers: this.#payers,
      did: this.#did,
      onChoice: (did: string) => void this.#chosen(did),
    };
    const facts = { chainName: this.#facts.chainName, choice, familiarity: familiarity(this.#payee.address, paid) };
    screen(text("pay_host", { host: request.site.host }), [requestSheet(request, this.#payee, facts)], this.#buttons());
    this.#to("asking");
    performance.mark("holdfast:sheet");
  }

  /** Shows fee and balance if both are known before the vault is open; never once a later operation has been prepared. */
  async #preview() {
    const [request, did] = [this.#request, this.#did];
    const isCurrent = () => this.#state === "asking" && did === this.#did;
    const key = await publicAccount(this.#client, did);
    if (key && isCurrent()) {
      const left = await checkBalance(this.#client, key.address, request);
      if (isCurrent()) showLeft(request, left);
      const fee = await feeOf(this.#client, key, request, this.#payee.address);
      if (isCurrent()) this.#fee = fee;
    }
    if (isCurrent()) showFee(this.#fee);
  }

  async #approve() {
    if (this.#state !== "asking") return;
    this.#to("working");
    warn("");
    try {
      // Loaded meanwhile: few payments need what asks for a second key.
      const [key, { giveSecondKey }] = await Promise.all([this.#entry.key(), import("./second_key.ts")]);
      giveSecondKey(this.#client, key, language);
      await this.#pay(key);
    } catch (error) {
      this.#failed(refusalOf(error, this.#handedOver, await factsOf(this.#did)));
    }
  }

  async #pay(key: VaultKey) {
    tell(text("preparing"));
    // The person has just confirmed with their key, so this window takes the vault from a tab that has it open.
    const opened = await this.#client.vault.unlock(key, null, { did: this.#did, takeOver: "payment" });
    if (!opened.success)
      throw new Refusal(
        opened.error !== "wrong_key" ? "vault_locked" : key.kind === "password" ? "wrong_password" : "wrong_key",
      );
    const request = this.#request;
    const account = await this.#client.account();
    // The balance is checked while the operation is being prepared. A balance that is too low is reported instead of
    // the sponsor's error.
    const enough = checkBalance(this.#client, account.address, request);
    enough.catch(() => {}); // reported when it is awaited below
    // Pay the address that is shown, even if the DID has a different one by now.
    const paying = this.#client.pay(
      { ...request.params, to: this.#payee.address },
      {
        approve: (operation) => enough.then(() => this.#agreed(feeIn(operation))),
        onProgress: (step, { userOpHash = "" }) => this.#progress(step, userOpHash),
      },
    );
    const result = await paying.catch((error) => enough.then(() => Promise.reject(error)));
    // Before the shop knows, because the browser then closes the window.
    await this.#noted("confirmed");
    tell(text("copying"));
    const copy = this.#client
      .snapshots()
      .then((it) => it.firstCopy(COPY_WITHIN_MS))
      .catch(() => {}); // the vault's page says what has no copy
    const shared = shareSent(this.#client); // or the next time that the vault is open on its page
    await Promise.race([Promise.all([copy, shared]), new Promise((late) => setTimeout(late, COPY_WITHIN_MS))]); // the shop waits
    this.#shop.paid(result);
    showPaid(request, result);
    this.#close();
  }

  /** Records the signed payment for the vault's list of payments and for the next time that this payee is paid. */
  async #noted(state: Sent["state"]) {
    if (!this.#hash) return;
    const { site, label } = this.#request;
    const { address, did } = this.#payee;
    const row = { hash: this.#hash, to: did ?? address, address, ...movedBy(this.#request), shop: site.host, label };
    await noteSent(this.#did, { ...row, time: new Date().toISOString(), state });
    if (state === "confirmed") await rememberPayee(address).catch(() => {});
  }

  /**
   * Checks just before signing that the person has agreed to this fee, and asks again if not; then that the shop still
   * waits, because nothing may be signed for a shop that was told otherwise.
   */
  async #agreed(fee: Fee) {
    const seen = this.#fee;
    if (!fee.sponsored && (seen === null || seen.sponsored || fee.cost > seen.cost)) await this.#askAgain(fee);
    else if (seen === null) showFee(fee);
    if (!this.#isOver() && !(await this.#shop.isWaiting())) {
      this.#shop.refused("internal"); // for a worker that hears it late
      this.#end("over_title", "unsigned");
    }
    if (this.#isOver()) throw new Refusal("user_cancelled");
    this.#to("agreed");
    showButtons([]);
  }

  #askAgain(fee: Fee): Promise<void> {
    this.#fee = fee;
    showFee(fee);
    tell("");
    warn(text("fee_changed"));
    return new Promise((resolve) => {
      const onclick = () => {
        this.#to("working");
        warn("");
        resolve();
      };
      showButtons(this.#choice(onclick));
    });
  }

  async #progress(step: PaymentStep, hash: string) {
    if (step === "prepared") tell(text("signing"));
    if (step === "signed") {
      this.#handedOver = "perhaps";
      tell(text("sending"));
      this.#hash = hash;
      await this.#noted("sent");
    }
    if (step === "sent") {
      this.#handedOver = "surely";
      tell(text("sent", { chain: this.#facts.chainName }));
    }
  }

  /** @param refusal of a payment that the person approved */
  #failed(refusal: Refusal) {
    if (refusal.code !== "unconfirmed") this.#noted("failed");
    if (this.#isOver()) return;
    if (this.#handedOver || !isPassing(refusal)) return this.#refuse(refusal);
    tell("");
    showFee(this.#fee);
    showButtons(this.#buttons());
    this.#to("asking");
    this.#shop.asksAgain();
    warnOf(refusal);
  }

  #refuse(refusal: Refusal) {
    if (this.#isOver()) return;
    showRefusal(refusal, () => {
      this.#shop.refused(refusal.code);
      showButtons([]);
      tell(text("over"));
    });
    this.#close();
  }

  #end(title: TextKey, said: TextKey) {
    if (this.#isOver()) return;
    showOver(title, said);
    this.#close();
  }

  #close() {
    this.#state = "over";
    void this.#client.vault
      .lock()
      .catch(() => {}) // closing locks it as well
      .finally(() => this.#client.close());
  }

  #isOver() {
    return this.#state === "over";
  }

  #buttons(): Button[] {
    return [
      { id: "other-key", text: this.#entry.other, onclick: () => this.#otherKey() },
      ...this.#choice(() => void this.#approve()),
    ];
  }

  /** @param onclick what approving does */
  #choice(onclick: () => void): Button[] {
    const request = this.#request;
    const words = request.token ? text("pay", { amount: amountOf(request) }) : text("pay_unknown");
    return [
      { id: "cancel", text: text("cancel"), onclick: () => this.cancel() },
      { id: "approve", main: true, text: words, onclick },
    ];
  }

  #otherKey() {
    this.#entry.switch();
    showButtons(this.#buttons());
    this.#entry.focus();
  }

  /** @param state only while the sheet asks can the person choose anything but to cancel */
  #to(state: State) {
    this.#state = state;
    for (const it of document.querySelectorAll<HTMLButtonElement>("#buttons button:not(#cancel), #vaults")) {
      it.disabled = state !== "asking";
    }
    keepFocus();
  }
}

/** A payment does not depend on them. */
function factsOf(did: string): Promise<import("../kit/stored.ts").Facts> {
  return facts(did).catch(() => ({}));
}

function warnOf({ code, values }: Refusal) {
  warn(text(code as TextKey, values));
}

begin();
const id = new URLSearchParams(location.search).get("request");
if (navigator.serviceWorker?.controller && id) {
  new Payment(id, { chainId: Number(meta("chain")), chainName: meta("chain-name"), usdc: meta("usdc") });
} else {
  showOver("none_title", "none");
}
