/** Bans, invitations, counts, and what operators did. */

import { el } from "../kit/el.ts";
import { listed, small } from "./lists.ts";
import { type Lists, post } from "./port.ts";
import { asking, buttons, choice, field, form, say, show } from "./screen.ts";
import { actionName, moment, named, text } from "./texts.ts";

/** @param done the action that was carried out */
export async function bans(done: string = "") {
  await show("bans", text("bans"), async () => [
    form(
      "ban",
      async (values) => {
        await post("bans", values);
        await bans(text("ban"));
      },
      choice("kind", "kind", ["name", "did", "domain", "network"]),
      choice("channel", "channel", ["handle", "email", "sms"]),
      field("value", { name: "value", required: true, autocapitalize: "off" }),
      field("reason", { name: "reason", maxlength: 1000 }),
    ),
    el("h2", {}, text("bans")),
    ...(await listed("bans", {}, ({ subject, at, reason }) => [
      el("p", { class: "strong" }, inWords(subject)),
      small(moment(at), reason),
      buttons(asking("lift", text("lift.sure", { subject: inWords(subject) }), () => lift(subject))),
    ])),
  ]);
  if (done) say(text("done", { action: done }));
}

/** @param subject kind, the channel of a name, and value @returns it in the operator's language */
function inWords(subject: string) {
  return subject.replace(/^(name \S+|did|domain|network)(?= )/, (words) => words.split(" ").map(named).join(" "));
}

/** @param subject kind, the channel of a name, and value */
async function lift(subject: string) {
  const [kind, ...rest] = subject.split(" ");
  const [channel, value] = kind === "name" ? rest : ["handle", rest.join(" ")];
  await post("bans/lift", { kind, channel, value });
  await bans(text("lift"));
}

/** a new invitation code */
type Made = { code: string; address: string };

/** @param made a new code */
export async function invitations(made: Made | null = null) {
  await show("invitations", text("invitations"), async () => [
    made && code(made),
    form(
      "invite",
      async ({ uses, days }) =>
        invitations(await post<Made>("invitations", { uses: Number(uses), days: Number(days) })),
      field("uses", { name: "uses", type: "number", min: 1, max: 1000, value: 1, required: true }),
      field("days", { name: "days", type: "number", min: 1, max: 366, value: 14, required: true }),
    ),
    el("h2", {}, text("invitations")),
    ...(await listed("invitations", {}, invitation)),
  ]);
}

function code({ code, address }: Made) {
  return el(
    "section",
    { class: "card" },
    el("p", {}, text("invite.made")),
    el("p", { class: "mono", "data-name": "code" }, code),
    el("p", { class: "small" }, address),
  );
}

function invitation({ number, uses, left, expires_at, revoked_at }: Lists["invitations"]) {
  const revoked = revoked_at ? text("revoked-at", { time: moment(revoked_at) }) : null;
  const revoke = async () => {
    await post("invitations/revoke", { code: number });
    await invitations();
    say(text("done", { action: text("revoke") }));
  };
  const reissue = async () => invitations(await post<Made>("invitations/reissue", { code: number }));
  return [
    el("p", { class: "strong" }, number),
    small(text("left", { left, uses }), text("until", { time: moment(expires_at) }), revoked),
    left > 0 &&
      buttons(
        asking("revoke", text("revoke.sure", { number }), revoke),
        asking("reissue", text("reissue.sure", { number }), reissue),
      ),
  ];
}

export function counts(days: number = 7): Promise<void> {
  return show("counts", text("counts"), async () => [
    form(
      "search",
      async (values) => counts(Number(values.days)),
      field("days", { name: "days", type: "number", min: 1, max: 31, value: days, required: true }),
    ),
    ...(await listed("counts", { days }, ({ day, channel, claimed, registered }) => [
      el("p", { class: "strong" }, `${day} · ${named(channel)}`),
      small(text("claimed", { claimed, registered })),
    ])),
  ]);
}

export function acts() {
  return show("acts", text("acts"), () =>
    listed("acts", {}, ({ at, operator, action, channel, key, did }) => [
      el("p", { class: "strong" }, actionName(action)),
      small(moment(at), text("by", { operator }), channel && named(channel), inWords(key), did),
    ]),
  );
}
