/**
 * The last step of a registration: the service acknowledges the vault's first copy. Without a copy, a person who loses
 * this browser loses the vault, so the person may skip the step only by saying so.
 */

import type { SnapshotState as State } from "../../snapshots/state.ts";
import type { Client } from "../library.ts";
import { text } from "../parts/language.ts";
import { button, el } from "../parts/nodes.ts";
import { run } from "../parts/screen.ts";
import { askBeforeLeaving } from "../parts/leaving.ts";
import { ready } from "../parts/vault_client.ts";
import { copyState, copyStatus } from "../vault/copy.ts";

/** After this time the person can go on without a copy, also if nothing has failed. */
const CHOICE_AFTER_MS = 4000;

/**
 * Waits until the service has acknowledged the first copy, or keeps no copies, or the person goes on without one.
 *
 * @param container where it says what is missing
 * @param signal aborted when the screen is replaced
 * @returns done: there is a copy; off: the service keeps none; later: the person goes on without
 */
export async function firstCopy(container: HTMLElement, signal: AbortSignal): Promise<"done" | "off" | "later"> {
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
      const offer = (sentence: string, ...actions: HTMLElement[]) =>
        container.replaceChildren(el("p", { class: "notice" }, sentence), el("div", { class: "buttons" }, ...actions));
      const look = (state: State | null) => {
        if (state?.status === "pinned") return resolve("done");
        if (state && copyStatus(state) === "off") return resolve("off");
        if (state === null || state.status === "failed" || state.status === "conflict")
          offer(text("finish.copy.failed", { reason: reasonOf(state) }), again, without);
      };
      const soon = setTimeout(
        () => container.childElementCount || offer(text("finish.copy.slow"), without),
        CHOICE_AFTER_MS,
      );
      over.addEventListener("abort", () => clearTimeout(soon));
      client.vault.addEventListener("snapshot", (event) => look(event.detail), {
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

async function uploaded(client: Client) {
  const snapshots = await client.snapshots();
  await snapshots.publish().catch(() => snapshots.changed()); // which tries again, at growing intervals
}

async function tried(client: Client) {
  await (await client.snapshots()).publish();
}

function reasonOf(state: State | null) {
  return !state?.reason || state.reason.startsWith("Network: ") ? text("finish.copy.offline") : state.reason;
}
