/** The second screen of a payment: everything that will be signed, in full, before the passkey is used. */

import { familiarity, paidBefore } from "../../kit/payees.js";
import { address, feeText, row, sheet } from "../../kit/sheet.js";
import { NATIVE, checksumAddress, feeIn, preparedPayment } from "../library.js";
import { text } from "../parts/language.js";
import { button, buttons, el, field, form, paragraph } from "../parts/nodes.js";
import { go } from "../parts/router.js";
import { run, show, tell } from "../parts/screen.js";
import { explainedMissing } from "../parts/second_key.js";
import { ready } from "../parts/vault_client.js";
import { testMoney } from "../vault/account.js";
import { sendError } from "./errors.js";
import { doubtsAbout } from "./lookalikes.js";
import { byPasskey, byPassword } from "./person.js";
import { paidFrom } from "./sent.js";
import { COIN, shown } from "./tokens.js";

/**
 * @typedef {object} Planned
 * @property {import("./form.js").Typed} typed
 * @property {import("./payee.js").Payee} payee
 * @property {import("./tokens.js").Token} token
 * @property {bigint} value in the token's smallest unit
 * @property {string} from the account's address
 * @property {string} chain
 * @property {number} chainId
 * @property {boolean} [hasPassword] whether a password opens the vault
 *
 * @typedef {{sponsored: boolean, cost: bigint}} Fee `cost`: the most that the account may pay, in wei
 */

/** @param {Planned} planned */
export async function review(planned) {
  const { vault } = await ready();
  const [fee, { wraps }, known] = await Promise.all([feeOf(planned), vault.keys(), seen(planned.payee)]);
  draw({ ...planned, hasPassword: wraps.some(({ kind }) => kind === "password") }, known, fee);
}

/**
 * Returns what this browser knows about the payee.
 *
 * @typedef {{paid: "known" | "new" | "alike", doubts: import("./lookalikes.js").Doubts}} Seen
 *
 * @param {import("./payee.js").Payee} payee
 * @returns {Promise<Seen>}
 */
async function seen({ address, name, did }) {
  const { did: own } = await (await ready()).vault.query();
  const [addresses, words] = await Promise.all([paidBefore().catch(() => []), paidFrom(own).catch(() => [])]);
  return { paid: familiarity(address, addresses), doubts: doubtsAbout(name || did, words) };
}

/**
 * Returns the current fee, according to the sponsor and the bundler.
 *
 * @param {Planned} planned
 * @returns {Promise<Fee>}
 */
async function feeOf({ payee, token, value }) {
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

/**
 * @param {Planned} planned
 * @param {Seen} known
 * @param {Fee} fee
 * @param {boolean} [withPassword]
 */
function draw(planned, known, fee, withPassword = false) {
  const { payee, token, value, from, chain, chainId, hasPassword } = planned;
  const password = field(text("password.label"), {
    type: "password",
    name: "password",
    autocomplete: "current-password",
  });
  const confirm = () => (withPassword ? byPassword(password.input.value) : byPasskey());
  const pressed = () =>
    run(
      document.querySelector('[data-name="confirm"]'),
      async () => {
        await confirm().catch(async (error) => {
          if (withPassword) await go("vault", { locked: "unlock.locked" });
          throw error;
        });
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

/**
 * Returns what the chain, or else only this service, says of the payee.
 *
 * @param {import("./payee.js").Payee} payee
 * @returns {Pick<import("../../kit/sheet.js").Payment, "trust" | "said">}
 */
function trusted({ name, trust }) {
  if (trust === "name") return { trust: "unproven", said: text("send.trust.name", { name }) };
  return { trust, ...(trust === "verified" && name && { said: text("send.trust.verified.name", { name }) }) };
}

/**
 * Returns why the payee may be mistaken for another payee.
 *
 * @param {import("./payee.js").Payee} payee
 * @param {import("./lookalikes.js").Doubts} doubts
 */
function doubtful({ name, did }, { foreign, digits, alike }) {
  const to = name || did;
  return [
    alike !== "" && text("send.look.alike", { to, alike }),
    foreign && text("send.look.foreign", { to }),
    alike === "" && digits !== "" && text("send.look.digits", { to, digits }),
  ];
}

/** Shows the review again, because the fee has risen in the meantime. @param {Planned} planned @param {Fee} fee */
export async function reviewAgain(planned, fee, /** @type {unknown} */ why) {
  draw(planned, await seen(planned.payee), fee);
  tell(why);
}
