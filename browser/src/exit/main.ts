/** The exit page: one file that opens what is left of a vault, and moves everything out of its account through any node. */

import { fromBase64 } from "../bytes.ts";
import { PluginCallError } from "../errors.ts";
import { el } from "../kit/el.ts";
import { remember } from "../kit/chosen_language.ts";
import { focusAgain } from "../kit/focus.ts";
import { preferred } from "../kit/languages.ts";
import { lookSection } from "./looking.ts";
import { mistakeText } from "./mistakes.ts";
import { OpenedVault } from "./opened.ts";
import { openSection } from "./opening.ts";
import { type Chosen, planSection, sendSection, sentSection } from "./leaving.ts";
import type { FirstOwner, SecondOwner } from "./plan.ts";
import type { Sent } from "./sending.ts";
import type { Standing } from "./standing.ts";
import { LANGUAGES, textsOf } from "./texts.ts";

/** what the steps share */
export interface Page {
  text: ReturnType<typeof textsOf>;
  /** the enclave's module */ wasm: Uint8Array<ArrayBuffer>;
  /** what the person typed, by the field's name */ typed: Record<string, string>;
  /** what the person chose, by the field's name */ files: Record<string, FileList | null>;
  /** which vaults locked themselves: the first one's signer, or empty */ locked: { first: string; second: boolean };
  vault: FirstOwner | null;
  /** another owner, where two must sign */ second: SecondOwner | null;
  node: import("./node.ts").Node | null;
  standing: Standing | null;
  chosen: Chosen | null;
  sent: Sent | null;
  /** draws the page, and moves the focus to a step */ draw: (step: string) => void;
  /** shows what goes wrong at the form */ run: (form: HTMLFormElement, work: () => Promise<void>) => Promise<void>;
}

const page: Page = {
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

function draw(step?: string) {
  const { text, vault, standing, chosen, sent } = page;
  document.title = text("title");
  const steps = [
    openSection(page),
    vault && lookSection(page, vault),
    vault && standing && !standing.obstacle && sendSection(page, standing),
    vault && standing && chosen && planSection(page, standing, chosen),
    vault && sent && sentSection(page, sent),
  ];
  document.getElementById("page")?.replaceChildren(...head(), ...steps.filter((it) => !!it));
  if (step) document.querySelector<HTMLElement>(`[data-step=${step}] h2`)?.focus();
}

function head() {
  const { text } = page;
  const other = el("button", { class: "plain", name: "language", onclick: changeLanguage }, text("language"));
  return [el("p", {}, other), el("h1", {}, text("title")), el("p", { class: "lead" }, text("lead"))];
}

function changeLanguage() {
  const next = LANGUAGES.find((it) => it !== document.documentElement.lang) as string;
  speak(next);
  remember(next);
  draw();
  focusAgain(document.querySelector<HTMLElement>('[name="language"]'));
}

function speak(language: string) {
  page.text = textsOf(language);
  document.documentElement.lang = language;
}

async function run(form: HTMLFormElement, work: () => Promise<void>) {
  const said = form.querySelector("[data-said]") as HTMLElement;
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
    focusAgain(form.querySelector<HTMLElement>("button.main"));
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
