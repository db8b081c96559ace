/**
 * Asks for the second passkey where two keys must sign. Few payments need it: it is loaded on demand, and imports nothing
 * that the payment window has, so that the build does not split the window's file.
 */

import { WebAuthnError } from "../errors.js";
import { secondPasskey } from "../kit/second_passkey.js";

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
 * @param {import("../client.js").Client} client
 * @param {import("../holdfast.js").VaultKey} key what opened it; the ID of a passkey's is the passkey's
 * @param {"en" | "de"} language
 */
export function giveSecondKey(client, key, language) {
  client.secondKey = secondPasskey(
    client.vault,
    (names) => confirmed(names, TEXTS[language]),
    () => key.id ?? "",
  );
}

/**
 * Waits for a press, which lets the browser ask for a passkey once more.
 *
 * @param {string[]} names
 * @param {typeof TEXTS.en} texts
 * @returns {Promise<void>}
 */
function confirmed(names, { said, use, cancel }) {
  const [alert, buttons] = ["alert", "buttons"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
  alert.textContent = [said, names.filter(Boolean).join(", ")].filter(Boolean).join(": ");
  return new Promise((resolve, reject) => {
    const over = (/** @type {() => void} */ then) => () => {
      alert.textContent = "";
      buttons.replaceChildren();
      then();
    };
    const no = () => reject(new WebAuthnError("the person does not use the second key", "cancelled"));
    buttons.replaceChildren(made("cancel", cancel, over(no)), made("approve", use, over(resolve)));
  });
}

/** @param {string} id @param {string} said @param {() => void} onclick */
function made(id, said, onclick) {
  const button = document.createElement("button");
  return Object.assign(button, { id, textContent: said, onclick, className: id === "approve" ? "main" : "" });
}
