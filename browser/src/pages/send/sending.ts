/** The last screen of a payment: has the enclave sign it, sends it once, and waits for its receipt. */

import type { PaymentResult } from "../../generated/types.ts";
import { rememberPayee } from "../../kit/payees.ts";
import { feeIn } from "../library.ts";
import { text } from "../parts/language.ts";
import { button, buttons, el, paragraph } from "../parts/nodes.ts";
import { noteSent, shareSent } from "../../kit/notes.ts";
import { ProblemError, problem } from "../parts/problems.ts";
import { go, opening } from "../parts/router.ts";
import { explainedMissing } from "../parts/second_key.ts";
import { alarm, say, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { decimalOf } from "../vault/values.ts";
import { sendError } from "./errors.ts";
import { type Fee, type Planned, reviewAgain } from "./review.ts";
import { shown } from "./tokens.ts";

/** The fee is higher than the one the person agreed to. Nothing was signed. */
class FeeChanged extends Error {
  declare fee: Fee;

  constructor(fee: Fee) {
    super("the fee has risen");
    this.fee = fee;
  }
}

export async function sending({ planned, fee }: { planned: Planned; fee: Fee }) {
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

/** Returns the notes of the payment that is sent again. */
function asBefore({ typed: { again }, payee }: Planned) {
  if (!again || again.address.toLowerCase() !== payee.address.toLowerCase()) return {};
  const { to, shop, label } = again;
  return { to, ...(shop && { shop }), ...(label && { label }) };
}

function agreed(now: Fee, fee: Fee) {
  if (!now.sponsored && (fee.sponsored || now.cost > fee.cost)) throw new FeeChanged(now);
}

function progress({ value, token }: Planned) {
  show({
    name: "sending",
    heading: text("send.sending.heading", { amount: shown(value, token) }),
    body: [paragraph("send.wait")],
    redraw: () => {},
  });
  say(text("working"));
}

function done(planned: Planned, result: PaymentResult) {
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
        button(text("send.back"), opening("home"), { kind: "main", name: "done" }),
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

function failed(planned: Planned, why: unknown) {
  const open = why instanceof ProblemError && why.key === "send.unconfirmed";
  show({
    name: open ? "send-unconfirmed" : "send-failed",
    heading: text(open ? "send.unconfirmed.heading" : "send.failed.heading"),
    redraw: () => failed(planned, why),
    body: [
      buttons(
        !open && button(text("again"), () => go("send", planned.typed), { kind: "main", name: "again" }),
        button(text("send.back"), opening("home"), { kind: open ? "main" : "", name: "done" }),
      ),
    ],
  });
  alarm(problem(why));
}
