/**
 * Asks what a person wants to register: a name, an e-mail address or a phone number. Checks the input as it is typed.
 */

import { RequestRefused } from "../library.js";
import { text } from "../parts/language.js";
import { button, buttons, field, form, submit } from "../parts/nodes.js";
import { go } from "../parts/router.js";
import { run, show } from "../parts/screen.js";
import { ready, service } from "../parts/vault_client.js";
import { chosen } from "./flow.js";

const CHECK_AFTER_MS = 300;
/** @type {Record<string, Record<string, any>>} */
const INPUTS = {
  handle: { name: "handle", autocomplete: "username", autocapitalize: "none", spellcheck: "false", enterkeyhint: "next" },
  email: { name: "email", type: "email", autocomplete: "email", enterkeyhint: "next" },
  sms: { name: "tel", type: "tel", autocomplete: "tel", enterkeyhint: "next" },
};

/**
 * @typedef {import("../parts/notes.js").Begun} Begun
 * @typedef {Begun["channel"]} Channel
 */

/** @param {Partial<Begun> & {why?: string, typed?: string}} [given] of an attempt that continues with another identifier; `typed`: what is corrected */
export function choose({ typed = "", ...row } = {}) {
  const channel = row.channel ?? "handle";
  const input = field(text(`choose.${channel}.label`), { ...INPUTS[channel], required: true }, text(`choose.${channel}.hint`));
  input.verdict.setAttribute("aria-live", "polite");
  input.input.value = typed;
  const asked = form((it) => run(it.querySelector("button"), () => next(input, channel, row)), input.node, buttons(submit(text("choose.continue"))));
  const others = /** @type {Channel[]} */ (["handle", "email", "sms"]).filter((it) => it !== channel);
  const signal = show({
    name: "choose",
    heading: text(`choose.${channel}.heading`),
    focus: input.input,
    redraw: () => choose(row),
    body: [
      asked,
      buttons(
        ...others.map((it) => button(text(`choose.use.${it}`), () => choose({ ...row, channel: it }), { kind: "plain", name: `use-${it}` })),
        button(text("back"), () => go("start"), { kind: "plain", name: "back" }),
      ),
    ],
  });
  watch(input, channel, signal);
}

/**
 * @param {ReturnType<typeof field>} input
 * @param {Channel} channel
 * @param {AbortSignal} signal
 */
function watch({ input, judge }, channel, signal) {
  let timer = 0;
  signal.addEventListener("abort", () => clearTimeout(timer));
  input.addEventListener("input", () => {
    clearTimeout(timer);
    const identifier = input.value.trim();
    judge();
    if (!identifier || (channel !== "handle" && !complete(identifier, channel))) return;
    timer = window.setTimeout(async () => {
      judge("", text("choose.checking"));
      const { bad, good } = await verdict(identifier, channel);
      if (!signal.aborted && input.value.trim() === identifier) judge(bad, good);
    }, CHECK_AFTER_MS);
  });
}

/**
 * Whether the input is complete enough to be checked. A partly typed address is not an error yet.
 *
 * @param {string} it
 * @param {Channel} channel
 */
function complete(it, channel) {
  return channel === "email" ? /.@.+\../.test(it) : it.replace(/\D/g, "").length >= 8;
}

/**
 * @param {string} identifier
 * @param {Channel} channel
 * @returns {Promise<{bad?: string, good?: string}>}
 */
async function verdict(identifier, channel) {
  try {
    const { available, reason } = await service().checkSession({ identifier, channel });
    if (available) return { good: text("choose.free", { identifier }) };
    if (reason === "reserved") return { bad: text("choose.reserved") };
    return { bad: text(channel === "handle" ? "choose.taken" : "choose.taken.address") };
  } catch (error) {
    if (error instanceof RequestRefused && error.code === "Unsupported country") return { bad: text("choose.country") };
    if (error instanceof RequestRefused && error.status === 400) return { bad: text(`choose.bad.${channel}`) };
    return { good: text("choose.offline") };
  }
}

/**
 * @param {ReturnType<typeof field>} asked
 * @param {Channel} channel
 * @param {Partial<Begun>} row
 */
async function next({ input, judge }, channel, row) {
  const identifier = input.value.trim();
  const { bad } = identifier ? await verdict(identifier, channel) : { bad: text("choose.empty") };
  if (bad) {
    judge(bad);
    input.focus();
    return;
  }
  void ready().catch(() => {});
  const { credentialId, did, password } = row;
  await chosen({ channel, identifier, credentialId, did, password });
}
