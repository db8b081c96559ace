/** The end of a registration: says that it succeeded, what the vault depends on, and how to add another way to open it. */

import { text } from "../parts/language.js";
import { button, buttons, el, paragraph } from "../parts/nodes.js";
import { vaultOf } from "../parts/notes.js";
import { go, stays } from "../parts/router.js";
import { run, say, show } from "../parts/screen.js";
import { ELSEWHERE, addPasskey } from "../vault/adding.js";
import { copyOf, copyState } from "../vault/copy.js";

/** @typedef {import("../parts/notes.js").Begun} Begun */

/** @param {Begun} row */
export async function safety(row) {
  const opens = row.credentialId ? await vaultOf(row.credentialId) : null;
  const copy = copyOf(await copyState());
  draw(
    row,
    row.password
      ? copy === "kept"
        ? "safety.password.kept"
        : "safety.password"
      : warningOf(opens?.copies ?? "one", copy === "kept"),
  );
}

/**
 * @param {import("../parts/providers.js").Copies} copies
 * @param {boolean} isStored whether the service has a copy of the vault
 * @returns {import("../parts/language.js").TextKey}
 */
function warningOf(copies, isStored) {
  if (copies === "synced") return isStored ? "safety.kept" : "safety.synced";
  return copies === "possible" ? "safety.possible" : "safety.device";
}

/**
 * @param {Begun} row
 * @param {import("../parts/language.js").TextKey} warning
 * @param {boolean} [safe]
 */
function draw(row, warning, safe = false) {
  const add = (/** @type {Event} */ event) =>
    run(
      /** @type {HTMLElement} */ (event.currentTarget),
      async () => {
        const { credentialId, registered } = await addPasskey({ userName: row.identifier, ...ELSEWHERE });
        if (!registered && row.channel !== "handle")
          return go("prove", { identifier: row.identifier, channel: row.channel, passkey: credentialId });
        draw(row, warning, true);
        say(text("safety.added"));
      },
      text("passkey.open"),
    );
  show({
    name: "safety",
    heading: text("safety.heading", { identifier: row.identifier }),
    redraw: () => draw(row, warning, safe),
    body: [
      buttons(
        button(text(stays() ? "choose.continue" : "safety.done"), () => go("vault"), { kind: "main", name: "later" }),
      ),
      el("h2", {}, text("safety.ways")),
      !safe && paragraph(warning, {}, warning === "safety.kept" ? null : "notice"),
      buttons(
        !safe && button(text("safety.second"), add, { name: "second" }),
        button(text("safety.file"), () => go("export"), { name: "file" }),
      ),
    ],
  });
}
