/**
 * Recovers a vault into this browser: from the service with only a passkey, or from a backup file
 * without a separate password (a CAR file).
 */

import type { Foreign } from "../../http/http.ts";
import type { VaultKey } from "../../passkeys/secrets.ts";
import type { Unconfirmed } from "../../snapshots/recovery.ts";
import { endWaitingPasskeys, usePasskey } from "../library.ts";
import { confirmed } from "../parts/dialog.ts";
import { moment, text, type TextKey } from "../parts/language.ts";
import { button, buttons, field, form, paragraph, stepList, submit } from "../parts/nodes.ts";
import { markVault, setVaultOf } from "../parts/notes.ts";
import { shown } from "../parts/passwords.ts";
import { copiesOf } from "../parts/providers.ts";
import { ProblemError } from "../parts/problems.ts";
import { go, opening } from "../parts/router.ts";
import { run, say, show, tell } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";

/** The displayed steps, keyed by the client's names for them. */
const STEPS: Record<string, string> = {
  "passkey chosen": "chosen",
  "record verified": "record",
  "snapshot verified": "fetch",
  "vault opened": "open",
};

/** The refusals after which the vault password may open what the passkey does not. */
const WITH_PASSWORD: TextKey[] = ["recover.refused.no_prf", "recover.refused.wrong_key", "recover.refused.older"];

type Used = Awaited<ReturnType<typeof usePasskey>>;

type Given = { passkey?: Used; key?: VaultKey; car?: Uint8Array<ArrayBuffer> };

/** Creates a button that asks for the passkey and recovers its vault. */
export function recoverButton(label: string, kind: "main" | "" = "main"): HTMLButtonElement {
  const bring = async () => {
    await endWaitingPasskeys();
    await brought({ passkey: await usePasskey() });
  };
  return button(label, (event) => run(event.currentTarget, bring, text("passkey.open")), {
    kind,
    name: "recover",
  });
}

/** Creates a button that leads to the screen for a backup file. */
export function backupButton(kind: "main" | "plain" | "") {
  return button(text("none.import"), () => go("import"), { kind, name: "import" });
}

async function brought(given: Given) {
  const { mark, stopped } = drawn(given);
  try {
    const client = await ready();
    const found = await client.recover({ ...given, accept: accepted, onProgress: mark });
    if (given.passkey && !given.key)
      await setVaultOf(given.passkey.credentialId, { did: found.did, copies: await copiesOf(given.passkey.assertion) });
    markVault();
    await go("home", { said: saidOf(found) });
  } catch (error) {
    failed(given, refusedRecovery(error), stopped());
  }
}

/** Returns the announcement of what was recovered, which begins with a warning if a newer copy exists. */
function saidOf({ updatedAt, newer }: { updatedAt: number; newer: { updatedAt: number } | null }) {
  const time = moment(updatedAt);
  return newer ? text("recover.done.older", { time, newest: moment(newer.updatedAt) }) : text("recover.done", { time });
}

function drawn({ car }: Given) {
  const names = car ? ["chosen", "open"] : Object.values(STEPS);
  const { list, mark, stopped } = stepList(names.map((name) => [name, text(`recover.${name}` as TextKey)]));
  show({ name: "recover", heading: text("recover.heading"), body: [list], redraw: () => {} });
  say(text("working"));
  const reached = (
    step: string,
    { done = 0, all = 0, places = [] }: { done?: number; all?: number; places?: string[] } = {},
  ) => {
    if (all > 1) say(text("recover.parts", { done, all }));
    if (places.length) say(text("recover.unanswered", { places: places.join(", ") }));
    mark(STEPS[step], "done");
    const next = list.querySelector<HTMLElement>("li:not([data-state=done])");
    if (next) mark(next.dataset.step as string, "busy");
  };
  return { mark: reached, stopped };
}

/**
 * Asks whether the person accepts a copy that may be old: older than the last one seen, or than the newest, which the
 * key does not open; or with an expired signature.
 */
function accepted(reason: "expired" | "rolled_back" | "unconfirmed", _error: Error, about?: Unconfirmed) {
  return confirmed({
    heading: text("recover.older.heading"),
    words: wordsOf(reason, about),
    yes: text("recover.older.take"),
  });
}

function wordsOf(reason: "expired" | "rolled_back" | "unconfirmed", about?: Unconfirmed) {
  if (!about) return text(`recover.ask.${reason}`);
  const time = moment(about.updatedAt);
  if (about.newestAt !== undefined) return text("recover.ask.older", { time, newest: moment(about.newestAt) });
  return text(`recover.ask.${reason}`, { time, places: about.places.join(", ") });
}

/** Converts a refused recovery to a sentence; returns other errors unchanged. */
export function refusedRecovery(thrown: unknown) {
  const error = thrown as Foreign;
  if (error?.name === "SnapshotRolledBack") return new ProblemError("recover.rolled_back");
  if (error?.code === "unconfirmed" && (error.cause as Foreign)?.code === "wrong_key")
    return new ProblemError("recover.refused.older");
  return error?.name === "RecoveryRefused" ? new ProblemError(`recover.refused.${error.code}` as TextKey) : thrown;
}

function failed(given: Given, error: unknown, list: HTMLElement) {
  const withPassword = error instanceof ProblemError && WITH_PASSWORD.includes(error.key);
  show({
    name: "recover-failed",
    heading: text("recover.failed.heading"),
    redraw: () => failed(given, error, list),
    body: [
      list,
      buttons(
        recoverButton(text("recover.again")),
        withPassword && button(text("unlock.usePassword"), () => password(given), { name: "use-password" }),
        backupButton("plain"),
        button(text("back"), opening("vault"), { kind: "plain", name: "back" }),
      ),
    ],
  });
  tell(error);
}

/** Asks for the password of a vault that the passkey can find but not open. */
function password(given: Given) {
  const secret = field(text("password.label"), {
    type: "password",
    name: "password",
    autocomplete: "current-password",
  });
  const open = (it: HTMLFormElement) =>
    run(
      it.querySelector("button[type=submit]"),
      () => brought({ ...given, key: { kind: "password", password: secret.input.value } }),
      text("working"),
    );
  show({
    name: "recover-password",
    heading: text("unlock.password.heading"),
    focus: secret.input,
    redraw: () => password(given),
    body: [
      paragraph("recover.password.lead"),
      form(
        open,
        secret.node,
        shown(secret.input),
        buttons(
          submit(text("unlock.password.open")),
          button(text("back"), opening("vault"), { kind: "plain", name: "back" }),
        ),
      ),
    ],
  });
}

/**
 * Brings the vault from a backup file without a separate password.
 *
 * @param secret the vault password; empty if the passkey opens the vault
 */
export async function ofFile(car: Uint8Array<ArrayBuffer>, secret: string) {
  await brought(secret ? { car, key: { kind: "password", password: secret } } : { car, passkey: await usePasskey() });
}
