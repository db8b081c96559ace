/** The third step: where everything goes, what it costs, and sending it. */

import { ether } from "../chain/amounts.ts";
import { Bundler } from "../chain/bundler.ts";
import { RpcError } from "../http/json_rpc.ts";
import { el } from "../kit/el.ts";
import { AddressOwner, SIGNATURE_FIELD, signatureFields } from "./address.ts";
import { PasskeyAlone } from "./alone.ts";
import type { Page } from "./main.ts";
import { Node, NodeRefused } from "./node.ts";
import { nftText } from "./looking.ts";
import { addressOf, isUrl, list, tokenText, weiOf } from "./nodes.ts";
import { form, step, typed } from "./parts.ts";
import { PasskeyOwner } from "./passkey.ts";
import { bundledPlan, FEE_LIMIT, type FirstOwner, type Move, ordinaryPlan, type Plan } from "./plan.ts";
import { type Standing, standingOf } from "./standing.ts";
import { sendBundled, sendOrdinary, sendRest, type Sent } from "./sending.ts";
import type { TextKey } from "./texts.ts";

/** `bundler` null: by an ordinary transaction; `limit`: the most that the fees may be, in wei */
type Wanted = { to: string; bundler: Bundler | null; limit: bigint };

/** `payer`: of an ordinary transaction; `plan` null: the account cannot pay the fees */
export type Chosen = Wanted & { plan: Plan | null; payer: { address: string; has: bigint } | null };

export function sendSection(page: Page, standing: Standing) {
  const { text } = page;
  const to = typed(page, "to", text("send.to"));
  const bundler = typed(page, "bundler", text("send.bundler"), { type: "url" });
  bundler.node.hidden = page.typed.way !== "bundled";
  page.typed.limit ??= FEE_LIMIT;
  const most = typed(page, "limit", text("send.limit"), { hint: text("send.limit.hint") });
  const plan = async () => {
    const isBundled = page.typed.way === "bundled";
    const address = addressOf(to.input.value);
    to.say(address ? "" : text("bad.address"));
    bundler.say(isBundled && !isUrl(bundler.input.value) ? text("bad.url") : "");
    const limit = weiOf(most.input.value, document.documentElement.lang);
    most.say(limit === null ? text("bad.amount") : "");
    if (!address) return to.input.focus();
    if (isBundled && !isUrl(bundler.input.value)) return bundler.input.focus();
    if (limit === null) return most.input.focus();
    const through = isBundled ? bundlerAt(bundler.input.value, standing.entryPoint) : null;
    await choose(page, standing, { to: address, bundler: through, limit });
  };
  return step(
    "send",
    text("send.heading"),
    form(
      page,
      text("send.plan"),
      plan,
      to.node,
      ways(page, (way) => (bundler.node.hidden = way !== "bundled")),
      bundler.node,
      most.node,
    ),
  );
}

function ways(page: Page, chosen: (way: string) => void) {
  const { text } = page;
  const choice = (way: "ordinary" | "bundled") => {
    const choose = () => {
      page.typed.way = way;
      chosen(way);
    };
    const checked = (page.typed.way ?? "ordinary") === way;
    return el(
      "label",
      { class: "choice" },
      el("input", { type: "radio", name: "way", value: way, checked, onchange: choose }),
      text(`send.${way}`),
    );
  };
  const hint = el("p", { class: "hint" }, text("send.ordinary.hint"));
  return el("fieldset", {}, el("legend", {}, text("send.way")), choice("ordinary"), hint, choice("bundled"));
}

export function bundlerAt(url: string, entryPoint: string) {
  const node = new Node(url);
  const bundler = (method: string, params: unknown[]) => {
    if (method === "eth_getUserOperationReceipt") return node.receipt(method, String(params[0]));
    return node.call(method, params).catch((error) => {
      if (!(error instanceof NodeRefused)) throw error;
      throw Object.assign(new RpcError({ message: error.message, data: error.data }), { cause: error });
    });
  };
  return new Bundler({ bundler }, entryPoint);
}

async function choose(page: Page, standing: Standing, { to, bundler, limit }: Wanted) {
  const node = page.node as Node;
  const vault = page.vault as FirstOwner;
  const plan = bundler
    ? await bundledPlan(node, bundler, standing, { vault, second: page.second }, to)
    : await ordinaryPlan(node, standing, { vault, second: page.second }, to);
  const payer = bundler ? null : vault.payer().address;
  const has = payer && (await node.quantity("eth_getBalance", [payer, "latest"]));
  page.chosen = { to, bundler, limit, plan, payer: payer ? { address: payer, has: has || 0n } : null };
  page.sent = null;
  delete page.typed[SIGNATURE_FIELD]; // it was of the plan before
  page.draw("plan");
}

export function planSection(page: Page, standing: Standing, chosen: Chosen) {
  const { text } = page;
  const { to, limit, plan, payer } = chosen;
  const heading = text("plan.moves", { id: standing.chainId });
  if (!plan) return step("plan", heading, el("p", { class: "notice" }, text("plan.poor")));
  if (plan.moves.length === 0) return step("plan", heading, el("p", { class: "notice" }, text("plan.empty")));
  const moves = plan.moves.map((move) => text("plan.move", { what: moveText(text, move), to }));
  const amount = ether(plan.cost);
  const cost = text("plan.cost", { amount, payer: payer ? payer.address : text("plan.account") });
  const fees = el("p", {}, cost, payer && ` ${text("plan.rollup")}`);
  if (plan.cost > limit) {
    const dear = text("plan.dear", { limit: ether(limit) });
    return step("plan", heading, list(moves), fees, el("p", { class: "notice" }, dear));
  }
  const isPoor = payer !== null && payer.has < plan.cost;
  const fund = payer && [
    isPoor &&
      el(
        "p",
        { class: "notice" },
        text("plan.fund", { amount }),
        " ",
        text(page.vault instanceof PasskeyAlone ? "plan.fund.page" : "plan.fund.vault"),
        " ",
        el("code", { "data-payer": true }, payer.address),
      ),
    el("p", { class: "small" }, text("plan.funded", { address: payer.address, amount: ether(payer.has) })),
  ];
  const prompts = page.sent || isPoor ? [] : promptsOf(page, standing);
  const owner = page.second instanceof AddressOwner && standing.second && !isPoor && !page.sent ? page.second : null;
  const fields = owner && signatureFields(page, standing, plan);
  const go = async () => {
    if (isPoor) return choose(page, standing, chosen);
    if (!owner || fields?.takes(owner)) await send(page, standing, chosen);
  };
  const label = text(isPoor ? "plan.again" : "plan.send");
  const more = [...(fund ?? []), ...(fields?.nodes ?? []), ...prompts.map((key) => el("p", {}, text(key)))];
  return step("plan", heading, list(moves), fees, ...more, !page.sent && form(page, label, go));
}

/** What the browser asks for when the person sends. */
function promptsOf({ vault, second }: Page, standing: Standing) {
  const prompts: TextKey[] = vault instanceof PasskeyAlone ? ["alone.signs"] : [];
  return second instanceof PasskeyOwner && standing.second ? [...prompts, "passkey.signs" as const] : prompts;
}

function moveText(text: Page["text"], { kind, amount, token, nft }: Move) {
  if (nft) return nftText(text, nft);
  if (kind === "token" && token) return tokenText(token);
  return kind === "deposit" ? text("deposit", { amount: ether(amount) }) : ether(amount);
}

async function send(page: Page, standing: Standing, { bundler, plan }: Chosen) {
  const node = page.node as Node;
  const vault = page.vault as FirstOwner;
  if (!plan) return;
  page.sent = bundler
    ? await sendBundled(node, bundler, { vault, second: page.second }, standing, plan)
    : await sendOrdinary(node, { vault, second: page.second }, standing, plan);
  const { chainId, account, second } = standing;
  const terms = { chainId, account, own: vault.account, signer: vault.signer, second };
  const tokens = standing.tokens.map(({ address }) => address);
  page.standing = await standingOf(node, {
    ...terms,
    tokens,
    nfts: standing.nfts.filter(({ isFound }) => !isFound),
  }).catch(() => standing);
  page.draw("sent");
}

export function sentSection(page: Page, { transaction, succeeded }: Sent) {
  const { text, chosen } = page;
  const rest = chosen?.payer && form(page, text("sent.rest"), (it) => giveRest(page, it));
  return step(
    "sent",
    text(succeeded ? "sent.done" : "sent.failed"),
    el("p", {}, `${text("sent.transaction")}: `, el("code", {}, transaction)),
    rest,
  );
}

async function giveRest({ text, node, vault, standing, chosen }: Page, shown: HTMLFormElement) {
  if (!node || !vault || !standing || !chosen?.plan?.transaction) return;
  const { tip, maxFee } = chosen.plan.transaction;
  const given = await sendRest(node, vault, { chainId: standing.chainId, to: chosen.to, tip, maxFee });
  const said = given ? text("sent.rest.done", { amount: ether(given) }) : text("sent.rest.none");
  const end = el("p", { "data-said": true, tabindex: "-1" }, said);
  shown.replaceChildren(end);
  end.focus(); // the button that had it is gone
}
