/** Plays the scenarios of vectors/flows with the JavaScript client (vectors/README.md describes their form). */

import { playClient } from "./scenarios/clients.js";
import { playMove } from "./scenarios/moves.js";
import { playName, playRequest, playRetries } from "./scenarios/requests.js";
import { playSnapshots } from "./scenarios/snapshots.js";

const PLAYED = {
  retries: playRetries,
  request: playRequest,
  name: playName,
  snapshots: playSnapshots,
  client: playClient,
  move: playMove,
};

/** Returns the outcomes of each scenario's events, by the scenario's name; a text if the player failed. */
export async function playAll({ scenarios, ...shared }) {
  const played = {};
  for (const [name, scenario] of Object.entries(scenarios))
    played[name] = await PLAYED[scenario.flow](scenario, shared).catch((error) => error.stack);
  return played;
}
