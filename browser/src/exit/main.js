/** The exit page: one file that opens what is left of a vault, and moves everything out of its account through any node. */

import { fromBase64 } from "../bytes.js";
import { PluginCallError } from "../errors.js";
import { el } from "../kit/el.js";
import { remember } from "../kit/chosen_language.js";
import { preferred } from "../kit/languages.js";
import { lookSection } from "./looking.js";
import { mistakeText } from "./mistakes.js";
import { OpenedVault } from "./opened.js";
import { openSection } from "./opening.js";
import { planSection, sendSection, sentSection } from "./leaving.js";
import { LANGUAGES, textsOf } from "./texts.js";

/**
 * @typedef {object} Page what the steps share
 * @property {(key: import("./texts.js").TextKey, values?: Record<string, unknown>) => string} text
 * @property {Uint8Array<ArrayBuffer>} wasm the enclave's module
 * @property {Record<string, string>} typed what the person typed, by the field's name
 * @property {Record<string, FileList | null>} files what the person chose, by the field's name
 * @property {{first: string, second: boolean}} locked which vaults locked themselves: the first one's signer, or empty
 * @property {import("./plan.js").FirstOwner | null} vault
 * @property {import("./plan.js").SecondOwner | null} second another owner, where two must sign
 * @property {import("./node.js").Node | null} node
 * @property {import("./standing.js").Standing | null} standing
 * @property {import("./leaving.js").Chosen | null} chosen
 * @property {import("./sending.js").Sent | null} sent
 * @property {(step: string) => void} draw draws the page, and moves the focus to a step
 * @property {(form: HTMLFormElement, work: () => Promise<void>) => Promise<void>} run shows what goes wrong at the form
 */

/** @type {Page} */
const page = {
  text: textsOf(preferred(LANGUAGES)),
  wasm: fromBase64(document.getElementById("enclave")?.textContent ?? ""),
  typed: {},
  files: {},
  locked: { first: "", second: false },
  vault: null,
  second: null,
  node: null,
  standing: null,
  chosen: null,
  sent: null,
  draw,
  run,
};

/** @param {string} [step] */
function draw(step) {
  const { text, vault, standing, chosen, sent } = page;
  document.title = text("title");
  const steps = [
    openSection(page),
    vault && lookSection(page, vault),
    vault && standing && !standing.obstacle && sendSection(page, standing),
    vault && standing && chosen && planSection(page, standing, chosen),
    vault && sent && sentSection(page, sent),
  ];
  document.getElementById("page")?.replaceChildren(...head(), .../** @type {Node[]} */ (steps.filter(Boolean)));
  if (step) /** @type {HTMLElement | null} */ (document.querySelector(`[data-step=${step}] h2`))?.focus();
}

function head() {
  const { text } = page;
  const other = el("button", { class: "plain", name: "language", onclick: changeLanguage }, text("language"));
  return [el("p", {}, other), el("h1", {}, text("title")), el("p", { class: "lead" }, text("lead"))];
}

function changeLanguage() {
  const next = /** @type {string} */ (LANGUAGES.find((it) => it !== document.documentElement.lang));
  speak(next);
  remember(next);
  draw();
}

/** @param {string} language */
function speak(language) {
  page.text = textsOf(language);
  document.documentElement.lang = language;
}

/** @param {HTMLFormElement} form @param {() => Promise<void>} work */
async function run(form, work) {
  const said = /** @type {HTMLElement} */ (form.querySelector("[data-said]"));
  const buttons = [...form.querySelectorAll("button")];
  for (const it of buttons) it.disabled = true;
  said.textContent = page.text("working");
  try {
    await new Promise((resolve) => setTimeout(resolve)); // so that the text is shown before the enclave computes
    await work();
    said.textContent = "";
  } catch (error) {
    if (error instanceof PluginCallError && error.code === "vault_locked") return reopen();
    said.textContent = mistakeText(page.text, error);
  } finally {
    for (const it of buttons) it.disabled = false;
  }
}

/** A vault locked itself, and perhaps the second too. The person opens it again; what was typed and read is kept. */
function reopen() {
  const { vault, second, standing } = page;
  if (vault instanceof OpenedVault) {
    page.locked.first = vault.signer;
    page.vault = null;
  }
  if (second instanceof OpenedVault) {
    page.locked.second = true;
    Object.assign(page, {
      second: null,
      chosen: null,
      standing: standing && { ...standing, obstacle: "two", second: "" },
    });
  }
  draw(page.vault ? "look" : "open");
}

speak(preferred(LANGUAGES));
draw();
