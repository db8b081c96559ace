/** Reads the record of an IPNS name from several servers at once, and says which of them did not answer. */

import { AFTER_FIRST_MS, ALL_MS, MAIN_MS } from "../generated/snapshot_retries.ts";
import type { Foreign, Http } from "../http/http.ts";
import { ContentError } from "./content_error.ts";
import { ClientStateError, NetworkError, RequestRefused } from "../errors.ts";
import { publicKeyOf } from "./names.ts";
import { changeOf, type IpnsRecord, isExpired, MAX_RECORD_BYTES, readRecord, RECORD_TYPE } from "./records.ts";

/** The statuses with which a server refuses a path that it does not serve. */
const NOT_SERVED = new Set([400, 404, 405, 406, 410, 415, 501]);
const NOT_FOUND = 404;

type Failed = { http: Http; error: unknown };

/** how long servers are waited for, in milliseconds */
export interface Patience {
  /** for the others, once one of them has answered */ afterFirstMs?: number;
  /** for the first server, the one to which snapshots are uploaded, though others have answered */ mainMs?: number;
  /** for all */ longestMs?: number;
}

export interface NameAnswers {
  /** the newest valid record, or the newest expired one if no other is known */ newest: IpnsRecord | null;
  /** the servers that did not answer */ failed: Failed[];
  /** whether the first server answered */ hasMain: boolean;
  /** whether it has the newest record's snapshot */ atMain: boolean;
}

/** None of several servers returned what was asked for. The message says each one's reason. */
export class ServersFailed extends NetworkError {
  declare failed: Failed[];

  constructor(what: string, failed: Failed[]) {
    super(`${what}: ${failed.map(({ http, error }) => `${http.host}: ${plainReason(error)}`).join("; ")}`);
    this.name = "ServersFailed";
    this.failed = failed;
  }
}

/** Returns the error of the only server, which names the host that sent wrong bytes, or a ServersFailed for several. */
export function failure(what: string, failed: Failed[]): unknown {
  const [{ http, error }, ...more] = failed;
  if (more.length) return new ServersFailed(what, failed);
  const isLie = error instanceof ContentError;
  return isLie ? new ContentError(error.code, `${http.host}: ${error.message}`, { cause: error }) : error;
}

/** Returns an error's message without the prefix that its class adds. */
export function plainReason(error: unknown) {
  return String((error as Foreign)?.message ?? error).replace(/^(Network|Storage): /, "");
}

/**
 * Asks all servers for a name's record.
 * @param how `absentIsEnough`: the answer that there is no record counts as an answer
 * @throws {ContentError} the text is not a name
 * @throws {ClientStateError} the client is closed
 */
export async function askAll(
  https: Http[],
  name: string,
  {
    absentIsEnough,
    afterFirstMs = AFTER_FIRST_MS,
    mainMs = MAIN_MS,
    longestMs = ALL_MS,
  }: Patience & { absentIsEnough: boolean },
): Promise<NameAnswers> {
  const publicKey = publicKeyOf(name);
  const ending = new AbortController();
  const results: (IpnsRecord | null | Failed | undefined)[] = https.map(() => undefined);
  const begun = performance.now();
  /** When the first server answered. */
  let first: number | null = null;
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
  const failed = settled.filter(isFailed);
  const closed = failed.find(({ error }) => error instanceof ClientStateError);
  if (closed) throw closed.error;
  const found = settled.filter((it): it is IpnsRecord => it !== null && !isFailed(it));
  const [newest, main] = [newestOf(found, Date.now()), settled[0]];
  const hasMain = !isFailed(main);
  return { newest, failed, hasMain, atMain: hasMain && newest !== null && main?.rootCid === newest.rootCid };
}

/**
 * Returns the newest record that is valid at `now`, or else the newest expired one.
 * @param now in milliseconds since 1970
 */
export function newestOf(found: IpnsRecord[], now: number): IpnsRecord | null {
  const valid = found.filter((it) => !isExpired(it, now));
  let newest: IpnsRecord | null = null;
  for (const it of valid.length ? valid : found) if (["newer", "renewed"].includes(changeOf(newest, it))) newest = it;
  return newest;
}

function isFailed(it: IpnsRecord | Failed | null): it is Failed {
  return it !== null && "http" in it;
}

/**
 * Returns one server's record. Some servers serve records on only one of the two paths.
 * @returns null if both paths say that there is no record
 * @throws {NetworkError | ContentError} the first path's error
 */
async function recordAt(
  http: Http,
  name: string,
  publicKey: Uint8Array,
  signal: AbortSignal,
): Promise<IpnsRecord | null> {
  // A cached record would look like one that was rolled back.
  const request = {
    method: "GET",
    headers: { Accept: RECORD_TYPE },
    longest: MAX_RECORD_BYTES,
    signal,
    cache: "no-store" as const,
    redirect: "follow" as const,
  };
  const read = async (way: { path: string; query?: Record<string, string> }) =>
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

function statusOf(error: unknown) {
  return error instanceof RequestRefused ? error.status : 0;
}
