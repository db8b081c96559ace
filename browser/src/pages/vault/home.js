/** The open vault on one screen: identity, account, passkeys, backup, permissions, activity. */

import { text } from "../parts/language.js";
import { button, buttons, el, paragraph } from "../parts/nodes.js";
import { facts } from "../parts/notes.js";
import { run, say, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { accountCard } from "./account.js";
import { activityCard } from "./activity.js";
import { backupCard } from "./backup.js";
import { delegationsCard } from "./delegations.js";
import { identityCard } from "./identity.js";
import { passkeysCard } from "./passkeys.js";
import { snapshotsCard } from "./snapshots.js";
import { enter } from "./unlock.js";

/**
 * What the cards show.
 *
 * @typedef {object} Facts
 * @property {string} did
 * @property {string} name what the person registered as; empty without a registration
 * @property {import("../library.js").DidRecord | null} record the service's
 * @property {import("../library.js").Credential[]} credentials
 * @property {{kind: string, id: string}[]} wraps
 * @property {any[]} delegations
 * @property {number | undefined} backupAt
 */

/** @param {{said?: string, quiet?: boolean}} [how] `said`: what happened just now */
export async function home({ said = "", quiet = false } = {}) {
  const { vault } = await ready();
  if ((await vault.status()).locked) return enter();
  const known = await gathered();
  const lock = async () => {
    await vault.lock();
    await enter({ locked: "unlock.locked" });
  };
  const lonely = known.wraps.length < 2 && !known.backupAt;
  show({
    name: "home",
    heading: text("vault.heading"),
    wide: true,
    quiet,
    redraw: () => void home({ quiet: true }),
    body: [
      lonely && paragraph("vault.remind", {}, "notice"),
      el("div", { class: "cards" }, identityCard(known), await accountCard(), await passkeysCard(known), await snapshotsCard(), backupCard(known), delegationsCard(known), activityCard(known)),
      buttons(button(text("vault.lock"), (event) => run(/** @type {HTMLElement} */ (event.currentTarget), lock), { name: "lock" })),
    ],
  });
  say(said);
}

/** @returns {Promise<Facts>} */
async function gathered() {
  const client = await ready();
  const { vault } = client;
  const { did, credentials } = await vault.query();
  const [{ wraps }, listed, remembered] = await Promise.all([vault.keys(), vault.exec("resource:delegations action:list"), facts(did)]);
  const credentialId = credentials[0]?.credential_id;
  const known = credentialId ? await client.lookupDid({ credentialId }).catch(() => null) : null;
  const record = known?.found ? /** @type {import("../library.js").DidRecord} */ (known) : null;
  const delegations = /** @type {any[]} */ (listed.result ?? []);
  return { did, name: record?.identifier ?? remembered.identifier ?? "", record, credentials, wraps, delegations, backupAt: remembered.backupAt };
}
