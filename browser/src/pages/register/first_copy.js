/**
 * The last step of a registration: the service acknowledges the vault's first copy. Without a copy, a person who loses
 * this browser loses the vault, so the person may skip the step only by saying so.
 */

import { text } from "../parts/language.js";
import { button, el } from "../parts/nodes.js";
import { run } from "../parts/screen.js";
import { askBeforeLeaving } from "../parts/leaving.js";
import { ready } from "../parts/vault_client.js";
import { copyState, copyStatus } from "../vault/copy.js";

/** After this time the person can go on without a copy, also if nothing has failed. */
const CHOICE_AFTER_MS = 4000;

/** @typedef {import("../vault/copy.js").State} State */

/**
 * Waits until the service has acknowledged the first copy, or keeps no copies, or the person goes on without one.
 *
 * @param {HTMLElement} container where it says what is missing
 * @param {AbortSignal} signal aborted when the screen is replaced
 * @returns {Promise<"done" | "off" | "later">} done: there is a copy; off: the service keeps none; later: the person
 *   goes on without
 */
export async function firstCopy(container, signal) {
  const client = await ready();
  const ending = new AbortController();
  const over = AbortSignal.any([signal, ending.signal]);
  askBeforeLeaving(over);
  try {
    return await new Promise((resolve) => {
      const without = button(text("finish.copy.without"), () => resolve("later"), {
        kind: "plain",
        name: "copy-without",
      });
      const again = button(text("kept.now"), () => run(again, () => tried(client)), { name: "copy-now" });
      /** @param {string} sentence @param {HTMLElement[]} actions */
      const offer = (sentence, ...actions) =>
        container.replaceChildren(el("p", { class: "notice" }, sentence), el("div", { class: "buttons" }, ...actions));
      const look = (/** @type {State | null} */ state) => {
        if (state?.acknowledgedRoot) return resolve("done");
        if (state && copyStatus(state) === "off") return resolve("off");
        if (state === null || state.status === "failed" || state.status === "conflict")
          offer(text("finish.copy.failed", { reason: reasonOf(state) }), again, without);
      };
      const soon = setTimeout(
        () => container.childElementCount || offer(text("finish.copy.slow"), without),
        CHOICE_AFTER_MS,
      );
      over.addEventListener("abort", () => clearTimeout(soon));
      client.vault.addEventListener("snapshot", (event) => look(/** @type {CustomEvent<State>} */ (event).detail), {
        signal: over,
      });
      void uploaded(client).then(
        async () => look(await copyState()),
        () => look(null),
      );
    });
  } finally {
    ending.abort();
  }
}

/** @param {import("../library.js").Client} client */
async function uploaded(client) {
  const snapshots = await client.snapshots();
  await snapshots.publish().catch(() => snapshots.changed()); // which tries again, at growing intervals
}

/** @param {import("../library.js").Client} client */
async function tried(client) {
  await (await client.snapshots()).publish();
}

/** @param {State | null} state */
function reasonOf(state) {
  return !state?.reason || state.reason.startsWith("Network: ") ? text("finish.copy.offline") : state.reason;
}
