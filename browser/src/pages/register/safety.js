/** Suggests creating a second passkey or a backup file right after registration. */

import { text } from "../parts/language.js";
import { button, buttons, paragraph } from "../parts/nodes.js";
import { vaultOf } from "../parts/notes.js";
import { go } from "../parts/router.js";
import { run, say, show } from "../parts/screen.js";
import { service } from "../parts/vault_client.js";
import { addPasskey } from "../vault/adding.js";

/** @typedef {import("../parts/notes.js").Begun} Begun */

/** @param {Begun} row */
export async function safety(row) {
  const opens = row.credentialId ? await vaultOf(row.credentialId) : null;
  draw(row, row.password ? "safety.password" : warningOf(opens?.copies ?? "one"));
}

/** @param {import("../parts/providers.js").Copies} copies */
function warningOf(copies) {
  if (copies === "synced") return service().bootStatus.helia ? "safety.kept" : "safety.synced";
  return copies === "possible" ? "safety.possible" : "safety.device";
}

/**
 * @param {Begun} row
 * @param {string} warning
 * @param {boolean} [safe]
 */
function draw(row, warning, safe = false) {
  const add = (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), async () => {
      const { credentialId, registered } = await addPasskey({ userName: row.identifier });
      if (!registered && row.channel !== "handle") return go("prove", { identifier: row.identifier, channel: row.channel, passkey: credentialId });
      draw(row, warning, true);
      say(text("safety.added"));
    }, text("passkey.open"));
  show({
    name: "safety",
    heading: text("safety.heading"),
    redraw: () => draw(row, warning, safe),
    body: [
      paragraph("safety.lead", { identifier: row.identifier }, "lead"),
      !safe && paragraph(warning, {}, "notice"),
      buttons(
        !safe && button(text("safety.second"), add, { kind: "main", name: "second" }),
        button(text("safety.file"), () => go("export"), { name: "file" }),
        button(text(safe ? "safety.done" : "safety.later"), () => go("vault"), { kind: safe ? "main" : "plain", name: "later" }),
      ),
    ],
  });
}
