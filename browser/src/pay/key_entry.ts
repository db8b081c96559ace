/** How the person opens the vault: with a passkey or, if they choose so, with the vault's password. */

import { passkeyKey, usePasskey } from "../holdfast.ts";
import { el } from "../kit/el.ts";
import type { VaultKey } from "../passkeys/secrets.ts";
import { part, tell } from "./screens.ts";
import { text } from "./text.ts";

/** One window's choice between passkey and password. */
export class KeyEntry {
  #onSubmit;
  withPassword = false;

  /** @param onSubmit called when the person has typed the password and presses Enter */
  constructor(onSubmit: () => void) {
    this.#onSubmit = onSubmit;
  }

  /** What the button offers that switches to the other way. */
  get other() {
    return this.withPassword ? text("use_passkey") : text("use_password");
  }

  /** Switches to the other way. */
  switch() {
    this.withPassword = !this.withPassword;
    document.getElementById("password-form")?.remove();
    if (this.withPassword) part("screen").append(this.#form());
  }

  /** Moves the focus into the field for the password, if there is one. */
  focus() {
    document.getElementById("password")?.focus();
  }

  /**
   * Asks for the passkey, or reads the password.
   *
   * @throws {WebAuthnError}
   */
  async key(): Promise<VaultKey> {
    const field = document.getElementById("password") as HTMLInputElement | null;
    if (field) return { kind: "password", password: field.value };
    tell(text("passkey"));
    return passkeyKey(await usePasskey());
  }

  #form() {
    const field = el("input", { id: "password", type: "password", autocomplete: "current-password", required: true });
    const onsubmit = (event: Event) => {
      event.preventDefault();
      this.#onSubmit();
    };
    return el("form", { id: "password-form", onsubmit }, el("label", { for: "password" }, text("password")), field);
  }
}
