/** Names passkeys after their providers. A name is only a label, not a reason to trust a passkey. */

import type { Foreign } from "../../http/http.ts";
import { service } from "./vault_client.ts";
import { text } from "./language.ts";

/** The names of common providers by AAGUID, without hyphens. */
const PROVIDERS: Record<string, string> = {
  ea9b8d664d011d213ce4b6b48cb575d4: "Google Password Manager",
  fbfc3007154e4ecc8c0b6e020557d7bd: "iCloud Keychain",
  dd4ec289e01d41c9bb8970fa845d4bf2: "iCloud Keychain",
  adce000235bcc60a648b0b25f1f05503: "Chrome on Mac",
  "08987058cadc4b81b6e130de50dcbe96": "Windows Hello",
  "9ddd1817af5a4672a2b93e3dd95000a9": "Windows Hello",
  "6028b017b1d44c02b4b3afcdafc96bb2": "Windows Hello",
  bada5566a7aa401fbd9645619a55120d: "1Password",
  d548826e79b4db40a3d811116f7e8349: "Bitwarden",
  "531126d6e717415c93203d9aa6981239": "Dashlane",
  "50726f746f6e5061737350726f746f6e": "Proton Pass",
  "53414d53554e47000000000000000000": "Samsung Pass",
  fdb141b25d84443e8a354698c205a502: "KeePassXC",
};

/**
 * Whether a passkey has copies, according to its backup flags (WebAuthn Level 3, section 6.1.3). "one": the passkey
 * cannot leave its device or security key; "possible": a password manager could back it up, but has not yet; "synced":
 * the passkey has been backed up.
 */
export type Copies = "one" | "possible" | "synced";

/**
 * Returns what the backup flags of a registration or assertion say. The flags may change later.
 *
 * @param credential base64, as `createPasskey` and `usePasskey` return it
 * @returns null if they cannot be read
 */
export async function copiesOf(credential: string): Promise<Copies | null> {
  const { parsed } = await service()
    .vault.parse(credential)
    .catch(() => ({ parsed: null }));
  return parsed && inFlags(parsed);
}

function inFlags(parsed: Record<string, unknown>): Copies | null {
  const flags = parsed.flags as Foreign;
  if (typeof flags?.backup_eligible !== "boolean") return null;
  if (!flags.backup_eligible) return "one";
  return flags.backup_state ? "synced" : "possible";
}

/**
 * Returns the facts that a new credential contains about its passkey.
 *
 * @param credential base64, as `createPasskey` returns it
 */
export async function described(
  credential: string,
): Promise<{ aaguid: string; copies: Copies | null; transports: string[]; name: string }> {
  const { parsed } = await service().vault.parse(credential);
  const aaguid = String(parsed.aaguid ?? "").replaceAll("-", "");
  const transports = (parsed.transports ?? []) as string[];
  const elsewhere = transports.length > 0 && !transports.includes("internal") && !PROVIDERS[aaguid];
  return { aaguid, copies: inFlags(parsed), transports, name: elsewhere ? newPasskeyName(true) : defaultName(aaguid) };
}

/**
 * Returns a name for a passkey whose provider is not known yet.
 *
 * @param elsewhere whether it is made on another device or a security key
 */
export function newPasskeyName(elsewhere: boolean) {
  return elsewhere ? text("passkeys.elsewhere") : defaultName("");
}

/** Returns a name, which is the same in every language. */
function defaultName(aaguid: string) {
  return PROVIDERS[aaguid] ?? [browser(), platform()].filter(Boolean).join(", ");
}

/** Returns the name that the system reports for itself; empty if it is not known. */
function platform() {
  const [named] = /iPhone|iPad|Android|CrOS|Windows|Mac|Linux/.exec(navigator.userAgent) ?? [""];
  return { CrOS: "ChromeOS", Mac: "macOS" }[named] ?? named;
}

/** what only some browsers have */
type Branded = Navigator & { userAgentData?: { brands: { brand: string }[] } };

/** Returns the name that the browser reports for itself. */
function browser() {
  const brands = (navigator as Branded).userAgentData?.brands ?? [];
  const real = brands.map(({ brand }) => brand).filter((brand) => !/not.?a.?brand/i.test(brand));
  const known = real.find((brand) => brand !== "Chromium") ?? real[0];
  const agent = navigator.userAgent;
  return (
    known ??
    (/Firefox\//.test(agent)
      ? "Firefox"
      : /Safari\//.test(agent) && !/Chrom/.test(agent)
        ? "Safari"
        : text("passkeys.unnamed"))
  );
}
