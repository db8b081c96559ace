/** The text that is signed for an application: its head binds it to the origin, so that it is of no use elsewhere. Pure. */

/** Nothing else that a vault signs begins like this (docs/connect.md, "The signed text"). */
const DOMAIN = "holdfast/app-sign/v1";

/**
 * @param {{origin: string, did: string, challenge: string, issued: Date, text: string}} facts `origin`: the browser's
 * @returns {string} signed as wallets sign a text (ERC-191)
 */
export function signedText({ origin, did, challenge, issued, text }) {
  const time = issued.toISOString().replace(/\.\d+Z$/, "Z");
  return `${DOMAIN}\nOrigin: ${origin}\nDID: ${did}\nChallenge: ${challenge}\nIssued: ${time}\n\n${text}`;
}
