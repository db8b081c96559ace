/** Helping another person to get an account back, and getting back one's own earlier account. */

import "./texts.ts";
import type { AccountKeys } from "../../account/keys.ts";
import { addFacts } from "../../kit/notes.ts";
import { copyButton } from "../parts/copy.ts";
import { moment, text, type TextKey } from "../parts/language.ts";
import { button, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { ProblemError } from "../parts/problems.ts";
import { go } from "../parts/router.ts";
import { run } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import type { Payee } from "../send/payee.ts";
import { agreedTo, agreedToUse } from "./asking.ts";
import { personInput } from "./owners.ts";
import { accountOf, namer, type Namer, passkeys, personOf } from "./people.ts";
import { isServiceAmong, serviceSignature } from "./service.ts";

/** The form in which a guardian asks for a new key of another person's account. */
export function helping() {
  const lost = field(text("keys.help.lost"), personInput("lost"));
  const fresh = field(text("keys.help.new"), personInput("fresh"), text("keys.to.hint"));
  const ask = (it: HTMLFormElement) =>
    run(it.querySelector("button"), () => helped(lost.input.value, fresh.input.value), text("working"));
  return el(
    "details",
    { "data-name": "help" },
    el("summary", {}, text("keys.help")),
    paragraph("keys.help.lead"),
    form(ask, lost.node, fresh.node, el("div", { class: "buttons" }, submit(text("keys.help.ask")))),
  );
}

async function helped(lost: string, fresh: string) {
  const client = await ready();
  const account = await accountOf(lost);
  const keys = await client.accountKeys(account.address);
  const person = await personOf(fresh);
  const { guardians, settings, recovery: running } = await keys.view();
  if (!guardians.includes(await keys.signer())) throw new ProblemError("keys.help.none", { name: lost });
  const withService = settings.quorum > 1 && (await isServiceAmong(guardians));
  const supporters = withService ? 2 : 1;
  if (settings.quorum > supporters) throw new ProblemError("keys.help.more");
  if (running && running.supporters >= supporters)
    throw new ProblemError("keys.help.running", { time: moment(running.readyAt * 1000) });
  const byService = withService ? [await serviceSignature(keys, [person.signer], "keys.help.service")] : [];
  const question = { heading: text("keys.help.heading"), words: text("keys.help.text"), yes: text("keys.help.ask") };
  if (!(await agreedTo(question, [person], account))) return;
  await keys.startRecovery([person.signer], {
    signatures: [await keys.signRecovery([person.signer]), ...byService],
  });
  await go("keys", { said: text("keys.help.asked", { time: await readyAt(keys, settings.delay) }) });
}

/** When the recovery ends that was just started, also if the chain's node lags or does not answer. */
export async function readyAt(keys: Pick<AccountKeys, "recovery">, delay: number): Promise<string> {
  const recovery = await keys.recovery().catch(() => null);
  return moment(recovery ? recovery.readyAt * 1000 : Date.now() + delay * 1000);
}

/**
 * The form in which a person gets an account back that guardians or another key gave to this vault.
 *
 * @param lost the account that this service was asked for
 */
export function returning(lost: string = "") {
  const old = field(text("keys.back.old"), { ...personInput("old"), value: lost }, text("keys.back.hint"));
  const get = (it: HTMLFormElement) =>
    run(it.querySelector("button"), () => returned(old.input.value), text("working"));
  return el(
    "details",
    { "data-name": "back-account" },
    el("summary", {}, text("keys.back")),
    paragraph("keys.back.lead"),
    form(get, old.node, el("div", { class: "buttons" }, submit(text("keys.back.get")))),
  );
}

async function returned(typed: string) {
  const client = await ready();
  const account = await accountOf(typed);
  const keys = await client.accountKeys(account.address);
  const own = await keys.signer();
  const { owners, guardians, settings, recovery } = await keys.view();
  const signers = owners.map(({ signer }) => signer);
  const isOwner = signers.includes(own);
  if (!isOwner && !recovery && settings.quorum === 1 && (await isServiceAmong(guardians)))
    return startedByService(keys, account, own, await namer(own, []), settings.delay);
  if (!isOwner && !recovery?.newOwners?.includes(own)) throw new ProblemError("keys.back.none");
  if (!isOwner && !recovery?.isReady)
    throw new ProblemError("keys.back.early", { time: moment((recovery?.readyAt ?? 0) * 1000) });
  const its = isOwner
    ? { owners: signers, hidden: settings.owners - signers.length, guardians }
    : { owners: recovery?.newOwners ?? [], hidden: 0, guardians };
  if (!(await agreedToUse(account, its, own, await namer(own, await passkeys())))) return;
  if (!isOwner) await keys.finishRecovery();
  await used(account.address, "keys.back.done");
}

/** Starts a recovery for which this service alone suffices, because the person chose that. */
async function startedByService(keys: AccountKeys, account: Payee, own: string, named: Namer, delay: number) {
  const signature = await serviceSignature(keys, [own], "keys.back.none");
  if (!(await agreedToUse(account, { owners: [own], hidden: 0, guardians: [] }, own, named))) return;
  await keys.startRecovery([own], { signatures: [signature] });
  await go("keys", { said: text("keys.back.started", { time: await readyAt(keys, delay) }) });
}

/** Lets this vault's pages use another account, or the vault's own again. */
async function used(account: string | undefined, said: TextKey) {
  const { did } = await (await ready()).vault.query();
  await addFacts(did, { account });
  await go("home", { said: text(said) });
}

/** The button that leads back to the vault's own account. */
export function ownAgain() {
  const press = (event: Press) => run(event.currentTarget, () => used(undefined, "keys.own.done"));
  return el(
    "div",
    {},
    paragraph("keys.own.lead", {}, "small"),
    el("div", { class: "buttons" }, button(text("keys.own"), press, { name: "own-account" })),
  );
}

/** The code by which others name this vault's key. */
export function ownCode(own: string) {
  return el(
    "details",
    { "data-name": "code" },
    el("summary", {}, text("keys.code")),
    paragraph("keys.code.lead"),
    el("p", { class: "mono" }, own),
    el("div", { class: "buttons" }, copyButton(own)),
  );
}
