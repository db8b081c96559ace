/** Registers screens by name, so that no screen's module needs to import that of another screen. */

/** @type {Map<string, (given?: any) => unknown>} */
const screens = new Map();

/** The URL paths of screens. A screen without a path leaves the URL unchanged. @type {Record<string, string>} */
const PATHS = { start: "/", vault: "/vault" };
let stays = false;

/** Keeps the URL unchanged from now on, because the page is serving an application's request. */
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

/** Draws the screen that the URL identifies. */
export function goToAddress() {
  return go(location.pathname.replace(/\/+$/, "") === "/vault" ? "vault" : "start");
}
