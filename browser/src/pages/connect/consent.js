/** Shows what the application would get from the open vault, and sends nothing until the person allows it. */

import { amount, moment, text } from "../parts/language.js";
import { button, buttons, el, paragraph } from "../parts/nodes.js";
import { preparing, run, show } from "../parts/screen.js";
import { ignoreStrayClicks } from "../../kit/stray_clicks.js";
import { ready } from "../parts/vault_client.js";
import { USDC_DECIMALS } from "../vault/permission.js";
import { decimalOf, grouped } from "../vault/values.js";
import { result } from "./result.js";

/**
 * @typedef {import("../../connect/request.js").ConnectRequest} ConnectRequest
 * @typedef {{origin: URL, returnTo: string, requested: ConnectRequest, allowed: (result: import("./result.js").Result) => Promise<void>, refused: () => void}} Request
 */

/**
 * Shows the question, unless the person has gone to another screen meanwhile.
 *
 * @param {Request} request
 * @returns {Promise<boolean>} whether it is shown
 */
export async function consent(request) {
  const still = preparing();
  const client = await ready();
  const { did } = await client.vault.query();
  const address = request.requested.account ? (await client.account()).address : "";
  if (!still()) return false;
  draw(request, did, address);
  return true;
}

/**
 * @param {Request} request
 * @param {string} did
 * @param {string} address
 */
function draw(request, did, address) {
  const { origin, returnTo, requested, allowed, refused } = request;
  const allow = (/** @type {Event} */ event) =>
    run(
      /** @type {HTMLElement} */ (event.currentTarget),
      async () => allowed(await result(origin, returnTo, requested)),
      text("working"),
    );
  const signed = requested.sign && signedCard(requested.sign.text);
  const yes = button(text(requested.sign ? "connect.allow.sign" : "connect.allow"), allow, {
    kind: "main",
    name: "allow",
  });
  const signal = show({
    name: "consent",
    heading: text(headingOf(requested), { host: origin.host }),
    redraw: () => draw(request, did, address),
    body: [
      ...whoAsks(origin, requested.name),
      el(
        "section",
        { class: "card" },
        el("h2", {}, text("connect.sees")),
        el("h3", {}, text("vault.did")),
        el("p", { class: "mono", "data-name": "did" }, did),
        address !== "" && el("h3", {}, text("vault.accounts")),
        address !== "" && el("p", { class: "mono", "data-name": "account" }, grouped(address)),
      ),
      signed,
      requested.delegate ? delegateCard(requested.delegate) : paragraph("connect.nothing", {}, "small"),
      buttons(yes, button(text("connect.refuse"), refused, { name: "refuse" })),
    ],
  });
  ignoreStrayClicks(yes);
  addEventListener("focus", () => ignoreStrayClicks(yes), { signal });
  if (signed) afterItsEnd(signed, yes, signal);
}

/**
 * Keeps the button disabled until the end of the text has been on screen: what lies below the box's edge is signed too.
 *
 * @param {HTMLElement} card
 * @param {HTMLButtonElement} yes
 * @param {AbortSignal} signal
 */
function afterItsEnd(card, yes, signal) {
  const [box, hint] = [
    /** @type {HTMLElement} */ (card.querySelector("pre")),
    /** @type {HTMLElement} */ (card.querySelector("[data-name=unread]")),
  ];
  const look = () => {
    // Once read, the button is not touched again: while it works, it is disabled so that nothing is signed twice.
    if (hint.hidden || box.scrollTop + box.clientHeight < box.scrollHeight - 1) return;
    yes.disabled = false;
    hint.hidden = true;
  };
  yes.disabled = true;
  box.addEventListener("scroll", look, { signal });
  addEventListener("resize", look, { signal });
  look();
}

/** @param {ConnectRequest} requested */
function headingOf({ sign, delegate }) {
  if (delegate) return sign ? "connect.heading.both" : "connect.heading.delegate";
  return sign ? "connect.heading.sign" : "connect.heading";
}

/**
 * Shows the name that the application gives itself, and a warning if its host name is internationalised.
 *
 * @param {URL} origin
 * @param {string} name
 */
function whoAsks(origin, name) {
  const unusual = origin.hostname.split(".").some((part) => part.startsWith("xn--"));
  return [
    name !== "" && paragraph("connect.name", { name }, "small"),
    unusual && paragraph("connect.unusual", {}, "notice"),
  ];
}

/** @param {string} words */
function signedCard(words) {
  return el(
    "section",
    { class: "card" },
    el("h2", { id: "signs" }, text("connect.signs")),
    el(
      "pre",
      { class: "signed", tabindex: "0", role: "region", "aria-labelledby": "signs", "data-name": "signs" },
      words,
    ),
    el("p", { class: "notice", "data-name": "unread" }, text("connect.signs.unread")),
    paragraph("connect.signs.bound", {}, "small"),
  );
}

/** @param {import("../../connect/request.js").Delegate} delegate */
function delegateCard({ to, limit, expires }) {
  const spent = amount(decimalOf(BigInt(limit), USDC_DECIMALS));
  return el(
    "section",
    { class: "card", "data-name": "spends" },
    el("h2", {}, text("connect.spends")),
    el("p", { class: "amount" }, `${spent}\u00a0USDC`),
    paragraph("connect.spends.until", { amount: spent, date: moment(expires * 1000) }),
    el("h3", {}, text("connect.spends.to")),
    el("p", { class: "mono" }, to),
    paragraph("connect.spends.end", {}, "small"),
  );
}
