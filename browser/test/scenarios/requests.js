/** Plays the scenarios of repeated attempts, of single requests, and of the servers that know a name's record. */

import { Bundler } from "../../src/chain/bundler.ts";
import { NetworkError } from "../../src/errors.ts";
import { ServiceClient } from "../../src/http/service.ts";
import { AutomaticSnapshots } from "../../src/snapshots/automatic.ts";
import { Gateways } from "../../src/snapshots/gateway.ts";
import { RequestRefused } from "../../src/errors.ts";
import { errorOf, told } from "./script.js";

/** Such as "429 rate_limited after 3": the status, the body's error and the header Retry-After. */
const ANSWER = /^(\d{3})(?: (?!after )(\S+))?(?: after (.+))?$/;
const CALLS = {
  "look for a receipt": (client) => new Bundler(client, "0x").receipt(`0x${"00".repeat(32)}`),
  "send an operation on another chain": (client) => client.bundler("eth_sendUserOperation", [], 8453),
  "look for entry points": (client) => client.bundler("eth_supportedEntryPoints"),
  status: (client) => client.status(),
  "send code": (client) => client.sendCode({ identifier: "ann@example.com", channel: "email" }),
};

/** Returns after which waiting times a sequence of failing attempts is repeated. */
export async function playRetries({ outcomes: each, times = 1, changed_at_wait: changedAt }) {
  const outcomes = Array.from({ length: times }, () => each).flat();
  const left = [...outcomes];
  let uses = 0;
  const { setTimeout } = globalThis;
  const waits = [];
  const timers = [];
  globalThis.setTimeout = (work, ms) => (waits.push(ms / 1000), timers.push(work));
  try {
    const automatic = new AutomaticSnapshots(
      async () => {
        const outcome = left.shift();
        if (outcome === "lost upload") uses += 1;
        if (outcome) throw errorOf(outcome === "lost upload" ? "lost" : outcome);
      },
      2000,
      () => uses,
    );
    automatic.changed();
    while (timers.length) {
      const due = timers.shift();
      if (waits.length === changedAt) automatic.changed();
      else due();
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  return [{ waits_s: waits, attempts: outcomes.length - left.length }];
}

/** Returns how often a request is sent, after which waiting times, and how it ends. */
export async function playRequest({ call, answers, response }) {
  const [keys, waits, left] = [[], [], [...answers]];
  const fetch = async (_url, { headers = {}, redirect }) => {
    keys.push(headers["idempotency-key"] ?? null);
    const answer = left.shift();
    if (answer === "lost") throw new TypeError("lost");
    if (answer === "late") throw new DOMException("late", "TimeoutError");
    return answer === "ok" ? Response.json(response) : refusalOf(answer, redirect);
  };
  const client = new ServiceClient({ baseUrl: "https://service.example", fetch });
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (work, ms) => (waits.push(ms / 1000), setTimeout(work, 0));
  let error = null;
  try {
    await CALLS[call](client);
  } catch (raised) {
    if (!(raised instanceof NetworkError)) throw raised;
    error = raised;
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  if (new Set(keys).size !== 1) throw new TypeError("each attempt has the same key");
  const message = error instanceof RequestRefused ? { message: error.message } : {};
  return [{ attempts: keys.length, waits_s: waits, keyed: keys[0] !== null, error: told(error).error, ...message }];
}

function refusalOf(answer, redirect) {
  if (typeof answer === "object") {
    const { status, body = {}, text } = answer;
    if (text !== undefined) return new Response(text);
    if (status >= 300 && status < 400 && redirect === "error") throw new TypeError("redirected");
    return Response.json(body, { status: status < 400 ? 200 : status });
  }
  const [, status, error, after] = ANSWER.exec(answer);
  const headers = after === undefined ? {} : { "retry-after": after };
  return Response.json(error === undefined ? {} : { error }, { status: Number(status), headers });
}

/** Returns what is read about a name from several servers, of which each returns a record, a status or nothing. */
export async function playName(scenario) {
  const { records, servers, late, main_s: mainS = 0, after_first_s: firstS = 0, longest_s: longestS = 30 } = scenario;
  const fetch = async (url, { signal }) => {
    const { pathname } = new URL(url);
    let answer = servers[Object.keys(servers).find((base) => url.startsWith(`https://${base}/`))];
    if (answer?.constructor === Object) answer = answer[pathname.split("/")[1]] ?? 404;
    if (answer === "silent")
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    if (answer === "late") {
      await new Promise((resolve) => setTimeout(resolve, 200));
      answer = late;
    }
    return typeof answer === "number"
      ? new Response(null, { status: answer })
      : new Response(Buffer.from(records[answer], "hex"));
  };
  const patience = { afterFirstMs: firstS * 1000, mainMs: mainS * 1000, longestMs: longestS * 1000 };
  const gateways = new Gateways(
    Object.keys(servers).map((host) => `https://${host}`),
    fetch,
    patience,
  );
  const { newest, failed, hasMain, atMain } = await gateways.answers(scenario.ipns_name, {
    absentIsEnough: scenario.absent_is_enough ?? false,
  });
  gateways.close();
  const known = Object.keys(records).find((it) => newest && records[it] === Buffer.from(newest.data).toString("hex"));
  const hosts = failed.map(({ http }) => http.host).sort();
  return [{ newest: known ?? null, failed: hosts, has_main: hasMain, at_main: atMain }];
}
