/**
 * The screens of the device that holds the vault: it waits for the other device, compares six digits and sends the
 * vault.
 */

import { pairing } from "../library.ts";
import { copyButton } from "../parts/copy.ts";
import { text } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.ts";
import { ADDRESS, ProblemError } from "../parts/problems.ts";
import { go, opening } from "../parts/router.ts";
import { run, say, show, tell } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { noteTrial } from "../drill/trials.ts";
import { card } from "../vault/card.ts";
import { qrCode } from "../../kit/qr_code.ts";
import { linkOf, addressOf } from "./address.ts";
import { RELAY } from "./relay.ts";

const SIX = /^\d{6}$/;

/** The pairing card on the vault's screen. */
export function pairCard() {
  return card(
    "pair",
    text("pair.heading"),
    paragraph("pair.card"),
    el(
      "div",
      { class: "buttons" },
      button(text("pair.begin"), () => go("pair"), { name: "pair" }),
    ),
  );
}

/** The screen that waits for the other device. */
export function pair() {
  const addressField = field(text("pair.program.address"), {
    name: "address",
    autocapitalize: "none",
    spellcheck: "false",
    autocomplete: "off",
  });
  const give = () => {
    const found = addressOf(addressField.input.value, "");
    addressField.judge(found?.meeting ? "" : text("pair.bad.program"));
    if (!found?.meeting) return addressField.input.focus();
    return run(program.querySelector("button"), () => given(found.address, found.meeting), text("pair.connecting"));
  };
  const program = form(give, addressField.node, buttons(submit(text("pair.give"))));
  const browser = el("div", { "data-name": "browser" });
  const signal = show({
    name: "pair",
    heading: text("pair.heading"),
    redraw: pair,
    body: [
      paragraph("pair.lead"),
      browser,
      el("h2", {}, text("pair.program")),
      paragraph("pair.program.lead"),
      el("p", { class: "mono" }, "holdfast vault receive"),
      program,
      buttons(button(text("back"), opening("home"), { kind: "plain", name: "back" })),
    ],
  });
  if (RELAY) void waits(browser, signal);
  else browser.append(paragraph("pair.norelay", {}, "small"));
}

/** Waits at the service's pairing host for a browser that opens the link. */
async function waits(container: HTMLElement, signal: AbortSignal) {
  try {
    const meeting = (await pairing()).newMeeting();
    const link = linkOf(ADDRESS, meeting);
    container.replaceChildren(paragraph("pair.connecting", {}, "small"));
    await given(RELAY, meeting, {
      signal,
      onWaiting: () => {
        container.replaceChildren(
          el("h2", {}, text("pair.browser")),
          paragraph("pair.browser.lead"),
          qrCode(link, text("pair.qr")),
          el("p", { class: "mono", "data-name": "link" }, link),
          el("div", { class: "buttons" }, copyButton(link)),
        );
        say(text("pair.waiting"));
      },
    });
  } catch (error) {
    if (signal.aborted && document.querySelector('main[data-screen="pair-digits"]') === null) return;
    container.replaceChildren(paragraph("pair.unreachable", {}, "small"));
    tell(readable(error));
  }
}

/** @param how `signal`: aborted if the person leaves before another device connects */
async function given(
  address: string,
  meeting: string,
  { signal, onWaiting }: { signal?: AbortSignal; onWaiting?: () => void } = {},
) {
  const { PairingServer, giveAt, linkTo } = await pairing();
  const client = await ready();
  const { vault } = client;
  let met = false;
  const server = new PairingServer(
    vault,
    (digits) => ((met = true), compared(digits)),
    async () => (await client.snapshots()).publishedRecord(),
  );
  const link = await linkTo(vault, address).catch((error) => Promise.reject(readable(error)));
  signal?.addEventListener("abort", () => met || void link.end());
  try {
    await giveAt(link, meeting, server, onWaiting);
    await noteTrial((await vault.query()).did, "paired");
    await go("home", { said: text("pair.given") });
  } catch (error) {
    if (!met) throw readable(error);
    await go("home");
    tell(readable(error));
  } finally {
    await link.end();
  }
}

/** Shows this device's digits, for the person to confirm them on the other device. */
function matched(digits: string) {
  show({
    name: "pair-matched",
    heading: text("pair.compare"),
    body: [
      paragraph("pair.shows"),
      el("p", { class: "digits", "data-name": "digits" }, digits),
      paragraph("pair.confirm"),
    ],
  });
}

/** Converts a pairing error to one that a person can read. */
export function readable(error: unknown) {
  const name = error instanceof Error ? error.name : "";
  if (error instanceof ProblemError) return error;
  if (name === "SyncRefused") return new ProblemError("pair.refused");
  if (error instanceof Error && name === "NetworkError" && error.cause instanceof TypeError)
    return new ProblemError("pair.notloaded"); // import()
  return name === "PluginCallError" || name === "StorageError" || name === "WebAuthnError"
    ? error
    : new ProblemError("pair.lost");
}

/**
 * Asks for the other device's digits. This device shows its own only after the same were typed, so that no one can copy
 * them from here instead of reading them there.
 *
 * @returns "" if the person says that they differ
 */
function compared(digits: string): Promise<string> {
  return new Promise((resolve) => {
    const other = field(text("pair.other"), { name: "other-digits", inputmode: "numeric", autocomplete: "off" });
    const typed = () => {
      const read = other.input.value.replace(/\s/g, "");
      other.judge(SIX.test(read) ? "" : text("drill.device.six"));
      if (!SIX.test(read)) return other.input.focus();
      if (read === digits) matched(digits);
      say(text("working"));
      resolve(read);
    };
    show({
      name: "pair-digits",
      heading: text("pair.compare"),
      focus: other.input,
      body: [
        form(
          typed,
          other.node,
          buttons(
            submit(text("pair.give")),
            button(text("pair.differ"), () => resolve(""), { kind: "plain", name: "differ" }),
          ),
        ),
        paragraph("pair.warning", {}, "notice"),
      ],
    });
  });
}
