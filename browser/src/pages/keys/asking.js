/** Shows keys and accounts in full, and asks whether they are those that the person means, before anything is signed. */

import "./texts.js";
import { confirmed } from "../parts/dialog.js";
import { text } from "../parts/language.js";
import { el, paragraph } from "../parts/nodes.js";
import { ready } from "../parts/vault_client.js";
import { doubtsAbout } from "../send/lookalikes.js";
import { paidFrom } from "../send/sent.js";
import { grouped } from "../vault/values.js";

/**
 * @typedef {import("../send/payee.js").Payee} Account an account, and how certain it is that it is the meant one
 * @typedef {import("./people.js").Person} Person
 * @typedef {import("./people.js").Namer} Namer
 * @typedef {{heading: string, words: string, yes: string}} Question
 */

/**
 * Asks about keys of other people or devices.
 *
 * @param {Question} question
 * @param {Person[]} people
 * @param {Account} [lost] the account that gets the keys, if it is another person's
 * @returns {Promise<boolean>}
 */
export async function agreedTo(question, people, lost) {
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
 * @param {Account} account
 * @param {{owners: string[], hidden: number, guardians: string[]}} its `hidden`: how many owners the chain's endpoint does
 *   not show
 * @param {string} own the signer of the vault's key
 * @param {Namer} named
 * @returns {Promise<boolean>}
 */
export async function agreedToUse(account, { owners, hidden, guardians }, own, named) {
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

/** Whether a key is the only one. @param {string[] | null} signers @param {string} own */
export function isAlone(signers, own) {
  return signers?.length === 1 && signers[0] === own;
}

/** @param {string[]} signers @param {Namer} named */
export function keyList(signers, named) {
  const rows = signers.map((signer) =>
    el("li", { "data-signer": signer }, el("strong", {}, named(signer).name), code(signer)),
  );
  return el("ul", { class: "rows" }, ...rows);
}

/** @param {Account} account */
export function accountNodes({ address, did, name, trust }) {
  const verified = trust === "verified";
  const said = !verified
    ? /** @type {const} */ (`keys.trust.${trust}`)
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

/** Says why a name may be mistaken for another. @param {Account[]} accounts */
export async function doubts(accounts) {
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

/** @param {string} signer */
function code(signer) {
  return el("p", { class: "mono", "data-name": "key" }, grouped(signer));
}

/** @param {import("../parts/language.js").TextKey} key @param {...(Node | string | false)} values */
function row(key, ...values) {
  return [el("dt", {}, text(key)), el("dd", {}, ...values)];
}
