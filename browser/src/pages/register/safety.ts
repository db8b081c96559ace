/** The end of a registration: says that it succeeded, what the vault depends on, and how to add another way to open it. */

import { text, type TextKey } from "../parts/language.ts";
import { button, buttons, el, paragraph, type Press } from "../parts/nodes.ts";
import { type Begun, vaultOf } from "../parts/notes.ts";
import type { Copies } from "../parts/providers.ts";
import { go, opening, stays } from "../parts/router.ts";
import { run, say, show } from "../parts/screen.ts";
import { ELSEWHERE, addPasskey } from "../vault/adding.ts";
import { copyOf, copyState } from "../vault/copy.ts";

export async function safety(row: Begun) {
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

/** @param isStored whether the service has a copy of the vault */
function warningOf(copies: Copies, isStored: boolean): TextKey {
  if (copies === "synced") return isStored ? "safety.kept" : "safety.synced";
  return copies === "possible" ? "safety.possible" : "safety.device";
}

function draw(row: Begun, warning: TextKey, safe: boolean = false) {
  const add = (event: Press) =>
    run(
      event.currentTarget,
      async () => {
        const { credentialId, registered } = await addPasskey({ userName: row.identifier, ...ELSEWHERE });
        if (!registered && row.channel !== "handle")
          return go("prove", { identifier: row.identifier, channel: row.channel, passkey: credentialId });
        draw(row, warning, true);
        say(text(registered ? "safety.added" : "passkeys.unregistered"));
      },
      text("passkey.open"),
    );
  show({
    name: "safety",
    heading: text("safety.heading", { identifier: row.identifier }),
    redraw: () => draw(row, warning, safe),
    body: [
      buttons(
        button(text(stays() ? "choose.continue" : "safety.done"), opening("vault"), { kind: "main", name: "later" }),
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
