/** A spending permission in words, with all that the person signs. */

import "../keys/texts.ts";
import { calledFunction, payeeIn, type Permission, tokenOf } from "../../chain/permissions.ts";
import { checksumAddress, type Client } from "../library.ts";
import { moment, text } from "../parts/language.ts";
import { paragraph } from "../parts/nodes.ts";
import { COIN, TOKENS, shown } from "../send/tokens.ts";

const DAY = 86_400;
/** The periods that the form offers, in seconds; 0: all the time is one period. */
export const PERIODS = [0, DAY, 7 * DAY, 30 * DAY];

export function periodText(seconds: number) {
  const days = seconds / DAY;
  if (seconds === 0) return text("spend.once");
  return days === 1
    ? text("spend.daily")
    : text("spend.each", { days: Number.isInteger(days) ? days : days.toFixed(2) });
}

/** @param value in the token's smallest unit */
export function amountOf(permission: Permission, value: bigint) {
  const token = tokenOf(permission);
  const known = [COIN, ...TOKENS].find((it) => it.token.toLowerCase() === token.toLowerCase());
  return known ? shown(value, known) : text("spend.unknown", { value: String(value), token });
}

export function untilText({ until }: Permission) {
  return until ? moment(until * 1000) : text("spend.forever");
}

/** Says which function of the receiver the app may call, if it may do more than transfer. */
export function callNote(it: Permission) {
  const name = calledFunction(it);
  return name !== null && paragraph("spend.calls", { name }, "notice");
}

/** Returns the only receiver, or "" for anyone. */
export async function payeeText(client: Client, it: Permission) {
  const payee = payeeIn(it);
  return payee ? checksumAddress(client.vault, payee) : "";
}
