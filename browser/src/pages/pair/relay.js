/** The host through which two browsers pair, if the operator runs one. */

/** The host's multiaddress; empty without one. */
export const RELAY = document.querySelector('meta[name="holdfast-pairing"]')?.getAttribute("content") ?? "";
