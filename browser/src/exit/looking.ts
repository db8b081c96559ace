/** The second step: what a node says of the account. */

import { ether } from "../chain/amounts.ts";
import type { Owner } from "../chain/owner_list.ts";
import { ServiceError } from "../errors.ts";
import { dateOf } from "../kit/dates.ts";
import { type Child, el } from "../kit/el.ts";
import { addressForm } from "./address.ts";
import { PasskeyAlone } from "./alone.ts";
import type { Page } from "./main.ts";
import { Node } from "./node.ts";
import { type Named, namedNft, type Nft, nftName } from "./nfts.ts";
import { addressOf, checksummed, facts, isUrl, list, tokenText } from "./nodes.ts";
import { openForm } from "./opening.ts";
import { form, step, typed } from "./parts.ts";
import { passkeyForm } from "./passkey.ts";
import type { FirstOwner, SecondOwner } from "./plan.ts";
import { type Standing, standingOf } from "./standing.ts";

const CHAIN_ID = /^[1-9]\d{0,14}$/;

export function lookSection(page: Page, vault: FirstOwner) {
  const { text } = page;
  const chain = typed(page, "chain", text("look.chain"), { hint: text("look.chain.hint") });
  const rpc = typed(page, "rpc", text("look.rpc"), { type: "url", hint: text("look.rpc.hint") });
  const tokens = typed(page, "tokens", text("look.tokens"), { tag: "textarea" });
  const nfts = typed(page, "nfts", text("look.nfts"), { tag: "textarea", hint: text("look.nfts.hint") });
  const account = typed(page, "account", text("look.account"));
  const look = async () => {
    const named = lines(tokens.input);
    const arts = lines(nfts.input).map(namedNft);
    const wrong = [
      { it: chain, bad: !CHAIN_ID.test(chain.input.value.trim()), key: "bad.chain" as const },
      { it: rpc, bad: !isUrl(rpc.input.value), key: "bad.url" as const },
      { it: tokens, bad: named.some((it) => !addressOf(it)), key: "bad.address" as const },
      { it: nfts, bad: arts.includes(null), key: "bad.nft" as const },
      {
        it: account,
        bad: account.input.value !== "" && !addressOf(account.input.value),
        key: "bad.address" as const,
      },
    ].filter(({ it, bad, key }) => (it.say(bad ? text(key) : ""), bad));
    if (wrong.length > 0) return wrong[0].it.input.focus();
    const request = {
      chainId: Number(chain.input.value),
      tokens: named,
      nfts: arts.filter((it) => it !== null),
      account: addressOf(account.input.value),
    };
    await read(page, vault, rpc.input.value, request);
    page.draw("look");
  };
  const more = el(
    "details",
    { open: Boolean(page.typed.tokens || page.typed.nfts || page.typed.account) },
    el("summary", {}, text("look.more")),
    tokens.node,
    nfts.node,
    account.node,
  );
  const opens = async (made: SecondOwner) => {
    page.second = made;
    page.locked.second = false;
    await look();
  };
  const isTwo = /^two/.test(page.standing?.obstacle ?? "");
  return step(
    "look",
    text("look.heading"),
    form(page, text("look.do"), look, chain.node, rpc.node, more),
    page.standing && shown(page, vault, page.standing),
    isTwo && page.locked.second && el("p", { class: "notice" }, text("open.again")),
    isTwo && openForm(page, "second-", opens),
    isTwo && addressForm(page, opens),
    isTwo && passkeyForm(page, opens),
  );
}

function lines(input: HTMLInputElement) {
  return input.value.split(/\s+/).filter(Boolean);
}

async function read(
  page: Page,
  vault: FirstOwner,
  rpc: string,
  { account, ...named }: { chainId: number; tokens: string[]; nfts: Named[]; account: string },
) {
  const node = new Node(rpc);
  const served = await node.quantity("eth_chainId");
  if (served !== BigInt(named.chainId)) throw new ServiceError(page.text("look.other", { served, id: named.chainId }));
  const { signer } = vault;
  const second = page.second?.signer ?? "";
  const own = vault instanceof PasskeyAlone ? "" : vault.account; // alone it creates none
  const standing = await standingOf(node, { ...named, account: account || vault.account, own, signer, second });
  const had = new Set(standing.nfts.map(nftName));
  const absent = named.nfts.map(nftName).filter((it) => !had.has(it));
  if (absent.length > 0) throw new ServiceError(page.text("nft.absent", { nfts: absent.join(", ") }));
  page.standing = standing;
  Object.assign(page, { node, chosen: null, sent: null });
}

function shown({ text }: Page, { signer }: FirstOwner, standing: Standing) {
  const { chainId, account, isDeployed, obstacle, owners, coin, deposit, tokens, nfts } = standing;
  const held = [
    ...tokens.filter(({ balance }) => balance).map(tokenText),
    ...nfts.filter(({ isFound }) => !isFound).map((it) => nftText(text, it)),
    ...(deposit ? [text("deposit", { amount: ether(deposit) })] : []),
    ...(coin ? [ether(coin)] : []),
  ];
  const listed = (owners ?? []).map((owner) => ownerText(text, owner, signer));
  return el(
    "div",
    { "data-standing": true },
    facts([
      [text("chain", { id: chainId }), text(isDeployed ? "state.deployed" : "state.future")],
      [text("opened.account"), el("code", {}, checksummed(account))],
      ...(isDeployed ? [[text("owners"), owners ? list(listed) : text("owners.hidden")] as [string, Child]] : []),
      [text("has"), list(held.length > 0 ? held : [text("nothing")])],
    ]),
    foundOnes(text, standing),
    obstacle && el("p", { class: "notice" }, text(`obstacle.${obstacle}`)),
    el("p", { class: "small" }, text("not.moved")),
  );
}

export function nftText(text: Page["text"], { contract, id, pieces }: Nft) {
  return pieces === null ? text("nft", { id, contract }) : text("nft.pieces", { pieces, id, contract });
}

/** Lets the person choose which of the NFTs that the node found are moved. */
function foundOnes(text: Page["text"], { nfts, isSearched }: Standing) {
  if (!isSearched) return el("p", { class: "small" }, text("nft.unsearched"));
  const found = nfts.filter(({ isFound }) => isFound);
  if (found.length === 0) return null;
  const choices = found.map((nft) => {
    const choose = (event: Event) => (nft.isChosen = (event.currentTarget as HTMLInputElement).checked);
    const box = el("input", {
      type: "checkbox",
      name: "nft",
      value: nftName(nft),
      checked: nft.isChosen,
      onchange: choose,
    });
    return el("label", { class: "choice" }, box, nftText(text, nft));
  });
  return el(
    "fieldset",
    {},
    el("legend", {}, text("nft.found")),
    el("p", { class: "hint" }, text("nft.hint")),
    ...choices,
  );
}

function ownerText(text: Page["text"], { signer, expiry, isPrimary }: Owner, own: string) {
  const notes = [
    isPrimary && text("owner.primary"),
    signer.toLowerCase() === own.toLowerCase() && text("owner.own"),
    expiry !== 0 && text("owner.until", { time: dateOf(expiry * 1000).toISOString() }),
  ].filter(Boolean);
  return notes.length > 0 ? `${signer} (${notes.join(", ")})` : signer;
}
