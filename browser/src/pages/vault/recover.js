/**
 * Recovers a vault into this browser: from the service with only a passkey, or from a backup file
 * without a separate password (a CAR file).
 */

import { endWaitingPasskeys, usePasskey } from "../library.js";
import { confirmed } from "../parts/dialog.js";
import { moment, text } from "../parts/language.js";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.js";
import { markVault, setVaultOf } from "../parts/notes.js";
import { shown } from "../parts/passwords.js";
import { copiesOf } from "../parts/providers.js";
import { ProblemError } from "../parts/problems.js";
import { go } from "../parts/router.js";
import { run, say, show, tell } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";

/** The displayed steps, keyed by the client's names for them. @type {Record<string, string>} */
const STEPS = {
  "passkey chosen": "chosen",
  "record verified": "record",
  "snapshot verified": "fetch",
  "vault opened": "open",
};

/** The refusals after which the vault password may open what the passkey does not. */
const WITH_PASSWORD = ["recover.refused.no_prf", "recover.refused.wrong_key", "recover.refused.older"];

/**
 * @typedef {Awaited<ReturnType<typeof usePasskey>>} Used
 * @typedef {{passkey?: Used, key?: import("../library.js").VaultKey, car?: Uint8Array<ArrayBuffer>}} Given
 */

/**
 * Creates a button that asks for the passkey and recovers its vault.
 *
 * @param {string} label
 * @param {"main" | ""} [kind]
 * @returns {HTMLButtonElement}
 */
export function recoverButton(label, kind = "main") {
  const bring = async () => {
    await endWaitingPasskeys();
    await brought({ passkey: await usePasskey() });
  };
  return button(label, (event) => run(/** @type {HTMLElement} */ (event.currentTarget), bring, text("passkey.open")), {
    kind,
    name: "recover",
  });
}

/**
 * Creates a button that leads to the screen for a backup file.
 *
 * @param {"main" | "plain" | ""} kind
 */
export function backupButton(kind) {
  return button(text("none.import"), () => go("import"), { kind, name: "import" });
}

/** @param {Given} given */
async function brought(given) {
  const { list, mark } = drawn(given);
  try {
    const client = await ready();
    const found = await client.recover({ ...given, accept: accepted, onProgress: mark });
    if (given.passkey && !given.key)
      await setVaultOf(given.passkey.credentialId, { did: found.did, copies: await copiesOf(given.passkey.assertion) });
    markVault();
    await go("home", { said: saidOf(found) });
  } catch (error) {
    failed(given, refusedRecovery(error), list);
  }
}

/**
 * Returns the announcement of what was recovered, which begins with a warning if a newer copy exists.
 *
 * @param {{updatedAt: number, newer: {updatedAt: number} | null}} found
 */
function saidOf({ updatedAt, newer }) {
  const time = moment(updatedAt);
  return newer ? text("recover.done.older", { time, newest: moment(newer.updatedAt) }) : text("recover.done", { time });
}

/** @param {Given} given */
function drawn({ car }) {
  const names = car ? ["chosen", "open"] : Object.values(STEPS);
  const list = el(
    "ul",
    { class: "steps" },
    ...names.map((name) =>
      el(
        "li",
        { "data-step": name },
        el("span", {}, text(/** @type {import("../parts/language.js").TextKey} */ (`recover.${name}`))),
      ),
    ),
  );
  show({ name: "recover", heading: text("recover.heading"), body: [list], redraw: () => {} });
  say(text("working"));
  /** @param {string} step @param {{done?: number, all?: number, places?: string[]}} [progress] */
  const mark = (step, { done = 0, all = 0, places = [] } = {}) => {
    if (all > 1) say(text("recover.parts", { done, all }));
    if (places.length) say(text("recover.unanswered", { places: places.join(", ") }));
    const item = /** @type {HTMLElement | null} */ (list.querySelector(`[data-step="${STEPS[step]}"]`));
    if (item) item.dataset.state = "done";
    const next = /** @type {HTMLElement | null} */ (list.querySelector("li:not([data-state=done])"));
    if (next) next.dataset.state = "busy";
  };
  return { list, mark };
}

/**
 * Asks whether the person accepts a copy that may be old: older than the last one seen, or than the newest, which the
 * key does not open; or with an expired signature.
 *
 * @param {"expired" | "rolled_back" | "unconfirmed"} reason
 * @param {Error} _error
 * @param {import("../../snapshots/recovery.js").Unconfirmed} [about]
 */
function accepted(reason, _error, about) {
  return confirmed({
    heading: text("recover.older.heading"),
    words: wordsOf(reason, about),
    yes: text("recover.older.take"),
  });
}

/**
 * @param {"expired" | "rolled_back" | "unconfirmed"} reason
 * @param {import("../../snapshots/recovery.js").Unconfirmed} [about]
 */
function wordsOf(reason, about) {
  if (!about) return text(`recover.ask.${reason}`);
  const time = moment(about.updatedAt);
  if (about.newestAt !== undefined) return text("recover.ask.older", { time, newest: moment(about.newestAt) });
  return text(`recover.ask.${reason}`, { time, places: about.places.join(", ") });
}

/**
 * Converts a refused recovery to a sentence; returns other errors unchanged.
 *
 * @param {any} error
 */
export function refusedRecovery(error) {
  if (error?.name === "SnapshotRolledBack") return new ProblemError("recover.rolled_back");
  if (error?.code === "unconfirmed" && error.cause?.code === "wrong_key")
    return new ProblemError("recover.refused.older");
  return error?.name === "RecoveryRefused"
    ? new ProblemError(/** @type {import("../parts/language.js").TextKey} */ (`recover.refused.${error.code}`))
    : error;
}

/**
 * @param {Given} given
 * @param {any} error
 * @param {HTMLElement} list
 */
function failed(given, error, list) {
  list.querySelectorAll('[data-state="busy"]').forEach((it) => it.removeAttribute("data-state"));
  const withPassword = WITH_PASSWORD.includes(error?.key);
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
        button(text("back"), () => go("vault"), { kind: "plain", name: "back" }),
      ),
    ],
  });
  tell(error);
}

/**
 * Asks for the password of a vault that the passkey can find but not open.
 *
 * @param {Given} given
 */
function password(given) {
  const secret = field(text("password.label"), {
    type: "password",
    name: "password",
    autocomplete: "current-password",
  });
  const open = (/** @type {HTMLFormElement} */ it) =>
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
          button(text("back"), () => go("vault"), { kind: "plain", name: "back" }),
        ),
      ),
    ],
  });
}

/**
 * Brings the vault from a backup file without a separate password.
 *
 * @param {Uint8Array<ArrayBuffer>} car
 * @param {string} secret the vault password; empty if the passkey opens the vault
 */
export async function ofFile(car, secret) {
  await brought(secret ? { car, key: { kind: "password", password: secret } } : { car, passkey: await usePasskey() });
}
