/**
 * The screen with the keys of the account: who can use it, and who brings it back; and the screens about what apps may
 * spend from it. They are loaded on demand, and import all screens and what they share, so that the build does not split the pages' file.
 */

import "../../kit/kit.js";
import "../screens.js";
import "./texts.js";
import { facts } from "../../kit/notes.js";
import { text } from "../parts/language.js";
import { button, buttons, paragraph } from "../parts/nodes.js";
import { hasExpired } from "../library.js";
import { go } from "../parts/router.js";
import { preparing, run, say, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { bringChanges, chainsOfChanges } from "./change.js";
import { guardiansCard } from "./guardians.js";
import { helping, ownAgain, ownCode, returning } from "./others.js";
import { ownersCard } from "./owners.js";
import { namer, passkeys } from "./people.js";
import { askingService } from "./service.js";
import { notice } from "./recovery.js";
import { twoKeysCard } from "./two.js";

export { identity } from "../identity/screen.js";
export { spendingNew } from "../spending/form.js";
export { spending, spendingRows } from "../spending/list.js";
export { spendingReview } from "../spending/review.js";

/**
 * @typedef {object} Known what the screen shows
 * @property {import("../library.js").AccountView} view
 * @property {string} own the signer of the vault's key
 * @property {import("./people.js").Passkey[]} passkeys
 * @property {import("./people.js").Passkey[]} seconds those that own the account now
 * @property {import("./people.js").Namer} named
 * @property {string} chain the names of the service's chains
 * @property {boolean} hasOthers whether there are several
 * @property {import("../../generated/types.js").RecoveryTerms} terms of the service as a guardian
 * @property {boolean} isOwner whether the vault's key owns the account
 * @property {boolean} canChange whether this page can change the account: with the vault's key, and with a passkey where
 *   two must sign
 * @property {import("../../chain/granted.js").Granted[]} alone what the vault's key may pay alone where two must sign
 * @property {string[]} opening the IDs of the passkeys that open this vault
 * @property {string | undefined} lost the account that this service was asked for
 * @property {boolean} isForeign whether another key created the account
 */

export { drillAccount } from "./drill.js";
export { stopService } from "./service.js";

/** @param {{said?: string}} [how] `said`: what happened just now */
export async function keys({ said = "" } = {}) {
  const still = preparing();
  const known = await gathered();
  if (!still()) return;
  draw(known);
  say(said);
}

/**
 * Shows the notice of a recovery on another screen.
 *
 * @param {{container: HTMLElement, recovery: import("../../account/reads.js").Recovery, own: string}} given
 */
export async function noticed({ container, recovery, own }) {
  container.replaceChildren(notice(recovery, own, await namer(own, [])));
}

/** @returns {Promise<Known>} */
async function gathered() {
  const client = await ready();
  const account = await client.accountKeys();
  const [view, own, known, chains, terms] = await Promise.all([
    account.view(),
    account.signer(),
    passkeys(),
    chainsOfChanges(),
    client.recoveryTerms(),
  ]);
  const owners = view.owners.filter((it) => !hasExpired(it)).map(({ signer }) => signer);
  const isOwner = owners.includes(own);
  const seconds = known.filter(({ signer }) => owners.includes(signer));
  const canChange = isOwner && (view.settings.threshold === 1 || seconds.length > 0);
  const alone = view.settings.threshold > 1 ? await (await client.accountSpending()).alone() : [];
  const opening = (await client.vault.keys()).wraps.filter(({ kind }) => kind === "prf").map(({ id }) => id);
  const chain = chains.map(({ name }) => name).join(", ");
  const hasOthers = chains.length > 1;
  const isForeign = client.accountAddress !== null;
  const named = await namer(own, known, terms.guardians);
  const { lost } = await facts((await client.vault.query()).did);
  return {
    view,
    own,
    chain,
    terms,
    lost,
    passkeys: known,
    seconds,
    named,
    canChange,
    isOwner,
    isForeign,
    alone,
    opening,
    hasOthers,
  };
}

/** @param {Known} known */
function draw(known) {
  const { view, own, chain, terms, isForeign, isOwner } = known;
  show({
    name: "keys",
    heading: text("keys.heading"),
    redraw: () => draw(known),
    body: [
      view.recovery && notice(view.recovery, own, known.named),
      !isOwner && paragraph("keys.notowner", {}, "notice"),
      ownersCard(known),
      isOwner && twoKeysCard(known),
      guardiansCard(known),
      paragraph("keys.chains", { chain }, "small"),
      known.hasOthers && bringing(),
      isForeign && ownAgain(),
      helping(),
      returning(known.lost),
      terms.guardian && askingService(terms),
      ownCode(own),
      buttons(button(text("back"), () => go("home"), { kind: "plain", name: "back" })),
    ],
  });
}

function bringing() {
  const press = (/** @type {Event} */ event) => run(/** @type {HTMLElement} */ (event.currentTarget), bringChanges);
  return buttons(button(text("keys.bring"), press, { kind: "plain", name: "bring" }));
}
