/** The pairing host that connects two browsers, if the operator runs one. */

/** The pairing host's multiaddress, or an empty string. */
export const RELAY = document.querySelector('meta[name="holdfast-pairing"]')?.getAttribute("content") ?? "";
