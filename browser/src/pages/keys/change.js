/** Changes the account, and shows on which chains the change is done. */

import "./texts.js";
import { text } from "../parts/language.js";
import { button, buttons, el, paragraph } from "../parts/nodes.js";
import { problem } from "../parts/problems.js";
import { go } from "../parts/router.js";
import { run, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";

/** @typedef {import("../library.js").AccountChange} AccountChange */

/**
 * Signs changes once, and brings them to the chains.
 *
 * @param {string} heading
 * @param {AccountChange[]} changes
 */
export async function change(heading, changes) {
  const client = await ready();
  const { chain } = await client.status();
  /** @type {import("../../account/changes.js").SignedChanges | undefined} */
  let signed; // once: what an interrupted attempt brought is then not brought again
  await shown(heading, chain, async () => {
    const keys = await client.accountKeys();
    signed ??= await keys.sign(changes);
    await keys.bring([signed]);
  });
}

/**
 * @param {string} heading
 * @param {string} chain
 * @param {() => Promise<void>} work
 */
async function shown(heading, chain, work) {
  const state = el("p", { class: "small", role: "status" });
  const row = el("li", { "data-chain": chain }, el("h2", {}, chain), state);
  const again = button(
    text("again"),
    (event) => run(/** @type {HTMLElement} */ (event.currentTarget), () => shown(heading, chain, work)),
    { kind: "main", name: "again" },
  );
  const back = button(text("back"), () => go("keys"), { kind: "plain", name: "back" });
  /** @param {"working" | "done" | "left"} now @param {string} words */
  const told = (now, words) => {
    row.dataset.state = now;
    state.textContent = words;
    again.hidden = now !== "left";
    back.hidden = now === "working";
  };
  show({
    name: "keys-change",
    heading,
    body: [paragraph("keys.change.lead"), el("ul", { class: "rows" }, row), buttons(again, back)],
  });
  told("working", text("keys.change.working"));
  try {
    await work();
  } catch (error) {
    return told("left", text("keys.change.left", { reason: problem(error) }));
  }
  told("done", text("keys.change.done"));
  await go("keys", { said: text("keys.change.said", { chain }) });
}
