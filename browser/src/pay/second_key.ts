/**
 * Asks for the second passkey where two keys must sign. Few payments need it: it is loaded on demand, and imports nothing
 * that the payment window has, so that the build does not split the window's file.
 */

import type { Client } from "../client.ts";
import { WebAuthnError } from "../errors.ts";
import { secondPasskey } from "../kit/second_passkey.ts";
import type { VaultKey } from "../passkeys/secrets.ts";

const TEXTS = {
  en: {
    said: "This payment needs a second passkey",
    use: "Use the second passkey",
    cancel: "Cancel",
  },
  de: {
    said: "Diese Zahlung braucht einen zweiten Passkey",
    use: "Den zweiten Passkey verwenden",
    cancel: "Abbrechen",
  },
};

/**
 * Lets a client ask for the second passkey where two keys must sign.
 *
 * @param key what opened it; the ID of a passkey's is the passkey's
 */
export function giveSecondKey(client: Client, key: VaultKey, language: "en" | "de") {
  client.secondKey = secondPasskey(
    client.vault,
    (names) => confirmed(names, TEXTS[language]),
    () => key.id ?? "",
  );
}

/** Waits for a press, which lets the browser ask for a passkey once more. */
function confirmed(names: string[], { said, use, cancel }: typeof TEXTS.en): Promise<void> {
  const [alert, buttons] = ["alert", "buttons"].map((id) => document.getElementById(id) as HTMLElement);
  alert.textContent = [said, names.filter(Boolean).join(", ")].filter(Boolean).join(": ");
  return new Promise((resolve, reject) => {
    const over = (then: () => void) => () => {
      alert.textContent = "";
      buttons.replaceChildren();
      then();
    };
    const no = () => reject(new WebAuthnError("the person does not use the second key", "cancelled"));
    buttons.replaceChildren(made("cancel", cancel, over(no)), made("approve", use, over(resolve)));
  });
}

function made(id: string, said: string, onclick: () => void) {
  const button = document.createElement("button");
  return Object.assign(button, { id, textContent: said, onclick, className: id === "approve" ? "main" : "" });
}
