/**
 * Entry point of /connect, where a person registers or unlocks a vault, and decides on a request from an application on
 * another origin.
 */

import { meta } from "../kit/meta.js";
import "../kit/kit.js";
import { asker } from "./connect/asker.js";
import { firstAnswer } from "./connect/answered.js";
import { consent } from "./connect/consent.js";
import { footer } from "./footer.js";
import { text } from "./parts/language.js";
import { button, buttons, el, paragraph } from "./parts/nodes.js";
import { begun } from "./parts/notes.js";
import { cannotStore } from "./parts/obstacle.js";
import { problem, ProblemError } from "./parts/problems.js";
import { go, screen, stay } from "./parts/router.js";
import { alarm, say, show } from "./parts/screen.js";
import { ready, whenGone } from "./parts/vault_client.js";
import { nameScreens } from "./screens.js";
import { copyOf, copyState } from "./vault/copy.js";
import { blocked, gone } from "./vault/unlock.js";

/** @typedef {import("./connect/asker.js").Asker} Asker */

/**
 * Error messages for the application, in English because the application logs them.
 *
 * @type {Record<string, string>}
 */
const FOR_APPS = {
  user_cancelled: "The person said no.",
  bad_request: "The request has a field that is missing, unknown or of another form.",
  expired: "The request is too old.",
  replayed: "This request was answered before.",
  unsupported: "This service has no USDC, so that nothing can be limited in it.",
};
/** How long this window stays open at most, until the vault's first copy is saved. */
const COPY_WITHIN_MS = 10_000;
/** @type {Asker | null} */
let present = null;
let over = false;

nameScreens();
stay();
screen("home", requested);

document.querySelector(".home")?.addEventListener("click", (event) => event.preventDefault());
whenGone((type, why) => over || gone(type, why));
footer(banner);
void began();

async function began() {
  show({ name: "waiting", heading: text("connect.title"), quiet: true, body: [paragraph("connect.waiting")] });
  void ready().catch(() => {}); // reported where it is awaited
  try {
    present = await asker();
  } catch (error) {
    const { code = "" } = /** @type {any} */ (error);
    return ended(
      ["framed", "origin_refused", "return_undeclared", "no_asker"].includes(code) ? keyOf(code) : "connect.no_asker",
    );
  }
  banner();
  if (present.refusal) return refused(present.refusal.code, keyOf(present.refusal.code), present.refusal.what);
  if (present.requested?.delegate && !usdc()) return refused("unsupported", "connect.unsupported");
  await entered().catch((error) => alarm(problem(error)));
}

/** Shows the unfinished registration or the stored vault or, if there is neither, the two ways to get a vault. */
async function entered() {
  if (cannotStore()) return blocked();
  const stored = await (await ready()).vault.stored();
  const unfinished = await begun().catch(() => null);
  await go(unfinished || stored.length === 0 ? "start" : "vault");
}

/** Asks for consent, now that the vault is open. @param {{said?: string}} [how] */
async function requested({ said = "" } = {}) {
  const { origin, returnTo, requested: request } = known();
  if (!request) return;
  const shown = await consent({
    origin,
    returnTo,
    requested: request,
    allowed,
    refused: () => refused("user_cancelled", "connect.cancelled"),
  });
  if (shown) say(said);
}

/** @param {import("../connect.js").Connected} result */
async function allowed(result) {
  const { origin, state, requested: request } = known();
  if (!(await known().isPresent())) return ended("connect.gone");
  if (!(await firstAnswer({ origin: origin.origin, state, expires: request?.expires ?? 0 })))
    return refused("replayed", "connect.replayed");
  await answered({ type: "result", result }, "connect.done");
}

/** @param {string} code */
function keyOf(code) {
  return /** @type {import("./parts/language.js").TextKey} */ (`connect.${code}`);
}

/**
 * @param {string} code for the application
 * @param {import("./parts/language.js").TextKey} key the text's key, for the person
 * @param {string} [what] the field that is wrong
 */
function refused(code, key, what = "") {
  const message = { type: "error", code, message: what ? `${FOR_APPS[code]} (${what})` : FOR_APPS[code] };
  if (code === "user_cancelled") return answered(message, key);
  // The page shows why the request was refused until the person presses the button that returns to the application.
  const back = button(text("connect.back"), () => answered(message, key), { kind: "main", name: "back" });
  if (!known().redirect) known().answer(message);
  return ended(key, known().redirect ? back : null);
}

/**
 * @param {Record<string, any>} message
 * @param {import("./parts/language.js").TextKey} key
 */
async function answered(message, key) {
  ended(key);
  await waitForCopy(await ready());
  await (await ready()).vault.lock().catch(() => {}); // closing the window locks it as well
  known().answer(message);
  if (!known().redirect) window.close();
}

/** Lets the vault's first copy be saved before the vault is locked, and says so. @param {import("./library.js").Client} client */
async function waitForCopy(client) {
  if ((await client.vault.status()).locked || copyOf(await copyState()) !== "coming") return;
  say(text("connect.copy"));
  await client
    .snapshots()
    .then((it) => it.firstCopy(COPY_WITHIN_MS))
    .catch(() => {}); // the vault's page says what has no copy
}

/**
 * Shows the last screen.
 *
 * @param {import("./parts/language.js").TextKey} key
 * @param {HTMLElement | null} [back]
 */
function ended(key, back = null) {
  over = true;
  const host = present?.origin.host ?? "";
  show({
    name: key.slice("connect.".length),
    heading: text(key === "connect.done" ? "connect.done.heading" : "connect.title"),
    redraw: () => ended(key, back),
    body: [paragraph(key, { host }), back && buttons(back)],
  });
}

/** Shows the requesting application above every screen. */
function banner() {
  if (!present) return;
  const said = el(
    "p",
    { class: "asker", "data-name": "asker" },
    text("connect.banner"),
    " ",
    el("strong", { "data-name": "origin" }, present.origin.origin),
  );
  document.querySelector(".asker")?.remove();
  document.querySelector("main")?.prepend(said);
}

function known() {
  if (!present) throw new ProblemError("connect.no_asker");
  return present;
}

function usdc() {
  return meta("usdc");
}
