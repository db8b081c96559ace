/** Shows the open vault on one screen: identity, account, passkeys, backup, permissions and activity. */

import { keyId } from "../library.js";
import { text } from "../parts/language.js";
import { button, buttons, el, paragraph } from "../parts/nodes.js";
import { vaultOf } from "../parts/notes.js";
import { preparing, run, say, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { drillCard } from "../drill/card.js";
import { openFrom, sentFrom } from "../send/sent.js";
import { facts, sentRows } from "../../kit/notes.js";
import { leaveCard } from "../leave/parts.js";
import { pairCard } from "../pair/give.js";
import { keysCard, takeover } from "../keys/card.js";
import { accountCard } from "./account.js";
import { activityCard } from "./activity.js";
import { backupCard } from "./backup.js";
import { copyOf, copyState, followCopy } from "./copy.js";
import { delegationsCard } from "./delegations.js";
import { identityCard } from "./identity.js";
import { passkeysCard } from "./passkeys.js";
import { snapshotsCard } from "./snapshots.js";
import { enter } from "./unlock.js";

const PUBLISH = "/snapshots/publish";

/**
 * The facts that the vault's cards show.
 *
 * @typedef {object} Facts
 * @property {string} did
 * @property {string} name what the person registered as; empty without a registration
 * @property {import("../library.js").DidRecord | null} record the service's
 * @property {string[]} unregistered IDs of passkeys that are not registered with the service
 * @property {import("../library.js").Credential[]} credentials
 * @property {{kind: string, id: string}[]} wraps
 * @property {any[]} delegations
 * @property {import("../../kit/notes.js").Sent[]} sent
 * @property {Set<string>} open the hashes of payments that can be replaced at a higher fee
 * @property {number | undefined} backupAt
 * @property {import("../drill/ways.js").Tried} tried
 * @property {number | undefined} copyAt when the last tried copy was written
 * @property {import("./copy.js").State | null} snapshot the state of the service's copy; null if it is unknown
 */

/** @param {{said?: string, quiet?: boolean}} [how] `said`: what happened just now */
export async function home({ said = "", quiet = false } = {}) {
  const still = preparing();
  const { vault } = await ready();
  if ((await vault.status()).locked) return still() ? enter() : undefined;
  const known = await gathered();
  if (!still()) return;
  const lock = async () => {
    await vault.lock();
    await enter({ locked: "unlock.locked" });
  };
  const [account, passkeys, copies] = [await accountCard(funded), await passkeysCard(known), await usedCopies(known)];
  if (!still()) return;
  const about = aboutCopy(known, copies);
  const cards = [
    identityCard(known, () => home({ quiet: true })),
    account,
    passkeys,
    keysCard(),
    about.snapshots,
    backupCard(known),
    about.drill,
    pairCard(),
    delegationsCard(known),
    activityCard(known),
    leaveCard(),
  ];
  show({
    name: "home",
    heading: text("vault.heading"),
    wide: true,
    quiet,
    redraw: () => void home({ quiet: true }),
    body: [
      takeover(),
      about.notice,
      el("div", { class: "cards" }, ...cards),
      buttons(
        button(text("vault.lock"), (event) => run(/** @type {HTMLElement} */ (event.currentTarget), lock), {
          name: "lock",
        }),
      ),
    ],
  });
  say(said);
}

/** Draws the screen again for an account that was given test money: balances and activity have changed. */
function funded() {
  return home({ quiet: true, said: text("vault.faucet.given") });
}

/**
 * Returns the parts of the screen that say something about the service's copy. At each change of its state all of them
 * are drawn again, so that they never contradict each other.
 *
 * @param {Facts} known
 * @param {import("../parts/providers.js").Copies | null} copies
 */
function aboutCopy(known, copies) {
  /** @type {() => Record<"notice" | "snapshots" | "drill", HTMLElement>} */
  const drawn = () => ({
    notice: noticeOf(reminder(known, copies)),
    snapshots: snapshotsCard(known.snapshot),
    drill: drillCard(known),
  });
  /** @type {ReturnType<typeof drawn>} */
  let shown;
  known.snapshot = followCopy(known.snapshot, (state) => {
    known.snapshot = state;
    const now = drawn();
    for (const part of /** @type {const} */ (["notice", "snapshots", "drill"]))
      shown[part] = replaced(shown[part], now[part]);
  });
  return (shown = drawn());
}

/** @param {import("../parts/language.js").TextKey | ""} key of a text; empty for no notice */
function noticeOf(key) {
  return key ? paragraph(key, {}, "notice") : el("p", { class: "notice", hidden: true });
}

/**
 * Replaces a part of the screen if it has changed, and returns the part that is shown. The focus stays on the button
 * that had it.
 *
 * @param {HTMLElement} before
 * @param {HTMLElement} after
 * @returns {HTMLElement}
 */
function replaced(before, after) {
  if (before.isEqualNode(after)) return before;
  const focused = before.contains(document.activeElement)
    ? /** @type {HTMLElement} */ (document.activeElement).dataset.name
    : null;
  before.replaceWith(after);
  if (focused)
    /** @type {HTMLElement | null} */ (after.querySelector(`[data-name="${focused}"]`))?.focus({ preventScroll: true });
  return after;
}

/**
 * Returns the warning for a person with one key and no backup file. The warning depends on whether the passkey is
 * synced.
 *
 * @param {Facts} known
 * @param {import("../parts/providers.js").Copies | null} copies
 * @returns {import("../parts/language.js").TextKey | ""} the key of a text; empty for no warning
 */
function reminder({ wraps, backupAt, snapshot }, copies) {
  if (wraps.length > 1 || backupAt) return "";
  if (wraps[0]?.kind !== "prf") return "vault.remind";
  if (copies === "synced")
    return /** @type {const} */ ({ kept: "vault.remind.kept", coming: "", none: "vault.remind.synced" })[
      copyOf(snapshot)
    ];
  return copies === "possible" ? "vault.remind.possible" : copies === "one" ? "vault.remind" : "vault.remind.unknown";
}

/**
 * Returns where the passkey that opens the vault exists; null if that is unknown.
 *
 * @param {Facts} known
 */
async function usedCopies({ wraps, credentials }) {
  const ids = await Promise.all(credentials.map(async ({ credential_id: id }) => ({ id, key: await keyId(id) })));
  const used = ids.find(({ key }) => key === wraps[0]?.id);
  return (used && (await vaultOf(used.id))?.copies) ?? null;
}

/** @returns {Promise<Facts>} */
async function gathered() {
  const client = await ready();
  const { vault } = client;
  const { did, credentials } = await vault.query();
  const [{ wraps }, listed, remembered, open, snapshot] = await Promise.all([
    vault.keys(),
    vault.exec("resource:delegations action:list"),
    facts(did),
    sentFrom(did).then(() => openFrom(did)),
    copyState(),
  ]);
  client.accountAddress = remembered.account ?? null;
  const { record, unregistered } = await recordOf(
    client,
    credentials.map((it) => it.credential_id),
  );
  // The vault's delegation to its own publishing key is not a permission for an app.
  const delegations = /** @type {any[]} */ (listed.result ?? []).filter(({ command }) => command !== PUBLISH);
  return {
    did,
    name: record?.identifier ?? remembered.identifier ?? "",
    record,
    unregistered,
    credentials,
    wraps,
    delegations,
    sent: await sentRows(did),
    open,
    backupAt: remembered.backupAt,
    tried: remembered.tried ?? {},
    copyAt: remembered.copyAt,
    snapshot,
  };
}

/**
 * Returns what the service knows about the vault's passkeys. A passkey whose lookup fails counts as registered.
 *
 * @param {import("../library.js").Client} client
 * @param {string[]} ids
 */
async function recordOf(client, ids) {
  const found = await Promise.all(ids.map((credentialId) => client.lookupDid({ credentialId }).catch(() => null)));
  const record = /** @type {import("../library.js").DidRecord | undefined} */ (found.find((it) => it?.found)) ?? null;
  return { record, unregistered: ids.filter((_, at) => found[at]?.found === false) };
}
