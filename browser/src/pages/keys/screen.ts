/**
 * The screen with the keys of the account: who can use it, and who brings it back; and the screens about what apps may
 * spend from it. They are loaded on demand, and import all screens and what they share, so that the build does not split the pages' file.
 */

import "../../kit/kit.ts";
import "../screens.ts";
import "./texts.ts";
import type { AccountView } from "../../account/keys.ts";
import type { Recovery } from "../../account/reads.ts";
import type { Granted } from "../../chain/granted.ts";
import type { RecoveryTerms, ServedChain } from "../../generated/types.ts";
import { facts } from "../../kit/notes.ts";
import type { Passkey } from "../../passkeys/signers.ts";
import { text } from "../parts/language.ts";
import { button, buttons, paragraph, type Press } from "../parts/nodes.ts";
import { hasExpired } from "../library.ts";
import { opening } from "../parts/router.ts";
import { preparing, run, say, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { chainsOfChanges } from "./card.ts";
import { bringChanges } from "./change.ts";
import { guardiansCard } from "./guardians.ts";
import { helping, ownAgain, ownCode, returning } from "./others.ts";
import { ownersCard } from "./owners.ts";
import { namer, type Namer, passkeys } from "./people.ts";
import { askingService } from "./service.ts";
import { notice } from "./recovery.ts";
import { twoKeysCard } from "./two.ts";

export { identity } from "../identity/screen.ts";
export { delegate } from "../spending/delegate.ts";
export { spendingNew } from "../spending/form.ts";
export { spending, spendingRows } from "../spending/list.ts";
export { spendingReview } from "../spending/review.ts";

/** what the screen shows */
export interface Known {
  view: AccountView;
  /** the signer of the vault's key */ own: string;
  passkeys: Passkey[];
  /** those that own the account now */ seconds: Passkey[];
  named: Namer;
  /** the names of the service's chains */ chain: string;
  /** the main one */ main: ServedChain;
  /** whether there are several */ hasOthers: boolean;
  /** of the service as a guardian */ terms: RecoveryTerms;
  /** whether the vault's key owns the account */ isOwner: boolean;
  /** whether this page can change the account: with the vault's key, and with a passkey where two must sign */
  canChange: boolean;
  /** what the vault's key may pay alone where two must sign */ alone: Granted[];
  /** the IDs of the passkeys that open this vault */ opening: string[];
  /** the account that this service was asked for */ lost: string | undefined;
  /** whether another key created the account */ isForeign: boolean;
}

export { drillAccount } from "./drill.ts";
export { stopService } from "./service.ts";

/** @param how `said`: what happened just now */
export async function keys({ said = "" }: { said?: string } = {}) {
  const still = preparing();
  const known = await gathered();
  if (!still()) return;
  draw(known);
  say(said);
}

/** Shows the notice of a recovery on another screen. */
export async function noticed({
  container,
  recovery,
  own,
  chain,
}: {
  container: HTMLElement;
  recovery: Recovery;
  own: string;
  chain: ServedChain;
}) {
  container.append(notice(recovery, own, await namer(own, []), chain));
}

async function gathered(): Promise<Known> {
  const client = await ready();
  const account = await client.accountKeys();
  const [view, own, known, chains, terms] = await Promise.all([
    account.view(),
    account.signer(),
    passkeys(),
    chainsOfChanges(client),
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
    main: chains[0],
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

function draw(known: Known) {
  const { view, own, chain, main, terms, isForeign, isOwner } = known;
  show({
    name: "keys",
    heading: text("keys.heading"),
    redraw: () => draw(known),
    body: [
      view.recovery && notice(view.recovery, own, known.named, main),
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
      buttons(button(text("back"), opening("home"), { kind: "plain", name: "back" })),
    ],
  });
}

function bringing() {
  const press = (event: Press) => run(event.currentTarget, bringChanges);
  return buttons(button(text("keys.bring"), press, { kind: "plain", name: "bring" }));
}
