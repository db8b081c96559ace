/** The pairing host that connects two browsers, if the operator runs one. */

import { meta } from "../../kit/meta.ts";

/** The pairing host's multiaddress, or an empty string. */
export const RELAY = meta("pairing");
