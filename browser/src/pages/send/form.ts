/** The first screen of a payment, which asks for the payee and the amount. */

import { typedAmount } from "../parts/amounts.ts";
import { text } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.ts";
import { ProblemError, problem } from "../parts/problems.ts";
import { go, opening } from "../parts/router.ts";
import { run, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { receiveHere } from "../vault/account.ts";
import { sendError } from "./errors.ts";
import { resolved } from "./payee.ts";
import { shown, type Token, TOKENS } from "./tokens.ts";

export type Typed = { to: string; amount: string; symbol: string; again?: Again };

/** what was noted about the payment that is sent again, in place of the open one */
type Again = { to: string; address: string; shop?: string; label?: string };

/** Returns what the form that was shown last contains. */
let now: () => Typed | null = () => null;
/** Of the vault that was open last: the payment that was typed when the vault locked itself. */
let unsent: { did: string; typed: Typed | null } = { did: "", typed: null };

/** Keeps what is typed into the form of a payment, or was before its review, until this window opens the vault again. */
export function keepTyped() {
  const { screen = "" } = (document.querySelector("main") as HTMLElement).dataset;
  if (["send", "send-review"].includes(screen)) unsent.typed = now();
}

/** Returns what was kept for a vault that is open now, once. */
export function keptTyped(did: string): Typed | null {
  const typed = unsent.did === did ? unsent.typed : null;
  unsent = { did, typed: null };
  return typed;
}

export function send(typed: Partial<Typed> = {}) {
  const to = field(
    text("send.to"),
    { name: "to", autocapitalize: "none", spellcheck: "false", autocomplete: "off", value: typed.to ?? "" },
    text("send.to.hint"),
  );
  const much = field(
    text("send.amount"),
    { name: "amount", inputmode: "decimal", autocomplete: "off", value: typed.amount ?? "" },
    text("send.amount.hint"),
  );
  const token = el(
    "select",
    { id: "send-token", name: "token" },
    ...TOKENS.map(({ symbol }) => el("option", { value: symbol, selected: symbol === typed.symbol }, symbol)),
  );
  now = () => ({ to: to.input.value, amount: much.input.value, symbol: token.value, again: typed.again });
  const next = (it: HTMLFormElement) =>
    run(it.querySelector("button[type=submit]"), () => reviewed(now() as Typed, to, much), text("send.checking"));
  const tellHeld = async () => {
    const chosen = tokenOf(token.value);
    const { balance } = await held(chosen);
    // The person may have chosen another token meanwhile, or been told what is wrong with the amount.
    if (token.value === chosen.symbol && !much.input.ariaInvalid)
      much.judge("", text("send.held", { have: shown(balance, chosen) }));
  };
  token.addEventListener("change", () => void tellHeld().catch(() => {}));
  void tellHeld().catch(() => {}); // asked again before a payment is reviewed
  show({
    name: "send",
    heading: text("send.heading"),
    focus: to.input,
    redraw: () => send(now() as Typed),
    body: [
      typed.again ? paragraph("send.again", {}, "notice") : null,
      form(
        next,
        to.node,
        much.node,
        el("div", { class: "field" }, el("label", { for: "send-token" }, text("send.token")), token),
        buttons(submit(text("send.next")), button(text("back"), opening("home"), { kind: "plain", name: "back" })),
      ),
    ],
  });
}

async function reviewed(typed: Typed, to: ReturnType<typeof field>, much: ReturnType<typeof field>) {
  to.judge();
  document.querySelector('[data-name="too-little"]')?.remove();
  const token = tokenOf(typed.symbol);
  const { value, bad } = typedAmount(typed.amount, token.decimals);
  much.judge(bad);
  const payee = await resolved(typed.to).catch((error) => refuse(to, sendError(error)));
  if (!payee) return;
  if (bad) return much.input.focus();
  const { balance, from, chain, chainId } = await held(token);
  if (balance < value) {
    much.node.closest("form")?.after(receiveHere(from, chain, () => reviewed(typed, to, much)));
    return refuse(
      much,
      new ProblemError("insufficient_balance", { have: shown(balance, token), need: shown(value, token) }),
    );
  }
  await go("send-review", { typed, payee, token, value, from, chain, chainId });
}

const tokenOf = (named: string) => TOKENS.find(({ symbol }) => symbol === named) as Token;

/** Returns what the account has of a token, with the account's address and its chain. */
async function held({ symbol: token }: Token) {
  const client = await ready();
  const [{ address: from }, { chain, chainId }] = await Promise.all([client.account(), client.status()]);
  const { balance } = await client.balance({ account: from, token, chainId: String(chainId) });
  return { balance: BigInt(balance), from, chain, chainId };
}

function refuse({ judge, input }: ReturnType<typeof field>, error: unknown): null {
  if (!(error instanceof ProblemError)) throw error;
  judge(problem(error));
  input.focus();
  return null;
}
