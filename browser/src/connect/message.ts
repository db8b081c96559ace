/**
 * The text that is signed for an application. The text's header contains the application's origin, so other
 * applications cannot use the signature. Pure.
 */

/** The first line. Nothing else that a vault signs begins with this line (docs/connect.md, "The signed text"). */
const DOMAIN = "holdfast/app-sign/v1";

/**
 * @param facts `origin`: the browser's; `returnTo`: "window", or the address to which the browser brings the answer
 * @returns the text to be signed in the form that wallets sign (ERC-191)
 */
export function signedText({
  origin,
  returnTo,
  did,
  challenge,
  issued,
  text,
}: {
  origin: string;
  returnTo: string;
  did: string;
  challenge: string;
  issued: Date;
  text: string;
}): string {
  const time = issued.toISOString().replace(/\.\d+Z$/, "Z");
  return `${DOMAIN}\nOrigin: ${origin}\nReturn: ${returnTo}\nDID: ${did}\nChallenge: ${challenge}\nIssued: ${time}\n\n${text}`;
}
