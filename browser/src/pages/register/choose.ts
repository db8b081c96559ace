/**
 * Asks what a person wants to register: a name, an e-mail address or a phone number. Checks the input as it is typed.
 */

import { canonicalHandle } from "../../chain/names.ts";
import { meta } from "../../kit/meta.ts";
import { RequestRefused } from "../library.ts";
import { formOf } from "../parts/handle_forms.ts";
import { text, type TextKey } from "../parts/language.ts";
import { button, buttons, el, field, form, submit } from "../parts/nodes.ts";
import type { Begun } from "../parts/notes.ts";
import { go, opening } from "../parts/router.ts";
import { run, show } from "../parts/screen.ts";
import { invited, ready, service } from "../parts/vault_client.ts";
import { chosen } from "./flow.ts";

const CHECK_AFTER_MS = 300;
/** What the operator lets people register. */
const CHANNELS: Channel[] = (meta("channels") || "handle email sms").split(" ") as Channel[];
const BY_INVITATION = meta("registration") === "invitation";
const INPUTS: Record<Channel, Record<string, string>> = {
  handle: {
    name: "handle",
    autocomplete: "username",
    autocapitalize: "none",
    spellcheck: "false",
    enterkeyhint: "next",
  },
  email: { name: "email", type: "email", autocomplete: "email", enterkeyhint: "next" },
  sms: { name: "tel", type: "tel", autocomplete: "tel", enterkeyhint: "next" },
};

type Channel = Begun["channel"];

type Field = ReturnType<typeof field>;

/**
 * `yours`: offers to bring the vault here; `code`: asks for an invitation code, if the service admits people by
 * invitation
 */
type Shown = Field & { yours: HTMLElement; code: Field | null };

/** @param given of an attempt that continues with another identifier; `typed`: what is corrected */
export function choose({ typed = "", ...row }: Partial<Begun> & { why?: string; typed?: string } = {}) {
  const channel = row.channel && CHANNELS.includes(row.channel) ? row.channel : CHANNELS[0];
  const input = field(
    text(`choose.${channel}.label`),
    { ...INPUTS[channel], required: true },
    text(`choose.${channel}.hint`),
  );
  input.verdict.setAttribute("aria-live", "polite");
  input.input.value = typed;
  const yours = el(
    "div",
    { class: "buttons", hidden: true },
    button(text("choose.yours"), opening("vault"), { kind: "plain", name: "yours" }),
  );
  const code = BY_INVITATION ? invitation() : null;
  const shown = { ...input, yours, code };
  const entry = form(
    (it) => run(it.querySelector("button"), () => next(shown, channel, row), text("choose.checking")),
    code?.node,
    input.node,
    yours,
    buttons(submit(text("choose.continue"))),
  );
  const others = CHANNELS.filter((it) => it !== channel);
  const signal = show({
    name: "choose",
    heading: text(`choose.${channel}.heading`),
    focus: input.input,
    redraw: () => choose(row),
    body: [
      entry,
      buttons(
        ...others.map((it) =>
          button(text(`choose.use.${it}`), () => choose({ ...row, channel: it }), { kind: "plain", name: `use-${it}` }),
        ),
        button(text("back"), () => go(row.did ? "vault" : "start"), { kind: "plain", name: "back" }),
      ),
    ],
  });
  watch(shown, channel, row, signal);
}

/** Asks for the invitation code, which is filled in if the address contained it. */
function invitation() {
  const props = { name: "invitation", autocomplete: "off", autocapitalize: "characters", spellcheck: "false" };
  const entry = field(text("choose.invitation.label"), props, text("choose.invitation.hint"));
  entry.input.value = invited();
  entry.input.addEventListener("input", () => {
    invited(entry.input.value.trim());
    entry.judge();
  });
  return entry;
}

function watch({ input, judge, yours }: Shown, channel: Channel, row: Partial<Begun>, signal: AbortSignal) {
  let timer = 0;
  signal.addEventListener("abort", () => clearTimeout(timer));
  input.addEventListener("input", () => {
    clearTimeout(timer);
    const identifier = input.value.trim();
    judge();
    yours.hidden = true;
    if (!identifier || (channel !== "handle" && !complete(identifier, channel))) return;
    timer = window.setTimeout(async () => {
      judge("", text("choose.checking"));
      const { bad, good, taken } = await verdict(identifier, channel, row.did);
      if (signal.aborted || input.value.trim() !== identifier) return;
      judge(bad, good);
      yours.hidden = !taken;
    }, CHECK_AFTER_MS);
  });
}

/** Whether the input is complete enough to be checked. A partly typed address is not an error yet. */
function complete(it: string, channel: Channel) {
  return channel === "email" ? /.@.+\../.test(it) : it.replace(/\D/g, "").length >= 8;
}

/**
 * @param did of the person's vault
 * @returns `taken`: perhaps by the same person in another browser; `own`: by this vault
 */
async function verdict(
  identifier: string,
  channel: Channel,
  did?: string,
): Promise<{ bad?: string; good?: string; taken?: boolean; own?: boolean }> {
  try {
    const { available, reason } = await service().checkSession({ identifier, channel });
    if (available) return { good: text("choose.free", { identifier }) };
    if (reason === "reserved") return { bad: text(reservedWhy(canonicalHandle(identifier))) };
    if (did && channel !== "handle") return { good: text("choose.own.address"), own: true };
    if (did && (await service().checkAlias({ alias: identifier })).did === did)
      return { good: text("choose.own", { identifier }), own: true };
    return { bad: text(channel === "handle" ? "choose.taken" : "choose.taken.address"), taken: true };
  } catch (error) {
    if (error instanceof RequestRefused && error.code === "Unsupported country") return { bad: text("choose.country") };
    if (error instanceof RequestRefused && error.status === 400) return { bad: text(badWhy(identifier, channel)) };
    return { good: text("choose.offline") };
  }
}

/**
 * Returns the key of the sentence that says why a name is reserved. The service has one message for all reasons.
 *
 * @param name in canonical form
 */
function reservedWhy(name: string): TextKey {
  const form = formOf(name);
  if (form === "email" || form === "phone") return `choose.reserved.${form}`;
  if (form) return "choose.reserved.form";
  return /[^\x20-\x7e]/.test(name) ? "choose.reserved.letters" : "choose.reserved";
}

/**
 * Returns the key of the sentence that says why the service does not accept an identifier. Numbers are often typed with
 * spaces.
 */
function badWhy(identifier: string, channel: Channel): TextKey {
  const name = canonicalHandle(identifier.replace(/\s/g, ""));
  return channel === "handle" && formOf(name) ? reservedWhy(name) : `choose.bad.${channel}`;
}

/** Whether the service takes no further registration from this network. Asked before a passkey is made for nothing. */
async function isFull(): Promise<boolean> {
  const counted = await service()
    .registrationCounters()
    .catch(() => null);
  return counted !== null && counted.ip_registrations >= counted.ip_limit;
}

async function next({ input, judge, yours, code }: Shown, channel: Channel, row: Partial<Begun>) {
  if (code && !invited()) {
    code.judge(text("choose.empty"));
    code.input.focus();
    return;
  }
  const identifier = input.value.trim();
  const { bad, taken, own } = await (identifier
    ? verdict(identifier, channel, row.did)
    : { bad: text("choose.empty"), taken: false, own: false });
  const why = bad ?? (!own && (await isFull()) ? text("problem.ip_limit") : "");
  yours.hidden = !taken;
  if (why) {
    judge(why);
    input.focus();
    return;
  }
  void ready().catch(() => {}); // reported where it is awaited
  const { credentialId, did, password } = row;
  await chosen({ channel, identifier, credentialId, did, password, invitation: invited() || undefined });
}
