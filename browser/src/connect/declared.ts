/**
 * Asks an application's origin to which of its addresses answers may be sent. Without this, a link and an open redirect
 * on the application's site would be enough to lead an answer to another site.
 */

import { bounded, jsonOf } from "../http/http.ts";

const PATH = "/.well-known/holdfast-connect";
const ANSWERS_WITHIN_MS = 10_000;
const BYTES = 16_384;

/**
 * Whether the application has declared this exact address, in `{"returns": [address, …]}`.
 *
 * @returns false also if its origin does not answer as documented
 */
export async function isDeclared(address: URL, fetch: typeof globalThis.fetch = globalThis.fetch): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
    const answer = await fetch(address.origin + PATH, {
      credentials: "omit",
      redirect: "error",
      cache: "no-store",
      signal,
    });
    if (!answer.ok) return false;
    const { returns } = jsonOf(await bounded(answer, BYTES)) as { returns: unknown };
    return (
      Array.isArray(returns) &&
      returns.some((it) => typeof it === "string" && hrefOf(it, address.origin) === address.href)
    );
  } catch {
    return false;
  }
}

function hrefOf(text: string, base: string) {
  return URL.canParse(text, base) ? new URL(text, base).href : "";
}
