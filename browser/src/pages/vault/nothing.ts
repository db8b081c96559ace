/** The screen for a browser without a vault, which lists the ways to bring an existing vault into it. */

import { usePasskey } from "../library.ts";
import { text } from "../parts/language.ts";
import { button, buttons, paragraph } from "../parts/nodes.ts";
import { obstacle } from "../parts/obstacle.ts";
import { go } from "../parts/router.ts";
import { alarm, run, say, show } from "../parts/screen.ts";
import { service } from "../parts/vault_client.ts";
import { backupButton, recoverButton } from "./recover.ts";

/**
 * Shows the ways to bring a vault into this browser. If passkeys do not work here, shows only the ways that need none.
 *
 * @param cleared whether the browser had a vault before
 */
export function nothing(cleared: boolean) {
  const reason = obstacle();
  const lead = cleared ? "none.cleared" : "none.lead";
  show({
    name: cleared ? "cleared" : "none",
    heading: text(cleared ? "none.cleared.heading" : "none.heading"),
    redraw: () => nothing(cleared),
    body: [
      reason,
      paragraph(reason ? "none.without" : lead),
      reason ? buttons(backupButton("main"), pair()) : buttons(...withPasskeys()),
    ],
  });
}

function withPasskeys() {
  return [
    recoverButton(text("none.recover")),
    pair(),
    backupButton("plain"),
    button(text("none.who"), (event) => run(event.currentTarget, who, text("passkey.open")), {
      kind: "plain",
      name: "who",
    }),
    button(text("stuck.open"), () => go("stuck"), { kind: "plain", name: "stuck" }),
    button(text("none.register"), () => go("choose"), { kind: "plain", name: "register" }),
  ];
}

function pair() {
  return button(text("none.pair"), () => go("take"), { name: "take" });
}

/** Shows which DID a passkey belongs to, for a person whose vault is not in this browser. */
async function who() {
  const { credentialId } = await usePasskey();
  const known = await service().lookupDid({ credentialId });
  if (known.found && "did" in known) say(text("none.known", { identifier: known.identifier, did: known.did }));
  else alarm(text("none.unknown"));
}
