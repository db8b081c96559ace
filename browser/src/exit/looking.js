/** The second step: what a node says of the account. */

import { el } from "../kit/el.js";
import { Node } from "./node.js";
import { addressOf, checksummed, coinText, facts, list, tokenText } from "./nodes.js";
import { form, step, typed } from "./parts.js";
import { standingOf } from "./standing.js";

/** @param {import("./main.js").Page} page @param {import("./opened.js").OpenedVault} vault */
export function lookSection(page, vault) {
  const { text } = page;
  const rpc = typed(page, "rpc", text("look.rpc"), { type: "url", hint: text("look.rpc.hint") });
  const tokens = typed(page, "tokens", text("look.tokens"), { tag: "textarea" });
  const account = typed(page, "account", text("look.account"));
  const look = async () => {
    const named = tokens.input.value.split(/\s+/).filter(Boolean);
    const wrong = [
      { it: rpc, bad: !isUrl(rpc.input.value), key: /** @type {const} */ ("bad.url") },
      { it: tokens, bad: named.some((it) => !addressOf(it)), key: /** @type {const} */ ("bad.address") },
      {
        it: account,
        bad: account.input.value !== "" && !addressOf(account.input.value),
        key: /** @type {const} */ ("bad.address"),
      },
    ].filter(({ it, bad, key }) => (it.say(bad ? text(key) : ""), bad));
    if (wrong.length > 0) return wrong[0].it.input.focus();
    await read(page, vault, { rpc: rpc.input.value, tokens: named, account: addressOf(account.input.value) });
    page.draw("look");
  };
  const more = el(
    "details",
    { open: Boolean(page.typed.tokens || page.typed.account) },
    el("summary", {}, text("look.more")),
    tokens.node,
    account.node,
  );
  return step(
    "look",
    text("look.heading"),
    form(page, text("look.do"), look, rpc.node, more),
    page.standing && shown(page, vault, page.standing),
  );
}

/** @param {string} text */
export function isUrl(text) {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/**
 * @param {import("./main.js").Page} page
 * @param {import("./opened.js").OpenedVault} vault
 * @param {{rpc: string, tokens: string[], account: string}} asked
 */
async function read(page, vault, { rpc, tokens, account }) {
  const node = new Node(rpc);
  const { signer, account: own } = vault;
  page.standing = await standingOf(node, { account: account || own, own, signer, tokens });
  Object.assign(page, { node, chosen: null, sent: null });
}

/** @param {import("./main.js").Page} page @param {import("./opened.js").OpenedVault} vault @param {import("./standing.js").Standing} standing */
function shown({ text }, { signer }, { chainId, account, isDeployed, obstacle, owners, coin, deposit, tokens }) {
  const held = [
    ...tokens.filter(({ balance }) => balance).map(tokenText),
    ...(deposit ? [text("deposit", { amount: coinText(deposit) })] : []),
    ...(coin ? [coinText(coin)] : []),
  ];
  const listed = (owners ?? []).map((owner) => ownerText(text, owner, signer));
  return el(
    "div",
    { "data-standing": true },
    facts([
      [text("chain", { id: chainId }), text(isDeployed ? "state.deployed" : "state.future")],
      [text("opened.account"), el("code", {}, checksummed(account))],
      ...(isDeployed
        ? [/** @type {[string, any]} */ ([text("owners"), owners ? list(listed) : text("owners.hidden")])]
        : []),
      [text("has"), list(held.length > 0 ? held : [text("nothing")])],
    ]),
    obstacle && el("p", { class: "notice" }, text(`obstacle.${obstacle}`)),
    el("p", { class: "small" }, text("not.moved")),
  );
}

/** @param {import("./main.js").Page["text"]} text @param {import("./standing.js").Owner} owner @param {string} own */
function ownerText(text, { signer, expiry, isPrimary }, own) {
  const notes = [
    isPrimary && text("owner.primary"),
    signer.toLowerCase() === own.toLowerCase() && text("owner.own"),
    expiry !== 0 && text("owner.until", { time: new Date(expiry * 1000).toISOString() }),
  ].filter(Boolean);
  return notes.length > 0 ? `${signer} (${notes.join(", ")})` : signer;
}
