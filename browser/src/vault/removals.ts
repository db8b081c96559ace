/** The rows that record the removal of a passkey or password, so that no other device restores it. */

import { PluginCallError } from "../errors.ts";
import type { Request } from "./protocol.ts";

const REMOVED = "removed-key";

type Given = string | null | undefined;

/** the enclave's `exec` */
type Call = (fn: "exec", args: object) => { success: boolean; error?: string };

/**
 * Updates the vault's list of removed passkeys and passwords after a key has been added or removed.
 *
 * @throws {PluginCallError} the list could not be changed
 */
export function noteRemoval(call: Call, { fn, args }: Request) {
  if (fn === "add_wrap") seeRecorded(row(call, "delete", { id: removalOf(args.key?.kind, args.key?.id).id }));
  if (fn === "remove_wrap" && args.kind !== "secret") seeRecorded(row(call, "create", removalOf(args.kind, args.id)));
}

/**
 * @param kind of the key
 * @returns a row of `tokens`
 */
export function removalOf(kind: Given, id: Given): { id: string; kind: string; value: string } {
  const value = `${kind}:${id ?? ""}`;
  return { id: `${REMOVED}:${value}`, kind: REMOVED, value };
}

/**
 * @param row of `tokens`
 * @returns the key whose removal it records; null for another row
 */
export function removedIn({ kind, value }: { kind: string; value: string }): { kind: string; id: string } | null {
  const colon = value.indexOf(":");
  return kind === REMOVED ? { kind: value.slice(0, colon), id: value.slice(colon + 1) } : null;
}

/**
 * @param answer to a change of these rows
 * @throws {PluginCallError} the change failed, although it was needed
 */
export function seeRecorded({ success, error }: { success: boolean; error?: string }) {
  const [code] = (error ?? "").split(":");
  if (success || code === "conflict" || code === "not_found") return;
  throw new PluginCallError("exec", `the removal of a key could not be recorded (${error})`, code);
}

function row(call: Call, action: string, args: Record<string, string>) {
  return call("exec", { filter: `resource:tokens action:${action}`, args });
}
