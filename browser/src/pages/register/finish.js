/** The last steps of a registration: account, chain, service and first copy. A failed step can be retried from where it stopped. */

import { NetworkError, RequestRefused, passkeyKey, usePasskey } from "../library.js";
import { text } from "../parts/language.js";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.js";
import { addFacts } from "../../kit/notes.js";
import { setBegun } from "../parts/notes.js";
import { succeeded } from "../parts/problems.js";
import { go } from "../parts/router.js";
import { preparing, run, say, show, tell } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { firstCopy } from "./first_copy.js";
import { over } from "./flow.js";

const SPARE_MS = 20_000;
const AGAIN_AFTER_MS = 10_000;
const NOWHERE = /^0x0+$/;
/** The texts of steps that did not complete. @type {Record<string, import("../parts/language.js").TextKey>} */
const OTHERWISE = {
  "account later": "finish.account.later",
  "chain later": "finish.chain.none",
  "copy later": "finish.copy.later",
  "copy off": "finish.copy.off",
};

/**
 * @typedef {import("../parts/notes.js").Begun} Begun
 * @typedef {"account" | "chain" | "service" | "copy"} Step
 */

/** @param {Begun & {resumed?: boolean}} given */
export async function finish({ resumed = false, ...row }) {
  const still = preparing();
  const client = await ready();
  const { locked: closed } = await client.vault.status();
  if (!still()) return;
  if (closed) return locked(row);
  const expires = Date.parse(row.attestation?.expires_at ?? "");
  if (row.channel !== "handle" && !(expires > Date.now() + SPARE_MS)) return go("prove", row);
  const chain = await client.status().then(
    (it) => it.chain,
    () => "",
  );
  if (still()) await work(row, drawn(resumed, chain));
}

/**
 * Asks the person to unlock the vault, which is locked after an interruption.
 *
 * @param {Begun} row
 */
function locked(row) {
  const opened = async (
    /** @type {import("../library.js").VaultKey} */ key,
    wrong = /** @type {import("../parts/language.js").TextKey | ""} */ (""),
  ) => {
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
  const press = (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), withPasskey, text("passkey.open"));
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

/**
 * @param {Begun} row
 * @param {ReturnType<typeof drawn>} steps
 */
async function work(row, { list, mark, lead, container, signal }) {
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
    await failed(row, error, list);
  }
}

/**
 * @param {boolean} resumed
 * @param {string} chain its name; empty if the service does not respond
 */
function drawn(resumed, chain) {
  /** @type {[string, string, string][]} */
  const steps = [
    ["passkey", "done", text("finish.passkey")],
    ["vault", "done", text("finish.vault")],
    ["account", "busy", text("finish.account")],
    ["chain", "", chain ? text("finish.chain", { chain }) : text("finish.chain.unnamed")],
    ["service", "", text("finish.service")],
    ["copy", "", text("finish.copy")],
  ];
  const list = el(
    "ul",
    { class: "steps" },
    ...steps.map(([name, state, words]) =>
      el("li", { "data-step": name, "data-state": state || null }, el("span", {}, words)),
    ),
  );
  const lead = paragraph("finish.lead");
  const container = el("div", { "data-name": "first-copy", "aria-live": "polite" });
  const signal = show({
    name: "finish",
    heading: text("finish.heading"),
    body: [lead, list, container],
    redraw: () => {},
  });
  say(text(resumed ? "finish.resumed" : "working"));
  /** @param {Step} step @param {string} state */
  const mark = (step, state) => {
    const item = /** @type {HTMLElement} */ (list.querySelector(`[data-step="${step}"]`));
    item.dataset.state = state === "off" ? "later" : state;
    const otherwise = OTHERWISE[`${step} ${state}`];
    if (otherwise) item.textContent = text(otherwise);
  };
  return { list, mark, lead, container, signal };
}

/**
 * @param {Begun} row
 * @param {unknown} error
 * @param {HTMLElement} list
 */
async function failed(row, error, list) {
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

/**
 * @param {Begun} row
 * @param {unknown} error
 * @param {HTMLElement} list
 */
function unfinished(row, error, list) {
  list.querySelectorAll('[data-state="busy"]').forEach((it) => it.removeAttribute("data-state"));
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
