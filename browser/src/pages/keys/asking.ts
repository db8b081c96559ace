/** Shows keys and accounts in full, and asks whether they are those that the person means, before anything is signed. */

import "./texts.ts";
import { confirmed } from "../parts/dialog.ts";
import { text, type TextKey } from "../parts/language.ts";
import { el, paragraph } from "../parts/nodes.ts";
import { ready } from "../parts/vault_client.ts";
import { doubtsAbout } from "../send/lookalikes.ts";
import type { Payee as Account } from "../send/payee.ts";
import { paidFrom } from "../send/sent.ts";
import { grouped } from "../vault/values.ts";
import type { Namer, Person } from "./people.ts";

type Question = { heading: string; words: string; yes: string };

/**
 * Asks about keys of other people or devices.
 *
 * @param lost the account that gets the keys, if it is another person's
 */
export async function agreedTo(question: Question, people: Person[], lost?: Account): Promise<boolean> {
  const found = [lost, ...people.map(({ account }) => account)].filter((it) => it !== undefined);
  const rows = people.flatMap(({ signer, account }) => [
    ...(account ? row("keys.asked.account", ...accountNodes(account)) : []),
    ...row("keys.asked.key", code(signer), !account && paragraph("keys.trust.code", {}, "notice")),
  ]);
  const first = lost ? row("keys.asked.lost", ...accountNodes(lost)) : [];
  const more = [...(await doubts(found)), el("dl", { class: "facts" }, ...first, ...rows)];
  return confirmed({ ...question, more });
}

/**
 * Asks whether the person wants to use an account, of which others may have keys.
 *
 * @param its `hidden`: how many owners the chain's endpoint does not show
 * @param own the signer of the vault's key
 */
export async function agreedToUse(
  account: Account,
  { owners, hidden, guardians }: { owners: string[]; hidden: number; guardians: string[] },
  own: string,
  named: Namer,
): Promise<boolean> {
  const alone = isAlone(owners, own) && hidden <= 0;
  const question = {
    heading: text("keys.back.heading"),
    words: text(alone ? "keys.back.alone" : "keys.back.shared"),
    yes: text("keys.back.get"),
  };
  const more = [
    ...(await doubts([account])),
    el(
      "dl",
      { class: "facts" },
      ...row("keys.asked.account", ...accountNodes(account)),
      ...row("keys.owners", keyList(owners, named), hidden > 0 && paragraph("keys.hidden", { n: hidden }, "notice")),
      ...(guardians.length ? row("keys.guardians", keyList(guardians, named)) : []),
    ),
  ];
  return confirmed({ ...question, more });
}

/** Whether a key is the only one. */
export function isAlone(signers: string[] | null, own: string) {
  return signers?.length === 1 && signers[0] === own;
}

export function keyList(signers: string[], named: Namer) {
  const rows = signers.map((signer) =>
    el("li", { "data-signer": signer }, el("strong", {}, named(signer).name), code(signer)),
  );
  return el("ul", { class: "rows" }, ...rows);
}

export function accountNodes({ address, did, name, trust }: Account) {
  const verified = trust === "verified";
  const said = !verified
    ? (`keys.trust.${trust}` as const)
    : name
      ? "send.trust.verified.name"
      : "sheet.trust.verified";
  return [
    name !== "" && el("strong", {}, name),
    did !== "" && el("p", { class: "mono" }, did),
    el("p", { class: "mono", "data-name": "account" }, grouped(address)),
    el(
      "p",
      { class: verified || trust === "address" ? "small" : "notice", "data-name": "trust" },
      text(said, { name }),
    ),
  ];
}

/** Says why a name may be mistaken for another. */
export async function doubts(accounts: Account[]) {
  const { did: own } = await (await ready()).vault.query();
  const paid = await paidFrom(own).catch(() => []);
  return accounts.flatMap(({ name, did }) => {
    const to = name || did;
    const { foreign, digits, alike } = doubtsAbout(to, paid);
    return [
      alike !== "" && paragraph("keys.look.alike", { to, alike }, "notice"),
      (foreign || digits !== "") && paragraph("keys.look", { to }, "notice"),
    ];
  });
}

function code(signer: string) {
  return el("p", { class: "mono", "data-name": "key" }, grouped(signer));
}

function row(key: TextKey, ...values: (Node | string | false)[]) {
  return [el("dt", {}, text(key)), el("dd", {}, ...values)];
}
