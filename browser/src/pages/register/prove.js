/** Proves an e-mail address or a phone number with the code that was sent to it. */

import { meta } from "../../kit/meta.js";
import { counted, text } from "../parts/language.js";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.js";
import { setBegun } from "../parts/notes.js";
import { go } from "../parts/router.js";
import { preparing, run, say, show, tell } from "../parts/screen.js";
import { service } from "../parts/vault_client.js";

const DIGITS = 6;
const RESEND_AFTER_S = 30;
const SOON_S = 30;
const [LASTS_S, TRIES] = (meta("code") || "90 5").split(" ").map(Number);
/** The keys of the texts that replace the service's messages about a rejected code. @type {Record<string, import("../parts/language.js").TextKey>} */
const SENTENCES = {
  "No code was sent or it has been used. Request a new one.": "prove.none",
  "The code has expired. Request a new one.": "prove.expired",
  "Too many attempts. Request a new code.": "prove.burnt",
};

/**
 * @typedef {import("../parts/notes.js").Begun} Begun
 * @typedef {Begun & {passkey?: string, added?: boolean}} Proving `passkey`: the credential ID of another passkey, which is not yet
 *   registered with the service; `added`: the address is added to the open vault's DID; otherwise a registration continues
 */

/** @param {Proving} row */
export async function prove(row) {
  draw(row, null);
  await send(row);
}

/** @param {Proving} row */
async function send(row, again = false) {
  const { identifier, channel } = row;
  const still = preparing();
  say(text("prove.sending", { address: identifier }));
  try {
    await service().sendCode({ identifier, channel });
    if (!still()) return;
    draw(row, Date.now());
    if (again) say(text("prove.resent"));
  } catch (error) {
    if (!still()) return;
    draw(row, null, true);
    tell(error);
  }
}

/**
 * @param {Proving} row
 * @param {number | null} sentAt null: nothing has been sent yet
 * @param {boolean} [failed]
 */
function draw(row, sentAt, failed = false) {
  const { identifier: address, channel } = row;
  const code = field(
    text("prove.label"),
    { name: "code", type: "text", inputmode: "numeric", autocomplete: "one-time-code", enterkeyhint: "done" },
    text("prove.hint"),
  );
  code.node.classList.add("code");
  code.verdict.setAttribute("aria-live", "assertive");
  const left = el("p", { class: "small", "data-name": "left" });
  const resend = button(text("prove.resend"), () => send(row, true), { name: "resend" });
  const codeForm = form(() => check(row, code, codeForm), code.node, left, buttons(submit(text("prove.confirm"))));
  codeForm.dataset.tries = String(TRIES);
  const signal = show({
    name: "prove",
    heading: text(/** @type {import("../parts/language.js").TextKey} */ (`prove.heading.${channel}`)),
    focus: sentAt ? code.input : null,
    redraw: () => draw(row, sentAt, failed),
    body: [
      Boolean(row.passkey) && paragraph("passkeys.prove"),
      paragraph(sentAt ? "prove.lead" : "prove.sending", { address }),
      sentAt !== null && codeForm,
      (sentAt !== null || failed) &&
        el(
          "details",
          { open: failed },
          el("summary", {}, text("prove.nocode")),
          paragraph(/** @type {import("../parts/language.js").TextKey} */ (`prove.nocode.${channel}`), { address }),
          el(
            "div",
            { class: "buttons" },
            resend,
            !row.passkey &&
              !row.added &&
              button(text("prove.change"), () => go("choose", { ...row, attestation: undefined }), { name: "change" }),
          ),
        ),
      Boolean(row.added) && buttons(button(text("back"), () => go("leave"), { kind: "plain", name: "back" })),
      Boolean(row.passkey) &&
        buttons(button(text("passkeys.proveLater"), () => go("home"), { kind: "plain", name: "prove-later" })),
    ],
  });
  if (!sentAt) return;
  sendsItself(code.input, codeForm);
  if (channel === "sms") void filledByMessage(code.input, signal);
  countDown({ sentAt, left, resend, mail: channel === "email", codeForm }, signal);
}

/**
 * Submits a code as soon as all six digits are entered, but the same code only once. Other characters are ignored.
 *
 * @param {HTMLInputElement} input
 * @param {HTMLFormElement} codeForm
 */
function sendsItself(input, codeForm) {
  let sent = "";
  input.addEventListener("input", () => {
    const digits = digitsOf(input.value);
    if (digits.length !== DIGITS || digits === sent) return;
    sent = digits;
    codeForm.requestSubmit();
  });
}

/**
 * Reads the code from the text message, if the browser supports WebOTP and the person agrees in the browser's own
 * prompt.
 *
 * @param {HTMLInputElement} input
 * @param {AbortSignal} signal
 */
async function filledByMessage(input, signal) {
  if (!("OTPCredential" in window)) return;
  try {
    const otpRequest = /** @type {CredentialRequestOptions} */ ({ otp: { transport: ["sms"] }, signal });
    const found = /** @type {any} */ (await navigator.credentials.get(otpRequest));
    if (!found?.code || signal.aborted) return;
    input.value = found.code;
    input.dispatchEvent(new Event("input"));
  } catch {
    // refused, or there was no message for this page: the person types the code
  }
}

/** @param {string} value */
export function digitsOf(value) {
  return value.normalize("NFKC").replace(/\D/g, "");
}

/**
 * @param {{sentAt: number, left: HTMLElement, resend: HTMLButtonElement, mail: boolean, codeForm: HTMLFormElement}} shown
 * @param {AbortSignal} signal
 */
function countDown({ sentAt, left, resend, mail, codeForm }, signal) {
  let announced = 0;
  const tick = () => {
    const passed = Math.floor((Date.now() - sentAt) / 1000);
    const [more, wait] = [codeForm.dataset.spent ? 0 : LASTS_S - passed, RESEND_AFTER_S - passed];
    if (mail && !codeForm.dataset.spent) left.textContent = more > 0 ? counted("prove.left", more) : text("prove.over");
    resend.textContent = wait > 0 ? counted("prove.resend.wait", wait) : text("prove.resend");
    resend.disabled = wait > 0;
    // Screen readers announce the countdown only twice: shortly before its end and at its end.
    if (mail && more <= SOON_S && announced < 1 && more > 0) ((announced = 1), say(text("prove.soon")));
    if (mail && more <= 0 && announced < 2 && !codeForm.dataset.spent) ((announced = 2), say(text("prove.over")));
    if (more <= 0 && wait <= 0) clearInterval(timer);
  };
  const timer = setInterval(tick, 1000);
  signal.addEventListener("abort", () => clearInterval(timer));
  tick();
}

/**
 * @param {Proving} row
 * @param {ReturnType<typeof field>} code
 * @param {HTMLFormElement} codeForm
 */
async function check(row, { input, judge }, codeForm) {
  const digits = digitsOf(input.value);
  if (digits.length !== DIGITS) {
    const strange = digits.length === 0 && input.value.trim() !== "";
    judge(text(strange ? "prove.other" : digits.length < DIGITS ? "prove.few" : "prove.many"));
    return input.focus();
  }
  judge();
  await run(codeForm.querySelector("button"), async () => {
    const { identifier, channel } = row;
    const answer = await service().checkCode({ identifier, channel, code: digits });
    if (!("attestation" in answer)) return refused(answer.message, { input, judge }, codeForm);
    await proven({ ...row, attestation: answer.attestation });
  });
}

/**
 * Continues a registration, registers another passkey of a registered vault, or adds the address to it.
 *
 * @param {Proving} row
 */
async function proven(row) {
  if (row.passkey) return go("passkey-proven", row);
  if (row.added) return go("address-proven", row);
  await setBegun(row);
  await go("finish", row);
}

/**
 * @param {string} message the service's
 * @param {Pick<ReturnType<typeof field>, "input" | "judge">} code
 * @param {HTMLFormElement} codeForm
 */
function refused(message, { input, judge }, codeForm) {
  const left = Math.max(0, Number(codeForm.dataset.tries) - 1);
  codeForm.dataset.tries = String(left);
  const key = SENTENCES[message] ?? (left === 0 ? "prove.burnt" : "");
  judge(key ? text(key) : counted("prove.wrong", left));
  const details = /** @type {HTMLDetailsElement | null} */ (document.querySelector("#screen details"));
  if (key && details) details.open = true;
  if (key) {
    codeForm.dataset.spent = "true"; // no code is left whose time could run out
    codeForm.querySelector('[data-name="left"]')?.replaceChildren();
  }
  input.focus();
  input.select();
}
