/** The last steps of a registration: account, chain, service and first copy. A failed step can be retried from where it stopped. */

import type { VaultKey } from "../../passkeys/secrets.ts";
import { NetworkError, PluginCallError, RequestRefused, passkeyKey, usePasskey } from "../library.ts";
import { text, type TextKey } from "../parts/language.ts";
import {
  button,
  buttons,
  el,
  field,
  form,
  paragraph,
  stepList,
  submit,
  type Press,
  type StepState,
} from "../parts/nodes.ts";
import { addFacts } from "../../kit/notes.ts";
import { type Begun, setBegun } from "../parts/notes.ts";
import { succeeded } from "../parts/problems.ts";
import { go } from "../parts/router.ts";
import { preparing, run, say, show, tell } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { firstCopy } from "./first_copy.ts";
import { over } from "./flow.ts";

const AGAIN_AFTER_MS = 10_000;
const NOWHERE = /^0x0+$/;
/** The texts of steps that did not complete. */
const OTHERWISE: Record<string, TextKey> = {
  "account later": "finish.account.later",
  "chain later": "finish.chain.none",
  "copy later": "finish.copy.later",
  "copy off": "finish.copy.off",
};

type Step = "account" | "chain" | "service" | "copy";

export async function finish({ resumed = false, ...row }: Begun & { resumed?: boolean }) {
  const still = preparing();
  const client = await ready();
  const { locked: closed } = await client.vault.status();
  if (!still()) return;
  if (closed) return locked(row);
  // Only the service judges whether a proof has expired: a device's clock may be wrong, whatever the person proves.
  if (row.channel !== "handle" && !row.attestation) return go("prove", row);
  const chain = await client.status().then(
    (it) => it.chain,
    () => "",
  );
  if (still()) await work(row, drawn(resumed, chain));
}

/** Asks the person to unlock the vault, which is locked after an interruption. */
function locked(row: Begun) {
  const opened = async (key: VaultKey, wrong = "" as TextKey | "") => {
    const { vault } = await ready();
    succeeded(await vault.unlock(key, null, { did: row.did, takeOver: true }), wrong || undefined);
    await finish({ ...row, resumed: true });
  };
  const withPasskey = async () =>
    opened(await passkeyKey(await usePasskey({ credentialIds: row.credentialId ? [row.credentialId] : [] })));
  const password = field(text("password.label"), {
    type: "password",
    name: "password",
    autocomplete: "current-password",
  });
  const passwordForm = form(
    (it) =>
      run(
        it.querySelector("button"),
        () => opened({ kind: "password", password: password.input.value }, "problem.wrong_password"),
        text("working"),
      ),
    password.node,
    buttons(submit(text("resume.continue"))),
  );
  const press = (event: Press) => run(event.currentTarget, withPasskey, text("passkey.open"));
  show({
    name: "finish-unlock",
    heading: text("resume.heading"),
    redraw: () => locked(row),
    body: row.password
      ? [paragraph("password.lead"), passwordForm]
      : [paragraph("finish.unlock"), buttons(button(text("unlock.passkey"), press, { kind: "main", name: "unlock" }))],
  });
  if (!row.password) void run(null, withPasskey, text("passkey.open"));
}

async function work(row: Begun, { mark, stopped, lead, container, signal }: ReturnType<typeof drawn>) {
  try {
    const client = await ready();
    const account = await client.account().catch((error) => error);
    mark("account", account instanceof Error ? "later" : "done");
    const record = await client.register({
      [row.channel]: row.identifier,
      attestation: row.attestation,
      onProgress: (step) =>
        mark(step === "on the chain" ? "service" : step === "session" ? "service" : "chain", "busy"),
    });
    mark("chain", NOWHERE.test(record.txHash) ? "later" : "done");
    mark("service", "done");
    await addFacts(record.did, { identifier: record.identifier });
    await over();
    mark("copy", "busy");
    say("");
    lead.textContent = text("finish.copy.lead");
    const copy = await firstCopy(container, signal);
    mark("copy", copy);
    if (!signal.aborted) await go("safety", row);
  } catch (error) {
    await failed(row, error, stopped());
  }
}

/** @param chain its name; empty if the service does not respond */
function drawn(resumed: boolean, chain: string) {
  const { list, mark, stopped } = stepList([
    ["passkey", text("finish.passkey")],
    ["vault", text("finish.vault")],
    ["account", text("finish.account")],
    ["chain", chain ? text("finish.chain", { chain }) : text("finish.chain.unnamed")],
    ["service", text("finish.service")],
    ["copy", text("finish.copy")],
  ]);
  mark("passkey", "done");
  mark("vault", "done");
  mark("account", "busy");
  const lead = paragraph("finish.lead");
  const container = el("div", { "data-name": "first-copy", "aria-live": "polite" });
  const signal = show({
    name: "finish",
    heading: text("finish.heading"),
    body: [lead, list, container],
    redraw: () => {},
  });
  say(text(resumed ? "finish.resumed" : "working"));
  const marked = (step: Step, state: StepState | "off") => {
    const otherwise = OTHERWISE[`${step} ${state}`];
    mark(step, state === "off" ? "later" : state, otherwise && text(otherwise));
  };
  return { mark: marked, stopped, lead, container, signal };
}

async function failed(row: Begun, error: unknown, list: HTMLElement): Promise<void> {
  if (error instanceof PluginCallError && error.code === "vault_locked") return finish({ ...row, resumed: true });
  const code = error instanceof RequestRefused ? error.code : "";
  const unproven = { ...row, attestation: undefined };
  if (code.startsWith("attestation_")) {
    await setBegun(unproven);
    await go("prove", unproven);
  } else if (code === "identifier_taken" || code === "identifier_reserved" || code === "Invalid identifier") {
    await setBegun(unproven);
    await go("choose", unproven);
  } else {
    unfinished(row, error, list);
  }
  tell(error);
}

function unfinished(row: Begun, error: unknown, list: HTMLElement) {
  const signal = show({
    name: "finish-failed",
    heading: text("finish.failed.heading"),
    redraw: () => (unfinished(row, error, list), tell(error)),
    body: [
      list,
      buttons(
        button(text("again"), () => finish({ ...row, resumed: true }), { kind: "main", name: "again" }),
        button(text("resume.other"), () => go("choose", { ...row, attestation: undefined }), {
          kind: "plain",
          name: "other",
        }),
      ),
    ],
  });
  const passing = error instanceof NetworkError && (!(error instanceof RequestRefused) || error.status >= 500);
  if (!passing) return;
  const timer = setTimeout(() => finish({ ...row, resumed: true }), AGAIN_AFTER_MS);
  signal.addEventListener("abort", () => clearTimeout(timer));
}
