/** Proves an e-mail address or a phone number with the code that was sent to it. */

import { meta } from "../../kit/meta.ts";
import { counted, text, type TextKey } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.ts";
import { type Begun, setBegun } from "../parts/notes.ts";
import { go, opening } from "../parts/router.ts";
import { preparing, run, say, show, tell } from "../parts/screen.ts";
import { service } from "../parts/vault_client.ts";

const DIGITS = 6;
const RESEND_AFTER_S = 30;
const SOON_S = 30;
const [LASTS_S, TRIES] = (meta("code") || "90 5").split(" ").map(Number);
/** The keys of the texts that replace the service's messages about a rejected code. */
const SENTENCES: Record<string, TextKey> = {
  "No code was sent or it has been used. Request a new one.": "prove.none",
  "The code has expired. Request a new one.": "prove.expired",
  "Too many attempts. Request a new code.": "prove.burnt",
};

/**
 * `passkey`: the credential ID of another passkey, which is not yet registered with the service; `added`: the address
 * is added to the open vault's DID; otherwise a registration continues
 */
export type Proving = Begun & { passkey?: string; added?: boolean };

export async function prove(row: Proving) {
  draw(row, null);
  await send(row);
}

async function send(row: Proving, again = false) {
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
    if (!again) draw(row, null, true); // or else the code that was sent before may still come
    tell(error);
  }
}

/** @param sentAt null: nothing has been sent yet */
function draw(row: Proving, sentAt: number | null, failed: boolean = false) {
  const { identifier: address, channel } = row;
  const code = field(
    text("prove.label"),
    { name: "code", type: "text", inputmode: "numeric", autocomplete: "one-time-code", enterkeyhint: "done" },
    text("prove.hint"),
  );
  code.node.classList.add("code");
  code.verdict.setAttribute("aria-live", "assertive");
  const left = el("p", { class: "small", "data-name": "left" });
  const resend = button(text("prove.resend"), (event) => run(event.currentTarget, () => send(row, true)), {
    name: "resend",
  });
  const codeForm = form(() => check(row, code, codeForm), code.node, left, buttons(submit(text("prove.confirm"))));
  codeForm.dataset.tries = String(TRIES);
  const signal = show({
    name: "prove",
    heading: text(`prove.heading.${channel}` as TextKey),
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
          paragraph(`prove.nocode.${channel}` as TextKey, { address }),
          el(
            "div",
            { class: "buttons" },
            resend,
            !row.passkey &&
              !row.added &&
              button(text("prove.change"), () => go("choose", { ...row, attestation: undefined }), { name: "change" }),
          ),
        ),
      Boolean(row.added) && buttons(button(text("back"), opening("leave"), { kind: "plain", name: "back" })),
      Boolean(row.passkey) &&
        buttons(button(text("passkeys.proveLater"), opening("home"), { kind: "plain", name: "prove-later" })),
    ],
  });
  if (!sentAt) return;
  sendsItself(code.input, codeForm);
  if (channel === "sms") void filledByMessage(code.input, signal);
  countDown({ sentAt, left, resend, mail: channel === "email", codeForm }, signal);
}

/** Submits a code as soon as all six digits are entered, but the same code only once. Other characters are ignored. */
function sendsItself(input: HTMLInputElement, codeForm: HTMLFormElement) {
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
 */
async function filledByMessage(input: HTMLInputElement, signal: AbortSignal) {
  if (!("OTPCredential" in window)) return;
  try {
    const otpRequest = { otp: { transport: ["sms"] }, signal } as CredentialRequestOptions;
    const found = (await navigator.credentials.get(otpRequest)) as (Credential & { code?: string }) | null;
    if (!found?.code || signal.aborted) return;
    input.value = found.code;
    input.dispatchEvent(new Event("input"));
  } catch {
    // refused, or there was no message for this page: the person types the code
  }
}

export function digitsOf(value: string) {
  return value.normalize("NFKC").replace(/\D/g, "");
}

function countDown(
  {
    sentAt,
    left,
    resend,
    mail,
    codeForm,
  }: { sentAt: number; left: HTMLElement; resend: HTMLButtonElement; mail: boolean; codeForm: HTMLFormElement },
  signal: AbortSignal,
) {
  let announced = 0;
  let waiting = true; // afterwards the button is disabled only while it works
  const tick = () => {
    const passed = Math.floor((Date.now() - sentAt) / 1000);
    const [more, wait] = [codeForm.dataset.spent ? 0 : LASTS_S - passed, RESEND_AFTER_S - passed];
    if (mail && !codeForm.dataset.spent) left.textContent = more > 0 ? counted("prove.left", more) : text("prove.over");
    if (waiting) {
      resend.textContent = wait > 0 ? counted("prove.resend.wait", wait) : text("prove.resend");
      resend.disabled = waiting = wait > 0;
    }
    // Screen readers announce the countdown only twice: shortly before its end and at its end.
    if (mail && more <= SOON_S && announced < 1 && more > 0) ((announced = 1), say(text("prove.soon")));
    if (mail && more <= 0 && announced < 2 && !codeForm.dataset.spent) ((announced = 2), say(text("prove.over")));
    if (more <= 0 && wait <= 0) clearInterval(timer);
  };
  const timer = setInterval(tick, 1000);
  signal.addEventListener("abort", () => clearInterval(timer));
  tick();
}

async function check(row: Proving, { input, judge }: ReturnType<typeof field>, codeForm: HTMLFormElement) {
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

/** Continues a registration, registers another passkey of a registered vault, or adds the address to it. */
async function proven(row: Proving) {
  if (row.passkey) return go("passkey-proven", row);
  if (row.added) return go("address-proven", row);
  await setBegun(row);
  await go("finish", row);
}

/** @param message the service's */
function refused(
  message: string,
  { input, judge }: Pick<ReturnType<typeof field>, "input" | "judge">,
  codeForm: HTMLFormElement,
) {
  const left = Math.max(0, Number(codeForm.dataset.tries) - 1);
  codeForm.dataset.tries = String(left);
  const key = SENTENCES[message] ?? (left === 0 ? "prove.burnt" : "");
  judge(key ? text(key) : counted("prove.wrong", left));
  const details = document.querySelector<HTMLDetailsElement>("#screen details");
  if (key && details) details.open = true;
  if (key) {
    codeForm.dataset.spent = "true"; // no code is left whose time could run out
    codeForm.querySelector('[data-name="left"]')?.replaceChildren();
  }
  input.focus();
  input.select();
}
