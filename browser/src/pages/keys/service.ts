/** This service as one of those who bring an account back, and how a person who has lost all keys asks it to. */

import "./texts.ts";
import type { Change } from "../../account/changes.ts";
import type { AccountKeys } from "../../account/keys.ts";
import type { RecoveryConfirmed, RecoveryTerms as Terms } from "../../generated/types.ts";
import { moment, text, type TextKey } from "../parts/language.ts";
import { addFacts } from "../../kit/notes.ts";
import { copyButton } from "../parts/copy.ts";
import { about, button, buttons, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { confirmed } from "../parts/dialog.ts";
import { ProblemError } from "../parts/problems.ts";
import { opening } from "../parts/router.ts";
import { SERVICE, run, show } from "../parts/screen.ts";
import { RequestRefused } from "../library.ts";
import { ready } from "../parts/vault_client.ts";
import { grouped } from "../vault/values.ts";
import { change } from "./change.ts";
import { duration } from "./durations.ts";
import { personInput } from "./owners.ts";
import type { Known } from "./screen.ts";

/** The offer to make this service a guardian, unless it is one. */
export function serviceOffer({ view, terms }: Known) {
  const key = terms.guardian;
  if (!key || view.guardians.some((it) => terms.guardians.includes(it))) return false;
  const values = { name: SERVICE, wait: duration(terms.waitSeconds) };
  const label = text("keys.service.add", values);
  const add = (event: Press) =>
    run(event.currentTarget, async () => {
      const question = { heading: label, words: text("keys.service.text", values), yes: text("keys.service.yes") };
      if (!(await confirmed(question))) return;
      /** with one person so far, both must agree */
      const quorum: Change[] = [
        { kind: "set_quorum", value: Math.min(view.guardians.length + 1, Math.max(view.settings.quorum, 2)) },
      ];
      await change(label, [{ kind: "add_guardian", signer: key }, ...quorum]);
    });
  return el(
    "div",
    { "data-name": "service-offer" },
    paragraph("keys.service.lead", values, "small"),
    el("div", { class: "buttons" }, about(button(label, add, { name: "add-service" }), SERVICE)),
  );
}

/** The form in which a person asks this service to bring an old account back. */
export function askingService({ waitSeconds, channels }: Terms) {
  const values = { name: SERVICE, wait: duration(waitSeconds) };
  const to = field(text(channels.includes("sms") ? "keys.ask.to.any" : "keys.ask.to"), personInput("service-to"));
  const ask = (it: HTMLFormElement) =>
    run(it.querySelector("button"), () => requested(to.input.value.trim()), text("working"));
  return el(
    "details",
    { "data-name": "ask-service" },
    el("summary", {}, text("keys.ask", values)),
    paragraph("keys.ask.lead", values),
    form(ask, to.node, el("div", { class: "buttons" }, submit(text("keys.ask.send")))),
  );
}

async function requested(to: string) {
  const client = await ready();
  const newOwners = [await (await client.accountKeys()).signer()];
  try {
    const channel = to.includes("@") ? "email" : "sms";
    askCode((await client.askRecovery({ identifier: to, channel, newOwners })).request, to);
  } catch (error) {
    if (error instanceof RequestRefused && error.code === "recovery_not_possible")
      throw new ProblemError("keys.ask.impossible", { to });
    throw error;
  }
}

function askCode(request: string, to: string) {
  const given = { name: "recovery-code", inputmode: "numeric", autocomplete: "one-time-code" };
  const code = field(text("keys.ask.code"), given);
  const check = (it: HTMLFormElement) =>
    run(it.querySelector("button"), async () => {
      const client = await ready();
      const found = await client.checkRecovery({ request, code: code.input.value.trim() });
      if (!("readyAt" in found)) throw new ProblemError("keys.ask.wrong");
      await addFacts((await client.vault.query()).did, { lost: found.account });
      agreed(found);
    });
  show({
    name: "keys-code",
    heading: text("keys.ask.code"),
    focus: code.input,
    redraw: () => askCode(request, to),
    body: [
      paragraph("keys.ask.sent", { to }),
      form(check, code.node, buttons(submit(text("keys.ask.check")))),
      buttons(button(text("back"), opening("keys"), { kind: "plain", name: "back" })),
    ],
  });
}

function agreed(found: RecoveryConfirmed) {
  show({
    name: "keys-asked",
    heading: text("keys.ask.done"),
    redraw: () => agreed(found),
    body: [
      paragraph("keys.ask.said", { name: SERVICE, time: moment(Date.parse(found.readyAt)) }),
      paragraph("keys.ask.account"),
      el("p", { class: "mono", "data-name": "lost-account" }, grouped(found.account)),
      el("div", { class: "buttons" }, copyButton(found.account)),
      buttons(button(text("back"), opening("keys"), { kind: "plain", name: "back" })),
    ],
  });
}

/**
 * Returns this service's signature under a recovery.
 *
 * @param keys of the lost account
 * @param missing the text for a service that was not asked
 * @throws {ProblemError} it was not asked, or it signs later
 */
export async function serviceSignature(keys: AccountKeys, newOwners: string[], missing: TextKey) {
  try {
    return await keys.serviceSignature(newOwners);
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    const time = moment(Date.now() + (error.retryAfter ?? 0) * 1000);
    if (error.code === "recovery_waits") throw new ProblemError("keys.ask.waits", { name: SERVICE, time });
    if (error.code === "recovery_not_found") throw new ProblemError(missing, { name: SERVICE });
    throw error;
  }
}

/** Whether this service is one of the guardians. */
export async function isServiceAmong(guardians: string[]) {
  const terms = await (await ready()).recoveryTerms();
  return guardians.some((it) => terms.guardians.includes(it));
}

/** The screen that a mail leads to: it stops this service's help. */
export function stopService({ request }: { request: string }) {
  const stop = (event: Press) =>
    run(event.currentTarget, async () => {
      const { stopped } = await (await ready()).stopRecovery({ request });
      history.replaceState(null, "", "/vault");
      show({
        name: "stopped",
        heading: text("keys.stop.service", { name: SERVICE }),
        body: [
          paragraph(stopped ? "keys.stop.service.done" : "keys.stop.service.none", { name: SERVICE }),
          buttons(button(text("back"), opening("vault"), { kind: "plain", name: "back" })),
        ],
      });
    });
  show({
    name: "stop-service",
    heading: text("keys.stop.service", { name: SERVICE }),
    redraw: () => stopService({ request }),
    body: [
      paragraph("keys.stop.service.text", { name: SERVICE }),
      buttons(button(text("keys.stop"), stop, { kind: "bad", name: "stop-service" })),
    ],
  });
}
