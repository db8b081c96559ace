/** Parses the links and addresses that people paste or scan to pair two devices. Pure. */

/** `meeting` is empty for a device that sends its vault directly */
export type PairingAddress = { address: string; meeting: string };

const NAME = /^[\w-]{16,64}$/;
const PEER = /^\/(ip4|ip6|dns|dns4|dns6)\/\S+\/p2p\/\w+$/;

/**
 * Parses another browser's link (`…#pair=NAME`), an address, or an address and a name (`ADDRESS#NAME`).
 *
 * @param relay the address of the service's pairing host; empty without one
 * @returns null for any other text
 */
export function addressOf(words: string, relay: string): PairingAddress | null {
  const [before, after = ""] = words.trim().split("#");
  if (PEER.test(before)) return after === "" || NAME.test(after) ? { address: before, meeting: after } : null;
  const meeting = after.startsWith("pair=") ? after.slice("pair=".length) : "";
  return relay && NAME.test(meeting) ? { address: relay, meeting } : null;
}

/** Returns the link for the other browser. */
export function linkOf(service: string, meeting: string) {
  return `${service}/vault#pair=${meeting}`;
}
