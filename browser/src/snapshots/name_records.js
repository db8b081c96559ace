/** Reads the record of an IPNS name from several servers at once, and says which of them did not answer. */

import { AFTER_FIRST_MS, ALL_MS, MAIN_MS } from "../generated/snapshot_retries.js";
import { ContentError } from "./content_error.js";
import { ClientStateError, NetworkError, RequestRefused } from "../errors.js";
import { publicKeyOf } from "./names.js";
import { MAX_RECORD_BYTES, RECORD_TYPE, changeOf, isExpired, readRecord } from "./records.js";

/**
 * @import {Http} from "../http/http.js"
 * @import {IpnsRecord} from "./records.js"
 */

/** The statuses with which a server refuses a path that it does not serve. */
const NOT_SERVED = new Set([400, 404, 405, 406, 410, 415, 501]);
const NOT_FOUND = 404;

/**
 * @typedef {{http: Http, error: any}} Failed
 *
 * @typedef {object} Patience how long servers are waited for, in milliseconds
 * @property {number} [afterFirstMs] for the others, once one of them has answered
 * @property {number} [mainMs] for the first server, the one to which snapshots are uploaded, though others have answered
 * @property {number} [longestMs] for all
 *
 * @typedef {object} NameAnswers
 * @property {IpnsRecord | null} newest the newest valid record, or the newest expired one if no other is known
 * @property {Failed[]} failed the servers that did not answer
 * @property {boolean} hasMain whether the first server answered
 */

/** None of several servers returned what was asked for. The message says each one's reason. */
export class ServersFailed extends NetworkError {
  /** @param {string} what @param {Failed[]} failed */
  constructor(what, failed) {
    super(`${what}: ${failed.map(({ http, error }) => `${http.host}: ${plainReason(error)}`).join("; ")}`);
    this.name = "ServersFailed";
    this.failed = failed;
  }
}

/**
 * Returns the error of the only server, or a ServersFailed for several.
 * @param {string} what @param {Failed[]} failed @returns {any}
 */
export function failure(what, failed) {
  return failed.length === 1 ? failed[0].error : new ServersFailed(what, failed);
}

/** Returns an error's message without the prefix that its class adds. @param {any} error */
export function plainReason(error) {
  return String(error?.message ?? error).replace(/^(Network|Storage): /, "");
}

/**
 * Asks all servers for a name's record.
 * @param {Http[]} https @param {string} name
 * @param {Patience & {absentIsEnough: boolean}} how `absentIsEnough`: the answer that there is no record counts as an answer
 * @returns {Promise<NameAnswers>}
 * @throws {ContentError} the text is not a name
 * @throws {ClientStateError} the client is closed
 */
export async function askAll(
  https,
  name,
  { absentIsEnough, afterFirstMs = AFTER_FIRST_MS, mainMs = MAIN_MS, longestMs = ALL_MS },
) {
  const publicKey = publicKeyOf(name);
  const ending = new AbortController();
  /** @type {(IpnsRecord | null | Failed | undefined)[]} */
  const results = https.map(() => undefined);
  const begun = performance.now();
  /** When the first server answered. @type {number | null} */
  let first = null;
  const until = () => {
    if (first === null) return longestMs;
    return Math.min(longestMs, Math.max(first + afterFirstMs, results[0] === undefined ? mainMs : 0));
  };
  await new Promise((resolve) => {
    let timer = 0;
    const look = () => {
      clearTimeout(timer);
      const left = until() - (performance.now() - begun);
      if (left <= 0 || !results.includes(undefined)) resolve(null);
      else timer = Number(setTimeout(look, left));
    };
    https.forEach(async (http, at) => {
      const result = await recordAt(http, name, publicKey, ending.signal).catch((error) => ({ http, error }));
      results[at] = result;
      const valid = result && !("http" in result) && !isExpired(result, Date.now());
      if (valid || (result === null && absentIsEnough)) first ??= performance.now() - begun;
      look();
    });
    look();
  });
  ending.abort();
  const late = new NetworkError("no answer in time");
  const settled = https.map((http, at) => (results[at] === undefined ? { http, error: late } : results[at]));
  const failed = /** @type {Failed[]} */ (settled.filter(isFailed));
  const closed = failed.find(({ error }) => error instanceof ClientStateError);
  if (closed) throw closed.error;
  const found = /** @type {IpnsRecord[]} */ (settled.filter((it) => it && !isFailed(it)));
  return { newest: newestOf(found, Date.now()), failed, hasMain: !isFailed(settled[0]) };
}

/**
 * Returns the newest record that is valid at `now`, or else the newest expired one.
 * @param {IpnsRecord[]} found
 * @param {number} now in milliseconds since 1970
 * @returns {IpnsRecord | null}
 */
export function newestOf(found, now) {
  const valid = found.filter((it) => !isExpired(it, now));
  /** @type {IpnsRecord | null} */
  let newest = null;
  for (const it of valid.length ? valid : found) if (["newer", "renewed"].includes(changeOf(newest, it))) newest = it;
  return newest;
}

/** @param {any} it @returns {boolean} */
function isFailed(it) {
  return Boolean(it?.http);
}

/**
 * Returns one server's record. Some servers serve records on only one of the two paths.
 * @param {Http} http @param {string} name @param {Uint8Array} publicKey @param {AbortSignal} signal
 * @returns {Promise<IpnsRecord | null>} null if both paths say that there is no record
 * @throws {NetworkError | ContentError} the first path's error
 */
async function recordAt(http, name, publicKey, signal) {
  // A cached record would look like one that was rolled back.
  const request = {
    method: "GET",
    headers: { Accept: RECORD_TYPE },
    longest: MAX_RECORD_BYTES,
    signal,
    cache: /** @type {const} */ ("no-store"),
    redirect: /** @type {const} */ ("follow"),
  };
  const read = async (/** @type {{path: string, query?: Record<string, string>}} */ way) =>
    readRecord(publicKey, await http.send({ ...request, ...way }));
  try {
    return await read({ path: `/ipns/${name}`, query: { format: "ipns-record" } });
  } catch (first) {
    if (!(first instanceof NetworkError || first instanceof ContentError)) throw first;
    try {
      return await read({ path: `/routing/v1/ipns/${name}` });
    } catch (error) {
      const absent =
        NOT_SERVED.has(statusOf(first)) && (NOT_SERVED.has(statusOf(error)) || statusOf(first) === NOT_FOUND);
      if (absent) return null;
      throw first;
    }
  }
}

/** @param {unknown} error */
function statusOf(error) {
  return error instanceof RequestRefused ? error.status : 0;
}
