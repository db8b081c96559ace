/** Shows the open vault on one screen: identity, account, passkeys, backup, permissions and activity. */

import type { Delegation } from "../../enclave-answers.ts";
import type { Credential, DidRecord } from "../../generated/types.ts";
import type { Sent } from "../../kit/stored.ts";
import type { SnapshotState } from "../../snapshots/state.ts";
import type { Tried } from "../drill/ways.ts";
import { type Client, keyId } from "../library.ts";
import { text, type TextKey } from "../parts/language.ts";
import { button, el, paragraph } from "../parts/nodes.ts";
import { vaultOf } from "../parts/notes.ts";
import type { Copies } from "../parts/providers.ts";
import { preparing, run, say, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { drillCard } from "../drill/card.ts";
import { keptTyped, send } from "../send/form.ts";
import { openFrom, sentFrom } from "../send/sent.ts";
import { facts, sentRows } from "../../kit/notes.ts";
import { leaveCard } from "../leave/parts.ts";
import { pairCard } from "../pair/give.ts";
import { keysCard, takeover } from "../keys/card.ts";
import { accountCard } from "./account.ts";
import { activityCard } from "./activity.ts";
import { backupCard } from "./backup.ts";
import { copyOf, copyState, followCopy } from "./copy.ts";
import { delegationsCard } from "./delegations.ts";
import { identityCard } from "./identity.ts";
import { passkeysCard } from "./passkeys.ts";
import { snapshotsCard } from "./snapshots.ts";
import { enter } from "./unlock.ts";

const PUBLISH = "/snapshots/publish";

/** The facts that the vault's cards show. */
export interface Facts {
  did: string;
  /** what the person registered as; empty without a registration */ name: string;
  /** the service's */ record: DidRecord | null;
  /** IDs of passkeys that are not registered with the service */ unregistered: string[];
  credentials: Credential[];
  wraps: { kind: string; id: string }[];
  delegations: Delegation[];
  sent: Sent[];
  /** the hashes of payments that can be replaced at a higher fee */ open: Set<string>;
  backupAt: number | undefined;
  tried: Tried;
  /** when the last tried copy was written */ copyAt: number | undefined;
  /** the state of the service's copy; null if it is unknown */ snapshot: SnapshotState | null;
}

/** @param how `said`: what happened just now */
export async function home({ said = "", quiet = false }: { said?: string; quiet?: boolean } = {}) {
  const still = preparing();
  const { vault } = await ready();
  if ((await vault.status()).locked) return still() ? enter() : undefined;
  const known = await gathered();
  if (!still()) return;
  const typed = keptTyped(known.did);
  if (typed) return send(typed);
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
      el(
        "p",
        {},
        button(text("vault.lock"), (event) => run(event.currentTarget, lock), { kind: "plain", name: "lock" }),
      ),
      el("div", { class: "cards" }, ...cards),
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
 */
function aboutCopy(known: Facts, copies: Copies | null) {
  const drawn: () => Record<"notice" | "snapshots" | "drill", HTMLElement> = () => ({
    notice: noticeOf(reminder(known, copies)),
    snapshots: snapshotsCard(known.snapshot),
    drill: drillCard(known),
  });
  let shown: ReturnType<typeof drawn>;
  known.snapshot = followCopy(known.snapshot, (state) => {
    known.snapshot = state;
    const now = drawn();
    for (const part of ["notice", "snapshots", "drill"] as const) shown[part] = replaced(shown[part], now[part]);
  });
  return (shown = drawn());
}

/** @param key of a text; empty for no notice */
function noticeOf(key: TextKey | "") {
  return key ? paragraph(key, {}, "notice") : el("p", { class: "notice", hidden: true });
}

/**
 * Replaces a part of the screen if it has changed, and returns the part that is shown. The focus stays on the button
 * that had it.
 */
function replaced(before: HTMLElement, after: HTMLElement): HTMLElement {
  if (before.isEqualNode(after)) return before;
  const focused = before.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.name : null;
  before.replaceWith(after);
  if (focused) after.querySelector<HTMLElement>(`[data-name="${focused}"]`)?.focus({ preventScroll: true });
  return after;
}

/**
 * Returns the warning for a person with one key and no backup file. The warning depends on whether the passkey is
 * synced.
 *
 * @returns the key of a text; empty for no warning
 */
function reminder({ wraps, backupAt, snapshot }: Facts, copies: Copies | null): TextKey | "" {
  if (wraps.length > 1 || backupAt) return "";
  if (wraps[0]?.kind !== "prf") return "vault.remind";
  if (copies === "synced")
    return ({ kept: "vault.remind.kept", coming: "", none: "vault.remind.synced" } as const)[copyOf(snapshot)];
  return copies === "possible" ? "vault.remind.possible" : copies === "one" ? "vault.remind" : "vault.remind.unknown";
}

/** Returns where the passkey that opens the vault exists; null if that is unknown. */
async function usedCopies({ wraps, credentials }: Facts) {
  const ids = await Promise.all(credentials.map(async ({ credential_id: id }) => ({ id, key: await keyId(id) })));
  const used = ids.find(({ key }) => key === wraps[0]?.id);
  return (used && (await vaultOf(used.id))?.copies) ?? null;
}

async function gathered(): Promise<Facts> {
  const client = await ready();
  const { vault } = client;
  const { did, credentials } = await vault.query();
  const remembered = await facts(did);
  client.accountAddress = remembered.account ?? null;
  const [{ wraps }, listed, open, snapshot] = await Promise.all([
    vault.keys(),
    vault.exec("resource:delegations action:list"),
    sentFrom(did).then(() => openFrom(did)),
    copyState(),
  ]);
  const { record, unregistered } = await recordOf(
    client,
    did,
    credentials.map((it) => it.credential_id),
  );
  // The vault's delegation to its own publishing key is not a permission for an app.
  const delegations = (listed.result ?? []).filter(({ command }) => command !== PUBLISH);
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

/** Returns what the service knows about the vault's passkeys. A passkey whose lookup fails counts as registered. */
export async function recordOf(client: Client, did: string, ids: string[]) {
  const found = await Promise.all(ids.map((credentialId) => client.lookupDid({ credentialId }).catch(() => null)));
  const record = found.filter((it) => it?.found === true).find((it) => it.did === did) ?? null;
  return { record, unregistered: ids.filter((_, at) => found[at]?.found === false) };
}
