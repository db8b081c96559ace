/** Identifiers: the list with its filters, and one of them with what can be done about it. */

import { el } from "../kit/el.ts";
import { listed, small } from "./lists.ts";
import { type Fields, get, type Identifier, post, save } from "./port.ts";
import { asking, button, buttons, choice, field, form, say, show } from "./screen.ts";
import { actionName, moment, named, text, type TextKey } from "./texts.ts";

const CHANNELS = ["handle", "email", "sms"];
const STATES = ["", "session", "registered", "pending", "confirmed"];
/** The filters of this visit. */
let filters: Record<string, string> = {};

export function identifiers() {
  return show("identifiers", text("identifiers"), async () => [
    search(),
    ...(await listed("identifiers", filters, ({ channel, identifier, did, state, created_at, confirmed, pending }) => [
      button("identifier", () => one(identifier, channel), { kind: "plain", label: identifier }),
      small(named(channel), named(state), text("credentials", { confirmed, pending }), moment(created_at)),
      el("p", { class: "did" }, did),
    ])),
  ]);
}

function search() {
  const { prefix = "", channel = "", state = "", day = "", did = "", address = "" } = filters;
  const further = el(
    "details",
    { open: Boolean(state || day || did || address) },
    el("summary", {}, text("more-filters")),
    choice("state", "state", STATES, state),
    field("day", { name: "day", type: "date", value: day }),
    field("did", { name: "did", value: did }),
    field("address", { name: "address", value: address }),
  );
  return form(
    "search",
    async (values) => {
      filters = values;
      await identifiers();
    },
    field("prefix", { name: "prefix", value: prefix, autocapitalize: "off", spellcheck: "false" }),
    choice("channel", "channel", ["", ...CHANNELS], channel),
    further,
  );
}

/** @param done the action that was carried out */
async function one(identifier: string, channel: string, done: string = "") {
  await show("identifier", identifier, async () => {
    const found = await get<Identifier>("identifier", { identifier, channel });
    return [
      buttons(button("back", identifiers, { kind: "plain" })),
      found.claim && facts(found.claim),
      ...found.credentials.map((row) => credential(row, identifier, channel)),
      found.claim && actions(identifier, channel, found.claim.did),
      el("h2", {}, text("history")),
      el("ul", { class: "rows" }, ...found.history.map(event)),
    ];
  });
  if (done) say(text("done", { action: done }));
}

function facts({ channel, did, stage, created_at, registered_at }: NonNullable<Identifier["claim"]>) {
  const rows: [TextKey, string][] = [
    ["channel", named(channel)],
    ["state", `${named(stage)}, ${text("since", { time: moment(registered_at ?? created_at) })}`],
    ["did", did],
  ];
  return el(
    "dl",
    { class: "facts" },
    ...rows.flatMap(([key, value]) => [el("dt", {}, text(key)), el("dd", {}, value)]),
  );
}

function credential(
  { credential, confirmation, created_at }: Identifier["credentials"][number],
  identifier: string,
  channel: string,
) {
  const remove = async () => {
    await post("credentials/revoke", { credentialId: credential });
    await one(identifier, channel, text("remove"));
  };
  return el(
    "section",
    { class: "card" },
    el("h2", {}, text("credential")),
    el("p", { class: "mono" }, credential),
    small(named(confirmation), moment(created_at)),
    buttons(asking("remove", text("remove.sure"), remove)),
  );
}

function event({ at, action, did, operator }: Identifier["history"][number]) {
  return el(
    "li",
    {},
    el("p", { class: "strong" }, actionName(action)),
    small(moment(at), operator && text("by", { operator }), did),
  );
}

function actions(name: string, channel: string, did: string) {
  const of = { identifier: name, channel };
  const change = async (action: TextKey, path: string, fields: Fields) => {
    await post(path, fields);
    await (["release", "erase", "rename"].includes(action) ? identifiers() : one(name, channel));
    say(text("done", { action: text(action) }));
  };
  const ban = (kind: string, value: string) =>
    asking(`ban.${kind}`, text("ban.sure", { subject: value }), () => change("ban", "bans", { kind, value, channel }));
  const give = form(
    "transfer",
    async (to) =>
      confirm(text("transfer.sure", { name })) && change("transfer", "identifiers/transfer", { ...of, ...to }),
    field("transfer.did", { name: "did", required: true }),
  );
  const rename = form(
    "rename",
    async (to) =>
      confirm(text("rename.sure", { name })) && change("rename", "identifiers/rename", { identifier: name, ...to }),
    field("rename.new", { name: "new", required: true }),
  );
  const copy = async () => {
    const found = await get("person", { person: did });
    save(new Blob([JSON.stringify(found, null, 2)], { type: "application/json" }), "person.json");
  };
  return el(
    "details",
    {},
    el("summary", {}, text("actions")),
    buttons(
      asking("release", text("release.sure", { name }), () => change("release", "identifiers/release", of)),
      ban("name", name),
      ban("did", did),
    ),
    give,
    channel === "handle" && rename,
    el("h2", {}, text("person")),
    buttons(
      button("export", copy),
      asking("erase", text("erase.sure", { did }), () => change("erase", "person/erase", { person: did })),
    ),
  );
}
