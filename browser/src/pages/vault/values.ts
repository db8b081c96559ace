/** Small conversions between values and text for the vault's screens. */

import { decimalOf } from "../../chain/amounts.ts";
import type { Sent } from "../../kit/stored.ts";
import { units } from "../../kit/typed_amount.ts";

export { decimalOf };

/** Splits an address into groups of four characters, which people can compare more easily. */
export function grouped(address: string) {
  return address.replace(/^0x/, "0x ").replace(/([0-9a-fA-F]{4})(?=[0-9a-fA-F])/g, "$1 ");
}

/** A payment noted in this browser and one on the chain within this time are the same if payee and amount are. */
const NEAR_MS = 3_600_000;
/** As in permission.ts, which needs a document. */
const USDC_DECIMALS = 6;

/**
 * Whether a payment that a device of the vault noted is this transfer of USDC on the chain. A device that does not know
 * the token notes its address, and the amount in the smallest unit.
 *
 * @param transfer `amount` in the smallest unit
 */
export function isSamePayment(
  { state, address, to, amount, symbol, time }: Sent,
  transfer: { to: string; amount: string; time: string; token?: string },
) {
  const near = Math.abs(Date.parse(time) - Date.parse(transfer.time)) < NEAR_MS;
  const same =
    (address ?? to).toLowerCase() === transfer.to.toLowerCase() &&
    (symbol === "USDC" || symbol.toLowerCase() === transfer.token?.toLowerCase()) &&
    units(amount, symbol === "USDC" ? USDC_DECIMALS : 0) === BigInt(transfer.amount);
  return state !== "failed" && near && same;
}

/**
 * Returns a function that names an address as the person knew it in the last confirmed payment to it.
 *
 * @returns the address itself if it was never paid
 */
export function namer(sent: Sent[]): (address: string) => string {
  const paid = sent.filter(({ state, shop }) => state === "confirmed" && !shop);
  const names = new Map(paid.map(({ address, to }) => [(address ?? to).toLowerCase(), to]));
  return (address) => names.get(address.toLowerCase()) ?? address;
}
