/** The second screen of a payment: everything that will be signed, in full, before the passkey is used. */

import { familiarity, paidBefore } from "../../kit/payees.ts";
import { address, feeText, type Payment, row, sheet } from "../../kit/sheet.ts";
import { NATIVE, checksumAddress, feeIn, preparedPayment } from "../library.ts";
import { text } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph } from "../parts/nodes.ts";
import { go } from "../parts/router.ts";
import { run, show, tell } from "../parts/screen.ts";
import { explainedMissing } from "../parts/second_key.ts";
import { ready } from "../parts/vault_client.ts";
import { testMoney } from "../vault/account.ts";
import { sendError } from "./errors.ts";
import { keepTyped, type Typed } from "./form.ts";
import { type Doubts, doubtsAbout } from "./lookalikes.ts";
import type { Payee } from "./payee.ts";
import { byPasskey, byPassword } from "./person.ts";
import { paidFrom } from "./sent.ts";
import { COIN, shown, type Token } from "./tokens.ts";

export interface Planned {
  typed: Typed;
  payee: Payee;
  token: Token;
  /** in the token's smallest unit */ value: bigint;
  /** the account's address */ from: string;
  chain: string;
  chainId: number;
  /** whether a password opens the vault */ hasPassword?: boolean;
}

interface Seen {
  paid: "known" | "new" | "alike";
  doubts: Doubts;
}

/** `cost`: the most that the account may pay, in wei */
export type Fee = { sponsored: boolean; cost: bigint };

export async function review(planned: Planned) {
  const { vault } = await ready();
  const [fee, { wraps }, known] = await Promise.all([feeOf(planned), vault.keys(), seen(planned.payee)]);
  draw({ ...planned, hasPassword: wraps.some(({ kind }) => kind === "password") }, known, fee);
}

/** Returns what this browser knows about the payee. */
async function seen({ address, name, did }: Payee): Promise<Seen> {
  const { did: own } = await (await ready()).vault.query();
  const [addresses, words] = await Promise.all([paidBefore().catch(() => []), paidFrom(own).catch(() => [])]);
  return { paid: familiarity(address, addresses), doubts: doubtsAbout(name || did, words) };
}

/** Returns the current fee, according to the sponsor and the bundler. */
async function feeOf({ payee, token, value }: Planned): Promise<Fee> {
  try {
    const client = await ready();
    const contract = token.token === NATIVE ? NATIVE : await checksumAddress(client.vault, token.token);
    return feeIn(
      await preparedPayment(client, await client.account(), { to: payee.address, amount: value, token: contract }),
    );
  } catch (error) {
    throw sendError(await explainedMissing(error, (await (await ready()).vault.query()).did));
  }
}

function draw(planned: Planned, known: Seen, fee: Fee, withPassword: boolean = false) {
  const { payee, token, value, from, chain, chainId, hasPassword } = planned;
  const password = field(text("password.label"), {
    type: "password",
    name: "password",
    autocomplete: "current-password",
  });
  const confirm = () => (withPassword ? byPassword(password.input.value, keepTyped) : byPasskey());
  const pressed = () =>
    run(
      document.querySelector('[data-name="confirm"]'),
      async () => {
        await confirm();
        await go("sending", { planned, fee });
      },
      text(withPassword ? "working" : "passkey.open"),
    );
  const main = button(text("send.confirm", { amount: shown(value, token) }), pressed, {
    kind: "main",
    name: "confirm",
  });
  show({
    name: "send-review",
    heading: text("send.review.heading"),
    redraw: () => draw(planned, known, fee, withPassword),
    body: [
      sheet(text, {
        amount: shown(value, token),
        warnings: doubtful(payee, known.doubts),
        payee,
        ...trusted(payee),
        paid: known.paid,
        more: [payee.name.includes(".") && el("small", {}, text("send.dotted", { name: payee.name }))],
        chain: [`${chain} (${chainId})`, testMoney()],
        fee: feeText(text, fee, shown(fee.cost, COIN)),
        below: [row(text("send.from"), address(from))],
      }),
      paragraph("send.final", {}, "small"),
      withPassword && form(pressed, password.node),
      buttons(
        main,
        hasPassword === true &&
          button(
            text(withPassword ? "unlock.passkey" : "unlock.usePassword"),
            () => draw(planned, known, fee, !withPassword),
            { kind: "plain", name: "other-way" },
          ),
        button(text("back"), () => go("send", planned.typed), { kind: "plain", name: "back" }),
      ),
    ],
  });
}

/** Returns what the chain, or else only this service, says of the payee. */
function trusted({ name, trust }: Payee): Pick<Payment, "trust" | "said"> {
  if (trust === "name") return { trust: "unproven", said: text("send.trust.name", { name }) };
  return { trust, ...(trust === "verified" && name && { said: text("send.trust.verified.name", { name }) }) };
}

/** Returns why the payee may be mistaken for another payee. */
function doubtful({ name, did }: Payee, { foreign, digits, alike }: Doubts) {
  const to = name || did;
  return [
    alike !== "" && text("send.look.alike", { to, alike }),
    foreign && text("send.look.foreign", { to }),
    alike === "" && digits !== "" && text("send.look.digits", { to, digits }),
  ];
}

/** Shows the review again, because the fee has risen in the meantime. */
export async function reviewAgain(planned: Planned, fee: Fee, why: unknown) {
  draw(planned, await seen(planned.payee), fee);
  tell(why);
}
