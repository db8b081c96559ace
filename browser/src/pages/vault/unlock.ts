/**
 * The screen that opens a stored vault with a passkey or the vault password, or offers to bring a vault into this
 * browser.
 */

import type { VaultKey } from "../../passkeys/secrets.ts";
import type { Vault } from "../../vault/vault.ts";
import { WebAuthnError, endWaitingPasskeys, getDeviceCapabilities, passkeyKey, usePasskey } from "../library.ts";
import { noteTrial } from "../drill/trials.ts";
import { passkeyMark } from "../drill/ways.ts";
import { text, type TextKey } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.ts";
import { facts } from "../../kit/notes.ts";
import {
  hadVault,
  hasAnotherKey,
  markVault,
  received,
  setReceived,
  setVaultOf,
  settled,
  vaultOf,
} from "../parts/notes.ts";
import { cannotStore, obstacle } from "../parts/obstacle.ts";
import { shown } from "../parts/passwords.ts";
import { copiesOf } from "../parts/providers.ts";
import { ProblemError, succeeded } from "../parts/problems.ts";
import { go } from "../parts/router.ts";
import { alarm, preparing, run, say, show, tell } from "../parts/screen.ts";
import { ready, service } from "../parts/vault_client.ts";
import { keepTyped } from "../send/form.ts";
import { nothing } from "./nothing.ts";
import { backupButton } from "./recover.ts";

/** An autofill request that fails within this time is not restarted, because the browser would refuse it again. */
const LIVED_MS = 1000;

type Used = Awaited<ReturnType<typeof usePasskey>>;

/** @param how `locked`: the text that says why the vault was locked */
export async function enter({ locked }: { locked?: TextKey } = {}) {
  if (cannotStore()) return blocked();
  const still = preparing();
  const { vault } = await ready().catch((error) => (broken(error), { vault: null }));
  if (!vault) return;
  const { locked: closed } = await vault.status();
  if (!still()) return;
  if (!closed) return go("home");
  const stored = await withoutKeyless(vault)
    .then(() => vault.stored())
    .catch((error) => (broken(error), null));
  if (!stored) return;
  const link = location.hash.startsWith("#pair=") ? location.href : "";
  if (link) {
    history.replaceState(null, "", location.pathname);
    const unopened = await received().catch(() => null); // since it came by an earlier link
    return go("take", { link, replace: stored.length === 1 && stored[0].did === unopened });
  }
  if (stored.length > 0) markVault();
  const taken = stored.length === 1 && (await isElsewhere(stored[0].did));
  if (!still()) return;
  if (stored.length === 0) return nothing(hadVault());
  if (taken) return elsewhere();
  welcome(locked);
  if (!locked) await waitForAutofill();
}

/** Deletes a vault that was received from another device without its keys and got none here, so that nothing opens it. */
async function withoutKeyless(vault: Vault) {
  const did = await received();
  if (!did || (await hasAnotherKey(did).catch(() => true))) return; // or it could not be looked at
  const failed = await vault.forget(did).catch((error) => error as unknown);
  if (!failed) await setReceived(null); // else another tab may be adding a key to it
}

/** Whether another tab has the vault open, which is checked before asking for a passkey. */
async function isElsewhere(did: string) {
  return (await vaultsElsewhere()).some((name) => name.endsWith(did));
}

/** @returns the names of the locks on the vaults that are open */
async function vaultsElsewhere(): Promise<string[]> {
  const { held = [] } = await navigator.locks.query();
  return held.map(({ name = "" }) => name).filter((name) => name.startsWith("hf-vault:"));
}

/** The screen where this site may store nothing, so that no vault can be opened or brought here. */
export function blocked() {
  show({
    name: "blocked",
    heading: text("vault.heading"),
    redraw: blocked,
    body: [obstacle(), buttons(button(text("again"), () => location.reload(), { kind: "main" }))],
  });
}

function broken(error: unknown) {
  show({
    name: "broken",
    heading: text("vault.heading"),
    body: [buttons(button(text("again"), () => location.reload(), { kind: "main" }))],
  });
  tell(error);
}

function welcome(locked?: TextKey) {
  const reason = obstacle();
  const name = field(
    text("unlock.label"),
    { name: "username", autocomplete: "username webauthn", autocapitalize: "none", spellcheck: "false" },
    text("unlock.hint"),
  );
  show({
    name: "unlock",
    heading: text("unlock.heading"),
    redraw: () => welcome(locked),
    body: [
      reason ?? paragraph("unlock.lead"),
      !locked && !reason && name.node,
      buttons(
        !reason &&
          button(text("unlock.passkey"), (event) => run(event.currentTarget, withPasskey, text("passkey.open")), {
            kind: "main",
            name: "passkey",
          }),
        button(text("unlock.usePassword"), () => password(), { kind: reason ? "main" : "plain", name: "use-password" }),
        backupButton("plain"),
        button(text("stuck.open"), () => go("stuck"), { kind: "plain", name: "stuck" }),
      ),
    ],
  });
  if (locked) say(text(locked));
}

/** Waits until the person chooses a passkey from the field's autofill list, and waits again after a failure. */
async function waitForAutofill() {
  if (!(await getDeviceCapabilities()).conditionalMediationAvailable) return;
  const waits = () => (document.querySelector("main") as HTMLElement).dataset.screen === "unlock";
  while (waits()) {
    const began = performance.now();
    try {
      const used = await usePasskey({ mediation: "conditional" });
      await run(null, () => opened(used), text("working"));
    } catch (error) {
      if (error instanceof WebAuthnError && error.reason === "aborted") return;
      if (performance.now() - began >= LIVED_MS || !(error instanceof WebAuthnError)) tell(error);
    }
    if (performance.now() - began < LIVED_MS) return;
  }
}

async function withPasskey() {
  try {
    await opened(await usePasskey());
  } catch (error) {
    // Once the error is shown, make the field's autofill list work again.
    if (document.querySelector('input[name="username"]')) setTimeout(() => void waitForAutofill(), LIVED_MS);
    throw error;
  }
}

async function opened(used: Used, takeOver: boolean = false) {
  const opens = await vaultOf(used.credentialId);
  const did = opens?.did ?? (await onlyVault(used.credentialId));
  await unlocked(await passkeyKey(used), did, takeOver);
  // A password manager may have backed up the passkey since it was created.
  await setVaultOf(used.credentialId, { did, copies: (await copiesOf(used.assertion)) ?? opens?.copies ?? null });
}

/**
 * Returns the vault's DID for a passkey that is new to this browser: that of the only stored vault, or the one
 * registered with the service.
 */
async function onlyVault(credentialId: string): Promise<string> {
  const stored = await (await ready()).vault.stored();
  if (stored.length === 1) return stored[0].did;
  const known = await service().lookupDid({ credentialId });
  if (!known.found || !("did" in known)) throw new ProblemError("none.unknown");
  return known.did;
}

async function unlocked(key: VaultKey, did: string, takeOver: boolean, wrong?: TextKey) {
  const { vault } = await ready();
  const answer = await vault.unlock(key, null, { did, takeOver });
  if (answer.error === "open_elsewhere") return go("elsewhere");
  // It is open already: what came after could not be shown.
  if (answer.error === "conflict" && (await vault.query()).did === did) return go("home");
  succeeded(answer, wrong);
  if ((await received().catch(() => null)) === did) await settled(vault).catch(() => {}); // or else next time
  // Opening the vault counts as a test of the key that was used.
  await noteTrial(did, key.kind === "prf" ? passkeyMark(key.id) : "password");
  await go("home");
}

/** The screen for a vault that is open in another tab; it offers to take the vault over. */
export function elsewhere() {
  let taking = false;
  const here = async () => {
    await endWaitingPasskeys();
    const used = await usePasskey();
    taking = true; // from now on the vault becomes free because this tab takes it
    await opened(used, true).finally(() => (taking = false));
  };
  const signal = show({
    name: "elsewhere",
    heading: text("unlock.elsewhere.heading"),
    redraw: elsewhere,
    body: [
      paragraph("unlock.elsewhere"),
      buttons(
        button(text("unlock.here"), (event) => run(event.currentTarget, here, text("passkey.open")), {
          kind: "main",
          name: "here",
        }),
        button(text("unlock.usePassword"), () => password(true), { kind: "plain", name: "use-password" }),
      ),
    ],
  });
  whenFree(() => signal.aborted || taking || void enter({ locked: "unlock.locked" }), signal);
}

/** Calls `then` as soon as no other tab has a vault open. */
function whenFree(then: () => void, signal: AbortSignal) {
  const free = vaultsElsewhere().then((names) =>
    Promise.all(names.map((name) => navigator.locks.request(name, { mode: "shared", signal }, () => {}))),
  );
  free.then(then, () => {}); // the screen was left
}

async function password(takeOver: boolean = false) {
  const still = preparing();
  await endWaitingPasskeys();
  const which = await vaultChoice();
  if (!still()) return;
  const passwordField = field(text("password.label"), {
    type: "password",
    name: "password",
    autocomplete: "current-password",
  });
  const open = () =>
    run(
      document.querySelector("#screen button[type=submit]"),
      async () => {
        const key = { kind: "password" as "password", password: passwordField.input.value };
        await unlocked(key, which.did(), takeOver, "problem.wrong_password");
      },
      text("working"),
    );
  show({
    name: "unlock-password",
    heading: text("unlock.password.heading"),
    focus: passwordField.input,
    redraw: () => password(takeOver),
    body: [
      form(
        open,
        which.node,
        passwordField.node,
        shown(passwordField.input),
        buttons(
          submit(text("unlock.password.open")),
          button(text("back"), () => enter({ locked: "unlock.locked" }), { kind: "plain", name: "back" }),
        ),
      ),
    ],
  });
}

/**
 * Lets the person choose among several stored vaults, because a password does not say which one it opens.
 *
 * @returns `node`: null for a single vault
 */
async function vaultChoice(): Promise<{ did: () => string; node: Node | null }> {
  const stored = (await (await ready()).vault.stored()).sort((one, other) => other.updatedAt - one.updatedAt);
  if (stored.length === 1) return { did: () => stored[0].did, node: null };
  const names = await Promise.all(stored.map(async ({ did }) => (await facts(did)).identifier ?? did));
  const select = el(
    "select",
    { id: "which", name: "which" },
    ...stored.map(({ did }, at) => el("option", { value: did }, names[at])),
  );
  return {
    did: () => select.value,
    node: el("div", { class: "field" }, el("label", { for: "which" }, text("unlock.which")), select),
  };
}

/**
 * Shows that the open vault is no longer available: it locked itself, another tab took it over, or its worker failed.
 *
 * @param why what the other tab gave as its reason
 */
export function gone(type: string, why: string = "") {
  const screen = (document.querySelector("main") as HTMLElement).dataset.screen ?? "";
  keepTyped();
  if (type === "taken") return void go("elsewhere");
  if (type === "failed") return alarm(text("problem.stopped"));
  if (["start", "choose", "passkey", "prove"].includes(screen)) return;
  // The payment window has the vault for a moment only, so this tab offers to open it again at once.
  if (why === "payment") return welcome("unlock.paying");
  void enter({ locked: "unlock.idle" });
}
