/**
 * The screen on which a person sees what the service stores about them, takes it back, or removes the vault from this
 * browser. It is loaded when it is opened, and imports nothing, so that it needs no further file.
 */

import type { StoredPerson } from "../../flows/person.ts";
import type { Press } from "../parts/nodes.ts";
import type { Parts } from "./parts.ts";

type Identifier = StoredPerson["identifiers"][number];

/** @param how `said`: what happened just now */
export async function leave(parts: Parts, { said = "" }: { said?: string } = {}) {
  const { buttons, button, el, go, paragraph, preparing, ready, say, SERVICE, show, text } = parts;
  const still = preparing();
  const client = await ready();
  const found = await client.exportPerson();
  if (!still()) return;
  const { identifiers, credentials, snapshots } = found;
  const counts = { identifiers: identifiers.length, credentials: credentials.length, snapshots: snapshots.length };
  show({
    name: "leave",
    heading: text("leave.heading"),
    redraw: () => void leave(parts),
    body: [
      el("h2", {}, text("leave.stored.heading", { name: SERVICE })),
      paragraph("leave.stored.text", counts),
      el("ul", { class: "rows" }, ...identifiers.map((it) => row(parts, it))),
      adding(parts),
      el(
        "div",
        { class: "buttons" },
        pressed(parts, "download", async () => downloaded(parts, found)),
      ),
      el("h2", {}, text("leave.move.heading")),
      paragraph("leave.move.text"),
      el(
        "div",
        { class: "buttons" },
        pressed(parts, "move", async () => location.assign("/move")),
      ),
      el("h2", {}, text("leave.erase.heading", { name: SERVICE })),
      paragraph("leave.erase.text", { name: SERVICE }),
      el(
        "div",
        { class: "buttons" },
        pressed(parts, "erase", () => erased(parts), "bad"),
      ),
      el("h2", {}, text("leave.forget.heading")),
      paragraph("leave.forget.text", { name: SERVICE }),
      el(
        "div",
        { class: "buttons" },
        pressed(parts, "forget", () => forgotten(parts), "bad"),
      ),
      buttons(button(text("back"), () => go("home"), { kind: "plain", name: "back" })),
    ],
  });
  say(said);
}

function row(parts: Parts, { channel, given }: Identifier) {
  const { about, confirmed, el, ready, text } = parts;
  const identifier = given;
  const free = async () => {
    const question = {
      heading: text("leave.free.heading", { identifier }),
      words: text("leave.free.text"),
      yes: text("leave.free"),
    };
    if (!(await confirmed(question))) return;
    await (await ready()).takeBack({ identifier, channel });
    await leave(parts, { said: text("leave.freed", { identifier }) });
  };
  return el(
    "li",
    {},
    el("p", {}, identifier),
    el("div", { class: "buttons" }, about(pressed(parts, "free", free), identifier)),
  );
}

/** The form that adds an address; null if the service takes handles alone. */
function adding({ field, form, go, meta, submit, text }: Parts) {
  const offered = (meta("channels") || "handle email sms").split(" ");
  if (!offered.includes("email") && !offered.includes("sms")) return null;
  const shown = field(text("leave.add"), { name: "address", type: "text", autocomplete: "email" });
  const next = async () => {
    const identifier = shown.input.value.trim();
    const channel = identifier.includes("@") ? "email" : "sms";
    if (!identifier || !offered.includes(channel)) return shown.judge(text("leave.add.bad"));
    await go("prove", { identifier, channel, added: true });
  };
  return form(next, shown.node, submit(text("leave.add.next")));
}

/** A button with the text of its name, whose action must be the only one. */
function pressed(
  { button, run, text }: Parts,
  name: "download" | "move" | "erase" | "forget" | "free",
  work: () => Promise<unknown>,
  kind: "plain" | "bad" = "plain",
) {
  const press = (event: Press) => run(event.currentTarget, work);
  return button(text(`leave.${name}`), press, { kind, name });
}

function downloaded({ el, say, text }: Parts, found: StoredPerson) {
  const data = new Blob([JSON.stringify(found, null, 2)], { type: "application/json" });
  const address = URL.createObjectURL(data);
  el("a", { href: address, download: `stored-${new Date().toISOString().slice(0, 10)}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  say(text("leave.downloaded"));
}

async function erased(parts: Parts) {
  const { confirmed, ready, SERVICE, text } = parts;
  const question = {
    heading: text("leave.erase.sure"),
    words: text("leave.erase.sure.text", { name: SERVICE }),
    yes: text("leave.erase"),
  };
  if (!(await confirmed(question))) return;
  await (await ready()).takeBack({ everything: true });
  await leave(parts, { said: text("leave.erased") });
}

async function forgotten({ confirmed, go, ready, say, SERVICE, setVaultOf, text, unmarkVault }: Parts) {
  const question = {
    heading: text("leave.forget.sure"),
    words: text("leave.forget.sure.text", { name: SERVICE }),
    yes: text("leave.forget"),
  };
  if (!(await confirmed(question))) return;
  const { vault } = await ready();
  const { did, credentials } = await vault.query();
  await vault.lock();
  await vault.forget(did);
  await Promise.all(credentials.map(({ credential_id: id }) => setVaultOf(id, null)));
  unmarkVault();
  await go("vault");
  say(text("leave.forgotten"));
}
