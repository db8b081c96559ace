/** Screens by name, so that no screen's module has to import the next one's. */

/** @type {Map<string, (given?: any) => unknown>} */
const screens = new Map();

/** Which address shows a screen; the others keep the present one. @type {Record<string, string>} */
const PATHS = { start: "/", vault: "/vault" };
let stays = false;

/** From now on the address stays as it is: the page serves another one's request. */
export function stay() {
  stays = true;
}

/**
 * @param {string} name
 * @param {(given?: any) => unknown} draw
 */
export function screen(name, draw) {
  screens.set(name, draw);
}

/**
 * Goes to a screen.
 *
 * @param {string} name
 * @param {any} [given]
 * @returns {Promise<void>}
 */
export async function go(name, given) {
  const draw = screens.get(name);
  if (!draw) throw new TypeError(`no screen: ${name}`);
  const path = PATHS[name];
  if (!stays && path && location.pathname !== path) history.pushState(null, "", path);
  await draw(given);
}

/** Draws what the address names. */
export function goToAddress() {
  return go(location.pathname.replace(/\/+$/, "") === "/vault" ? "vault" : "start");
}
