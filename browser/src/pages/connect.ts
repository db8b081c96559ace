/**
 * Entry point of /connect, where a person registers or unlocks a vault, and decides on a request from an application on
 * another origin.
 */

import type { Message } from "../connect/protocol.ts";
import { Refusal } from "../connect/request.ts";
import type { Connected } from "../connect.ts";
import { meta } from "../kit/meta.ts";
import "../kit/kit.ts";
import { asker, type Asker } from "./connect/asker.ts";
import { firstAnswer } from "./connect/answered.ts";
import { consent } from "./connect/consent.ts";
import { footer } from "./footer.ts";
import type { Client } from "./library.ts";
import { text, type TextKey } from "./parts/language.ts";
import { button, buttons, el, paragraph } from "./parts/nodes.ts";
import { begun } from "./parts/notes.ts";
import { cannotStore } from "./parts/obstacle.ts";
import { problem, ProblemError } from "./parts/problems.ts";
import { addScreens, go, stay } from "./parts/router.ts";
import { alarm, say, show } from "./parts/screen.ts";
import { ready, whenGone } from "./parts/vault_client.ts";
import { nameScreens } from "./screens.ts";
import { copyOf, copyState } from "./vault/copy.ts";
import { blocked, gone } from "./vault/unlock.ts";

/** Error messages for the application, in English because the application logs them. */
const FOR_APPS: Record<string, string> = {
  user_cancelled: "The person said no.",
  bad_request: "The request has a field that is missing, unknown or of another form.",
  expired: "The request is too old.",
  replayed: "This request was answered before.",
  unsupported: "This service has no USDC, so that nothing can be limited in it.",
};
/** How long this window stays open at most, until the vault's first copy is saved. */
const COPY_WITHIN_MS = 10_000;
let present: Asker | null = null;
let over = false;

nameScreens();
stay();
addScreens({ home: requested });

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
    const code = error instanceof Refusal ? error.code : "";
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

/** Asks for consent, now that the vault is open. */
async function requested({ said = "" }: { said?: string } = {}) {
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

async function allowed(result: Connected) {
  const { origin, requested: request } = known();
  if (!(await known().isPresent())) return ended("connect.gone");
  const { state = "", expires = 0 } = request ?? {};
  if (!(await firstAnswer({ origin: origin.origin, state, expires }))) return refused("replayed", "connect.replayed");
  await answered({ type: "result", result }, "connect.done");
}

function keyOf(code: string) {
  return `connect.${code}` as TextKey;
}

/**
 * @param code for the application
 * @param key the text's key, for the person
 * @param what the field that is wrong
 */
function refused(code: string, key: TextKey, what: string = "") {
  const message = { type: "error", code, message: what ? `${FOR_APPS[code]} (${what})` : FOR_APPS[code] };
  if (code === "user_cancelled") return answered(message, key);
  // The page shows why the request was refused until the person presses the button that returns to the application.
  const back = button(text("connect.back"), () => answered(message, key), { kind: "main", name: "back" });
  if (!known().redirect) known().answer(message);
  return ended(key, known().redirect ? back : null);
}

/** Answers the application. Until it has the answer, the window does not say so: the person might close it. */
async function answered(message: Message, key: TextKey) {
  over = true;
  show({ name: "leaving", heading: text("connect.title"), body: [] });
  await waitForCopy(await ready());
  await (await ready()).vault.lock().catch(() => {}); // closing the window locks it as well
  known().answer(message);
  ended(key);
  if (!known().redirect) window.close();
}

/** Lets the vault's first copy be saved before the vault is locked, and says so. */
async function waitForCopy(client: Client) {
  if ((await client.vault.status()).locked || copyOf(await copyState()) !== "coming") return;
  say(text("connect.copy"));
  await client
    .snapshots()
    .then((it) => it.firstCopy(COPY_WITHIN_MS))
    .catch(() => {}); // the vault's page says what has no copy
}

/** Shows the last screen. */
function ended(key: TextKey, back: HTMLElement | null = null) {
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
