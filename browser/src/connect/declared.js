/**
 * Asks an application's origin to which of its addresses answers may be sent. Without this, a link and an open redirect
 * on the application's site would be enough to lead an answer to another site.
 */

const PATH = "/.well-known/holdfast-connect";
const ANSWERS_WITHIN_MS = 10_000;
const BYTES = 16_384;

/**
 * Whether the application has declared this exact address, in `{"returns": [address, …]}`.
 *
 * @param {URL} address
 * @param {typeof globalThis.fetch} [fetch]
 * @returns {Promise<boolean>} false also if its origin does not answer as documented
 */
export async function isDeclared(address, fetch = globalThis.fetch) {
  try {
    const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
    const answer = await fetch(address.origin + PATH, {
      credentials: "omit",
      redirect: "error",
      cache: "no-store",
      signal,
    });
    if (!answer.ok) return false;
    const { returns } = JSON.parse(await start(answer));
    return (
      Array.isArray(returns) &&
      returns.some((it) => typeof it === "string" && hrefOf(it, address.origin) === address.href)
    );
  } catch {
    return false;
  }
}

/** @param {string} text @param {string} base */
function hrefOf(text, base) {
  return URL.canParse(text, base) ? new URL(text, base).href : "";
}

/**
 * Reads an answer as text.
 *
 * @param {Response} answer
 * @returns {Promise<string>}
 * @throws {RangeError} it is too long
 */
async function start(answer) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > BYTES) {
      await reader.cancel();
      throw new RangeError("too long");
    }
    text += decoder.decode(value, { stream: true });
  }
}
