/** Shows what the application would get from the open vault, and sends nothing until the person allows it. */

import type { Connected } from "../../connect.ts";
import type { ConnectRequest, Delegate } from "../../connect/request.ts";
import { amount, moment, text } from "../parts/language.ts";
import { button, buttons, el, paragraph, type Press } from "../parts/nodes.ts";
import { preparing, run, show } from "../parts/screen.ts";
import { ignoreStrayClicks } from "../../kit/stray_clicks.ts";
import { ready } from "../parts/vault_client.ts";
import { USDC_DECIMALS } from "../vault/permission.ts";
import { decimalOf, grouped } from "../vault/values.ts";
import { result } from "./result.ts";

type Request = {
  origin: URL;
  returnTo: string;
  requested: ConnectRequest;
  allowed: (result: Connected) => Promise<void>;
  refused: () => void;
};

/**
 * Shows the question, unless the person has gone to another screen meanwhile.
 *
 * @returns whether it is shown
 */
export async function consent(request: Request): Promise<boolean> {
  const still = preparing();
  const client = await ready();
  const { did } = await client.vault.query();
  const address = request.requested.account ? (await client.account()).address : "";
  if (!still()) return false;
  draw(request, did, address);
  return true;
}

function draw(request: Request, did: string, address: string) {
  const { origin, returnTo, requested, allowed, refused } = request;
  const allow = (event: Press) =>
    run(event.currentTarget, async () => allowed(await result(origin, returnTo, requested)), text("working"));
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
 */
function afterItsEnd(card: HTMLElement, yes: HTMLButtonElement, signal: AbortSignal) {
  const [box, hint] = [
    card.querySelector("pre") as HTMLElement,
    card.querySelector("[data-name=unread]") as HTMLElement,
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

function headingOf({ sign, delegate }: ConnectRequest) {
  if (delegate) return sign ? "connect.heading.both" : "connect.heading.delegate";
  return sign ? "connect.heading.sign" : "connect.heading";
}

/** Shows the name that the application gives itself, and a warning if its host name is internationalised. */
function whoAsks(origin: URL, name: string) {
  const unusual = origin.hostname.split(".").some((part) => part.startsWith("xn--"));
  return [
    name !== "" && paragraph("connect.name", { name }, "small"),
    unusual && paragraph("connect.unusual", {}, "notice"),
  ];
}

function signedCard(words: string) {
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

function delegateCard({ to, limit, expires }: Delegate) {
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
