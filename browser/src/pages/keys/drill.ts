/** Tries the ways back to the account, without changing anything: other keys, and those who bring the account back. */

import "./texts.ts";
import type { AccountKeys, AccountView } from "../../account/keys.ts";
import type { RecoveryTerms } from "../../generated/types.ts";
import { counted, day, text } from "../parts/language.ts";
import { buttons, el, paragraph } from "../parts/nodes.ts";
import { SERVICE, preparing, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { hasExpired } from "../library.ts";
import { back } from "../drill/card.ts";
import { noteTrial } from "../drill/trials.ts";
import { duration } from "./durations.ts";
import { namer, type Namer, passkeys } from "./people.ts";

/** `told`: what cannot be tried, only said */
type State = "tried" | "failed" | "told";

type Finding = { name: string; state: State; words: string };

/** The screen that tries all of them at once. */
export async function drillAccount() {
  const still = preparing();
  const client = await ready();
  const keys = await client.accountKeys();
  const [view, own, known, terms] = await Promise.all([keys.view(), keys.signer(), passkeys(), client.recoveryTerms()]);
  const named = await namer(own, known, terms.guardians);
  const findings = [
    ...ofOwners(view, own, named),
    ...(await ofGuardians(view, keys, named, terms.guardians)),
    ...(await ofService(view, terms)),
  ];
  const did = (await client.vault.query()).did;
  const works = findings.some(({ state }) => state === "tried") && !findings.some(({ state }) => state === "failed");
  if (works) await noteTrial(did, "account");
  if (still()) draw(findings, works);
}

function draw(findings: Finding[], works: boolean) {
  show({
    name: "drill-account",
    heading: text("drill.account"),
    redraw: () => draw(findings, works),
    body: [
      paragraph("keys.drill.lead"),
      findings.length === 0 && paragraph("keys.drill.none", {}, "notice"),
      el(
        "ul",
        { class: "rows" },
        ...[...new Set(findings.map(({ name }) => name))].map((name) =>
          el("li", {}, el("h2", {}, name), ...findings.filter((it) => it.name === name).map(line)),
        ),
      ),
      buttons(back()),
    ],
  });
}

function line({ state, words }: Finding) {
  const said = `${text(`keys.drill.${state}`)} ${words}`;
  return el("p", { class: state === "failed" ? "notice" : "small", "data-finding": state }, said);
}

function ofOwners({ owners, settings }: AccountView, own: string, named: Namer): Finding[] {
  return owners
    .filter(({ signer }) => signer !== own)
    .flatMap((owner): Finding[] => {
      const { name } = named(owner.signer);
      const over = hasExpired(owner);
      const words = over
        ? text("keys.drill.owner.over", { time: day(owner.expiry * 1000) })
        : text(settings.threshold > 1 ? "keys.drill.owner.two" : "keys.drill.owner");
      return [
        { name, state: over ? "failed" : "tried", words },
        { name, state: "told", words: text("keys.drill.has") },
      ];
    });
}

/** @param services this service's keys */
async function ofGuardians(
  { guardians, settings, recovery }: AccountView,
  keys: AccountKeys,
  named: Namer,
  services: string[],
): Promise<Finding[]> {
  if (guardians.length === 0) return [];
  const name = text("keys.guardians");
  const quorum = await keys.tryRecovery();
  const people = guardians.filter((it) => !services.includes(it)).map((it) => named(it).name);
  const works = quorum !== null && quorum > 0 && quorum <= guardians.length;
  const time = duration(settings.delay);
  const found: Finding[] = [
    {
      name,
      state: works ? "tried" : "failed",
      words: works
        ? `${counted("keys.drill.guardians", quorum)} ${text("keys.guardians.wait", { time })}`
        : text(settings.quorum === 0 ? "keys.guardians.off" : "keys.drill.refused"),
    },
  ];
  const names = people.join(", ");
  if (names) found.push({ name, state: "told", words: text("keys.drill.people", { names }) });
  if (recovery) found.push({ name, state: "failed", words: text("keys.drill.running") });
  return found;
}

/**
 * Whether this service could send a code: its key is a guardian, and an address is registered by the vault's own
 * request.
 */
async function ofService(
  { guardians }: AccountView,
  { guardians: keys, channels, waitSeconds }: RecoveryTerms,
): Promise<Finding[]> {
  if (!guardians.some((it) => keys.includes(it))) return [];
  const { identifiers, credentials } = await (await ready()).exportPerson();
  const signed = (it: { channel: string; key: string }) =>
    credentials.some((one) => one.signed && one.channel === it.channel && one.key === it.key);
  const to = identifiers
    .filter((it) => channels.includes(it.channel) && it.stage === "registered" && signed(it))
    .map((it) => it.given)
    .join(", ");
  const values = { to, wait: duration(waitSeconds), name: SERVICE };
  const name = text("keys.service", values);
  if (!to) return [{ name, state: "failed", words: text("keys.drill.service.none", values) }];
  return [
    { name, state: "tried", words: text("keys.drill.service", values) },
    { name, state: "told", words: text("keys.drill.service.mail", values) },
  ];
}
