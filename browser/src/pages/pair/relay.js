/** The host at which two browsers meet, if the operator runs one. */

/** Its multiaddress; empty without one. */
export const RELAY = document.querySelector('meta[name="holdfast-pairing"]')?.getAttribute("content") ?? "";
