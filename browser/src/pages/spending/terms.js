/** A spending permission in words, with all that the person signs. */

import "../keys/texts.js";
import { payeeIn, tokenOf } from "../../chain/permissions.js";
import { checksumAddress } from "../library.js";
import { moment, text } from "../parts/language.js";
import { COIN, TOKENS, shown } from "../send/tokens.js";

const DAY = 86_400;
/** The periods that the form offers, in seconds; 0: all the time is one period. */
export const PERIODS = [0, DAY, 7 * DAY, 30 * DAY];

/**
 * @typedef {import("../../chain/permissions.js").Permission} Permission
 * @typedef {import("../send/tokens.js").Token} Token
 */

/** @param {number} seconds */
export function periodText(seconds) {
  const days = seconds / DAY;
  if (seconds === 0) return text("spend.once");
  return days === 1
    ? text("spend.daily")
    : text("spend.each", { days: Number.isInteger(days) ? days : days.toFixed(2) });
}

/**
 * @param {Permission} permission
 * @param {bigint} value in the token's smallest unit
 */
export function amountOf(permission, value) {
  const token = tokenOf(permission);
  const known = [COIN, ...TOKENS].find((it) => it.token.toLowerCase() === token.toLowerCase());
  return known ? shown(value, known) : text("spend.unknown", { value: String(value), token });
}

/** @param {Permission} permission */
export function untilText({ until }) {
  return until ? moment(until * 1000) : text("spend.forever");
}

/** Returns the only receiver, or "" for anyone. @param {import("../library.js").Client} client @param {Permission} it */
export async function payeeText(client, it) {
  const payee = payeeIn(it);
  return payee ? checksumAddress(client.vault, payee) : "";
}
