/** The third step: where everything goes, what it costs, and sending it. */

import { Bundler } from "../chain/bundler.js";
import { RpcError } from "../http/json_rpc.js";
import { el } from "../kit/el.js";
import { AddressOwner, SIGNATURE_FIELD, signatureFields } from "./address.js";
import { PasskeyAlone } from "./alone.js";
import { Node, NodeRefused } from "./node.js";
import { nftText } from "./looking.js";
import { addressOf, coinText, isUrl, list, tokenText, weiOf } from "./nodes.js";
import { form, step, typed } from "./parts.js";
import { PasskeyOwner } from "./passkey.js";
import { bundledPlan, FEE_LIMIT, ordinaryPlan } from "./plan.js";
import { standingOf } from "./standing.js";
import { sendBundled, sendOrdinary, sendRest } from "./sending.js";

/**
 * @typedef {import("./main.js").Page} Page
 * @typedef {import("./standing.js").Standing} Standing
 * @typedef {{to: string, bundler: Bundler | null, limit: bigint}} Wanted `bundler` null: by an ordinary transaction; `limit`:
 *   the most that the fees may be, in wei
 * @typedef {Wanted & {plan: import("./plan.js").Plan | null, payer: {address: string, has: bigint} | null}} Chosen `payer`: of
 *   an ordinary transaction; `plan` null: the account cannot pay the fees
 */

/** @param {Page} page @param {Standing} standing */
export function sendSection(page, standing) {
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
    const limit = weiOf(most.input.value);
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

/** @param {Page} page @param {(way: string) => void} chosen */
function ways(page, chosen) {
  const { text } = page;
  const choice = (/** @type {"ordinary" | "bundled"} */ way) => {
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

/** @param {string} url @param {string} entryPoint */
function bundlerAt(url, entryPoint) {
  const node = new Node(url);
  const bundler = (/** @type {string} */ method, /** @type {unknown[]} */ params) =>
    node.call(method, params).catch((error) => {
      if (!(error instanceof NodeRefused)) throw error;
      throw Object.assign(new RpcError({ message: error.message, data: error.data }), { cause: error });
    });
  return new Bundler(/** @type {any} */ ({ bundler }), entryPoint);
}

/** @param {Page} page @param {Standing} standing @param {Wanted} wanted */
async function choose(page, standing, { to, bundler, limit }) {
  const node = /** @type {Node} */ (page.node);
  const vault = /** @type {import("./plan.js").FirstOwner} */ (page.vault);
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

/** @param {Page} page @param {Standing} standing @param {Chosen} chosen */
export function planSection(page, standing, chosen) {
  const { text } = page;
  const { to, limit, plan, payer } = chosen;
  const heading = text("plan.moves", { id: standing.chainId });
  if (!plan) return step("plan", heading, el("p", { class: "notice" }, text("plan.poor")));
  if (plan.moves.length === 0) return step("plan", heading, el("p", { class: "notice" }, text("plan.empty")));
  const moves = plan.moves.map((move) => text("plan.move", { what: moveText(text, move), to }));
  const amount = coinText(plan.cost);
  const cost = text("plan.cost", { amount, payer: payer ? payer.address : text("plan.account") });
  const fees = el("p", {}, cost, payer && ` ${text("plan.rollup")}`);
  if (plan.cost > limit) {
    const dear = text("plan.dear", { limit: coinText(limit) });
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
    el("p", { class: "small" }, text("plan.funded", { address: payer.address, amount: coinText(payer.has) })),
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

/** What the browser asks for when the person sends. @param {Page} page @param {Standing} standing */
function promptsOf({ vault, second }, standing) {
  /** @type {import("./texts.js").TextKey[]} */
  const prompts = vault instanceof PasskeyAlone ? ["alone.signs"] : [];
  return second instanceof PasskeyOwner && standing.second
    ? [...prompts, /** @type {const} */ ("passkey.signs")]
    : prompts;
}

/** @param {Page["text"]} text @param {import("./plan.js").Move} move */
function moveText(text, { kind, amount, token, nft }) {
  if (nft) return nftText(text, nft);
  if (kind === "token" && token) return tokenText(token);
  return kind === "deposit" ? text("deposit", { amount: coinText(amount) }) : coinText(amount);
}

/** @param {Page} page @param {Standing} standing @param {Chosen} chosen */
async function send(page, standing, { bundler, plan }) {
  const node = /** @type {Node} */ (page.node);
  const vault = /** @type {import("./plan.js").FirstOwner} */ (page.vault);
  if (!plan) return;
  page.sent = bundler
    ? await sendBundled(node, bundler, { vault, second: page.second }, standing, plan)
    : await sendOrdinary(node, { vault, second: page.second }, standing, plan);
  const { account, second } = standing;
  const terms = { account, own: vault.account, signer: vault.signer, second };
  const tokens = standing.tokens.map(({ address }) => address);
  page.standing = await standingOf(node, {
    ...terms,
    tokens,
    nfts: standing.nfts.filter(({ isFound }) => !isFound),
  }).catch(() => standing);
  page.draw("sent");
}

/** @param {Page} page @param {import("./sending.js").Sent} sent */
export function sentSection(page, { transaction, succeeded }) {
  const { text, chosen } = page;
  const rest = chosen?.payer && form(page, text("sent.rest"), (it) => giveRest(page, it));
  return step(
    "sent",
    text(succeeded ? "sent.done" : "sent.failed"),
    el("p", {}, `${text("sent.transaction")}: `, el("code", {}, transaction)),
    rest,
  );
}

/** @param {Page} page @param {HTMLFormElement} shown */
async function giveRest({ text, node, vault, standing, chosen }, shown) {
  if (!node || !vault || !standing || !chosen?.plan?.transaction) return;
  const { tip, maxFee } = chosen.plan.transaction;
  const given = await sendRest(node, vault, { chainId: standing.chainId, to: chosen.to, tip, maxFee });
  const said = given ? text("sent.rest.done", { amount: coinText(given) }) : text("sent.rest.none");
  shown.replaceChildren(el("p", { "data-said": true, role: "status" }, said));
}
