/** The last screen of a payment: has the enclave sign it, sends it once, and waits for its receipt. */

import { rememberPayee } from "../../kit/payees.js";
import { feeIn } from "../library.js";
import { text } from "../parts/language.js";
import { button, buttons, el, paragraph } from "../parts/nodes.js";
import { noteSent, shareSent } from "../../kit/notes.js";
import { ProblemError, problem } from "../parts/problems.js";
import { go } from "../parts/router.js";
import { explainedMissing } from "../parts/second_key.js";
import { alarm, say, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { decimalOf } from "../vault/values.js";
import { sendError } from "./errors.js";
import { reviewAgain } from "./review.js";
import { shown } from "./tokens.js";

/**
 * @typedef {import("./review.js").Planned} Planned
 * @typedef {import("./review.js").Fee} Fee
 */

/** The fee is higher than the one the person agreed to. Nothing was signed. */
class FeeChanged extends Error {
  /** @param {Fee} fee */
  constructor(fee) {
    super("the fee has risen");
    this.fee = fee;
  }
}

/** @param {{planned: Planned, fee: Fee}} agreed */
export async function sending({ planned, fee }) {
  const { payee, token, value, chain, chainId } = planned;
  const client = await ready();
  const { did } = await client.vault.query();
  const row = {
    to: payee.name || payee.did || payee.address,
    address: payee.address,
    amount: decimalOf(value, token.decimals),
    symbol: token.symbol,
    time: new Date().toISOString(),
    ...asBefore(planned),
  };
  let [hash, sent] = ["", false];
  progress(planned);
  try {
    // Pay the address that was shown, even if the DID has a different one by now.
    const result = await client.pay(
      { to: payee.address, amount: String(value), token: token.token, chainId },
      {
        approve: (operation) => agreed(feeIn(operation), fee),
        onProgress: async (step, { userOpHash = "" }) => {
          if (step === "signed") await noteSent(did, { ...row, hash: (hash = userOpHash), state: "sent" });
          if (step === "sent") sent = true;
          say(
            step === "sent" ? text("send.sent", { chain }) : step === "signed" ? text("send.handing") : text("working"),
          );
        },
      },
    );
    await noteSent(did, { ...row, hash, state: "confirmed" });
    await rememberPayee(payee.address).catch(() => {}); // the payee only counts as new again
    void shareSent(client);
    done(planned, result);
  } catch (error) {
    if (error instanceof FeeChanged) return reviewAgain(planned, error.fee, new ProblemError("send.fee.changed"));
    const why = sendError(await explainedMissing(error, did), { handedOver: hash !== "", sent });
    if (hash)
      await noteSent(did, {
        ...row,
        hash,
        state: why instanceof ProblemError && why.key === "send.unconfirmed" ? "sent" : "failed",
      });
    failed(planned, why);
  }
}

/** Returns the notes of the payment that is sent again. @param {Planned} planned */
function asBefore({ typed: { again }, payee }) {
  if (!again || again.address.toLowerCase() !== payee.address.toLowerCase()) return {};
  const { to, shop, label } = again;
  return { to, ...(shop && { shop }), ...(label && { label }) };
}

/** @param {Fee} now @param {Fee} fee */
function agreed(now, fee) {
  if (!now.sponsored && (fee.sponsored || now.cost > fee.cost)) throw new FeeChanged(now);
}

/** @param {Planned} planned */
function progress({ value, token }) {
  show({
    name: "sending",
    heading: text("send.sending.heading", { amount: shown(value, token) }),
    body: [paragraph("send.wait")],
    redraw: () => {},
  });
  say(text("working"));
}

/** @param {Planned} planned @param {import("../library.js").PaymentResult} result */
function done(planned, result) {
  const { value, token, payee } = planned;
  show({
    name: "send-done",
    heading: text("send.done.heading"),
    redraw: () => done(planned, result),
    body: [
      el(
        "p",
        { "data-name": "outcome" },
        text("send.done", { amount: shown(value, token), to: payee.name || payee.did || payee.address }),
      ),
      el("h2", {}, text("send.hash")),
      el("p", { class: "mono", "data-name": "hash" }, result.userOpHash),
      buttons(
        button(text("send.back"), () => go("home"), { kind: "main", name: "done" }),
        result.explorerUrl !== "" &&
          el(
            "a",
            { class: "button", href: result.explorerUrl, target: "_blank", rel: "noopener" },
            text("send.explorer"),
          ),
      ),
    ],
  });
}

/** @param {Planned} planned @param {unknown} why */
function failed(planned, why) {
  const open = why instanceof ProblemError && why.key === "send.unconfirmed";
  show({
    name: open ? "send-unconfirmed" : "send-failed",
    heading: text(open ? "send.unconfirmed.heading" : "send.failed.heading"),
    redraw: () => failed(planned, why),
    body: [
      buttons(
        !open && button(text("again"), () => go("send", planned.typed), { kind: "main", name: "again" }),
        button(text("send.back"), () => go("home"), { kind: open ? "main" : "", name: "done" }),
      ),
    ],
  });
  alarm(problem(why));
}
