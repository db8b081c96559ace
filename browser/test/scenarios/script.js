/** What a scenario's enclave and servers answer, and the effects that a client has on them. */

import { ContentError } from "../../src/snapshots/content_error.ts";
import { SnapshotConflict } from "../../src/snapshots/errors.ts";
import { ServersFailed } from "../../src/snapshots/name_records.ts";
import { ClientStateError, NetworkError, RequestRefused, StorageError } from "../../src/errors.ts";

/** The host was killed after the effect at which its scenario says so. */
export class Killed extends Error {}

/** Records the effects of one event, and answers them as the scenario says. */
export class Script {
  effects = [];
  left;
  #stopAfter;
  #stop;
  #stopped = new Promise((resolve) => (this.#stop = resolve));

  constructor(answers = {}, stopAfter = null) {
    this.left = structuredClone(answers);
    this.#stopAfter = stopAfter;
  }

  /** Returns the scripted answer to an effect, null for the usual one. A list is used up from its beginning. */
  scripted(effect) {
    const answer = this.left[effect] ?? null;
    return Array.isArray(answer) ? (answer.shift() ?? null) : answer;
  }

  /** Records an effect. If the host is to be killed after it, the promise never settles. */
  async perform(effect) {
    if (this.effects.length === this.#stopAfter) return new Promise(() => {});
    this.effects.push(effect);
    if (this.effects.length !== this.#stopAfter) return;
    this.#stop();
    await new Promise(() => {});
  }

  /** Runs a flow. Throws Killed once the effect is reached after which the host is killed. */
  run(work) {
    const killed = this.#stopped.then(() => Promise.reject(new Killed()));
    killed.catch(() => {});
    return Promise.race([work(), killed]);
  }
}

/** Plays the events of one scenario. `script` is that of the present event. */
export class Player {
  script = new Script();

  /** Returns what each event led to; an event whose host is killed is followed by the same one after a new start. */
  async outcomes({ events, kill: [killAt, number] = [] }) {
    const outcomes = [];
    for (const [at, event] of events.entries()) {
      let again = event;
      if (at === killAt) {
        outcomes.push(await this.turn(event, number));
        this.startAnew();
        again = { ...event, do: event.after_kill ?? event.do, answers: this.script.left };
      }
      outcomes.push(await this.turn(again));
    }
    return outcomes;
  }

  /** Forgets what a client has only in memory. */
  startAnew() {}

  /**
   * Returns the scripted answer to an effect; `then` is what it changes at the server. Throws the scripted error.
   * `begun` is how the effect's name begins where it differs from the one in the script.
   */
  async answer(effect, detail = "", then = () => {}, begun = effect) {
    const answer = this.script.scripted(effect);
    if (reached(answer)) then();
    await this.script.perform(begun + detail);
    const error = errorOf(answer);
    if (error) throw error;
    return answer;
  }
}

/** Whether the server did what a request with this scripted answer asked for. */
export function reached(answer) {
  return answer !== "unsent" && !answer?.refused;
}

/** Returns the error for which a scripted answer stands, or null for a response. */
export function errorOf(answer) {
  if (answer === "lost" || answer === "unsent") return new NetworkError("no answer");
  if (answer === "conflict") return new SnapshotConflict("other");
  if (answer?.["each gateway"])
    return new ServersFailed(
      "no gateway returns the block",
      answer["each gateway"].map((it, at) => ({ http: { host: String(at) }, error: errorOf(it) })),
    );
  if (answer === "locked") return new ClientStateError("the vault is locked");
  if (answer?.storage) return new StorageError(answer.storage);
  if (answer?.content) return new ContentError(answer.content, "the bytes are not the expected ones");
  if (!answer?.refused) return null;
  const [code, status] = answer.refused;
  return new RequestRefused(code, status, answer);
}

/** Returns an error as scenarios write it: its name, and its code if it has one; and its message. */
export function told(error, { error: expected } = {}) {
  if (!error) return { error: null };
  if (error instanceof Killed) return { error: "killed" };
  if (expected === "misuse" && error instanceof TypeError) return { error: expected, message: error.message };
  if (!error.name || error instanceof TypeError || error instanceof ReferenceError) throw error;
  const name = error instanceof RequestRefused ? "RequestRefused" : error.name;
  return {
    error: typeof error.code === "string" && error.code ? `${name} ${error.code}` : name,
    message: error.message,
  };
}
