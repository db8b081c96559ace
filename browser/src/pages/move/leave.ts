/** The page of the service that a person leaves: names the new one, shows what moves, and moves it. */

import { addFacts, facts } from "../../kit/notes.ts";
import type { Moved } from "../../kit/stored.ts";
import {
  type Client,
  MoveRefused,
  NetworkError,
  RequestRefused,
  SecondKeyMissing,
  serviceAddress,
} from "../library.ts";
import { confirmed } from "../parts/dialog.ts";
import { text, type TextKey } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.ts";
import { ProblemError, problem } from "../parts/problems.ts";
import { run, say, show } from "../parts/screen.ts";
import { explainedMissing } from "../parts/second_key.ts";
import { ready } from "../parts/vault_client.ts";
import { FOR_PASSKEY, made, type Wanted } from "./messages.ts";

type Plan = { address: string; host: string; identifier: string; did: string };

const AT = { autocapitalize: "none", autocomplete: "off", spellcheck: "false", inputmode: "url" };

/** Asks for the new service, or says to which one the vault was moved already and has not returned from. */
export async function moveOrMoved() {
  const client = await ready();
  const { did } = await client.vault.query();
  const { moved } = await facts(did);
  if (moved && !(await isBack(client, moved))) return ended(moved);
  if (moved) await addFacts(did, { moved: undefined });
  moveFrom();
}

/** Whether this service has a name of the vault that was not left behind. One that does not answer says nothing. */
async function isBack(client: Client, { leftBehind }: Moved) {
  const { identifiers } = await client.exportPerson().catch(() => ({ identifiers: [] }));
  return identifiers.some(({ given }) => !leftBehind.includes(given));
}

/** Asks for the new service. */
export function moveFrom() {
  const hostField = field(text("move.host"), { name: "host", ...AT }, text("move.host.hint"));
  const check = (it: HTMLFormElement) => {
    const address = serviceAddress(hostField.input.value);
    hostField.judge(address ? "" : text("move.host.bad"));
    if (!address) return hostField.input.focus();
    return run(it.querySelector("button"), () => explained(checked(address)), text("move.checking"));
  };
  show({
    name: "move",
    heading: text("move.heading"),
    redraw: moveFrom,
    body: [paragraph("move.lead"), form(check, hostField.node, buttons(submit(text("move.check"))))],
  });
}

async function checked(address: string) {
  const client = await ready();
  const { host } = new URL(address);
  const { identifier, did } = await client.moveCheck(address).catch((error) => {
    throw error instanceof NetworkError && !(error instanceof RequestRefused)
      ? new ProblemError("move.unreachable", { host })
      : error;
  });
  review({ address, host, identifier, did });
}

function review(plan: Plan) {
  const { address, host, identifier, did } = plan;
  const again = field(text("move.again", { host }), { name: "again", ...AT });
  const owner = el("input", { type: "checkbox", class: "tick", name: "owner", checked: true });
  const begin = (it: HTMLFormElement) => {
    const isSame = again.input.value.trim().toLowerCase() === host;
    again.judge(isSame ? "" : text("move.again.bad", { host }));
    if (!isSame) return again.input.focus();
    const opened = window.open(`${address}/move${FOR_PASSKEY}`, "_blank", "popup,width=480,height=640");
    return run(
      it.querySelector("button"),
      () => explained(moved(plan, opened, owner.checked)),
      text("move.waiting", { host }),
    );
  };
  const rows = [
    [text("move.name"), identifier],
    [text("move.from"), location.host],
    [text("move.to"), host],
    [text("move.did"), did],
  ];
  show({
    name: "move-review",
    heading: text("move.review", { host }),
    redraw: () => review(plan),
    body: [
      el(
        "dl",
        { class: "facts" },
        ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", { class: "mono" }, value)]),
      ),
      paragraph("move.steps", { host, from: location.host }),
      form(
        begin,
        again.node,
        el("label", { class: "ticked" }, owner, text("move.owner")),
        buttons(submit(text("move.begin")), button(text("back"), moveFrom, { kind: "plain" })),
      ),
    ],
  });
}

async function moved({ address, host, identifier, did }: Plan, opened: Window | null, owner: boolean) {
  if (!opened) throw new ProblemError("move.blocked");
  const make = async (wanted: Wanted) => {
    const passkey = await made(opened, address, wanted);
    if (!passkey) throw new ProblemError("move.closed", { host });
    return passkey;
  };
  const passkeys = { origin: address, rpId: new URL(address).hostname, make };
  const shown = new Set(["signed", "copied", "owned"]);
  const done = await (
    await ready()
  ).move(address, passkeys, {
    owner,
    endFormer: () =>
      confirmed({
        heading: text("move.former"),
        words: text("move.former.text"),
        yes: text("move.former.end"),
        no: text("move.former.keep"),
      }),
    code: () => codeFor(host, identifier),
    onProgress: (step) => shown.has(step) && say(text(`move.${step}` as TextKey)),
  });
  const { leftBehind, isOwner, missingOn } = done;
  const noted = { address, identifier: done.identifier, leftBehind, isOwner, missingOn };
  await addFacts(did, { moved: noted }).catch(() => {}); // said once only
  ended(noted);
}

function codeFor(host: string, identifier: string): Promise<string> {
  return new Promise((resolve) => {
    const code = field(text("move.code", { host, identifier }), { name: "code", inputmode: "numeric" });
    show({
      name: "move-code",
      heading: text("move.heading"),
      body: [form(() => resolve(code.input.value.trim()), code.node, buttons(submit(text("move.begin"))))],
    });
  });
}

function ended(moved: Moved) {
  const { address } = moved;
  const { host } = new URL(address);
  show({
    name: "move-done",
    heading: text("move.done"),
    redraw: () => ended(moved),
    body: [
      paragraph("move.done.text", { identifier: moved.identifier, host }),
      paragraph(moved.isOwner ? "move.owned" : "move.done.owner"),
      moved.missingOn.length > 0 && paragraph("move.done.missing", { chains: moved.missingOn.join(", ") }, "notice"),
      moved.leftBehind.length > 0 && paragraph("move.done.behind", { names: moved.leftBehind.join(", ") }),
      el("p", {}, el("a", { href: `${address}/vault`, "data-name": "there" }, text("move.done.open", { host }))),
      buttons(button(text("move.heading"), moveFrom, { kind: "plain", name: "again" })),
    ],
  });
}

/** Turns a refusal of the move into a sentence for the person. */
async function explained(work: Promise<unknown>) {
  try {
    await work;
  } catch (error) {
    if (error instanceof SecondKeyMissing)
      throw await explainedMissing(error, (await (await ready()).vault.query()).did);
    if (!(error instanceof MoveRefused)) throw error;
    const reason = error.cause === undefined ? "" : problem(error.cause);
    throw new ProblemError(`move.refused.${error.code}`, { reason });
  }
}
