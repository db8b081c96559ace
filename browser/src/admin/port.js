/** Sends an operator's requests to the admin port. The key stays in this tab's sessionStorage, and is sent only there. */

const KEY_NAME = "holdfast-admin-key";
const API = "/admin/api/";
const MOST_PAGES = 100;
/** Lists whose pages have a limit. */
const PAGED = ["identifiers", "bans", "invitations", "acts"];

/** A refusal: the HTTP status, 0 without a response, and the service's words. */
export class Refused extends Error {
  /** @param {number} status @param {string} words */
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

/** @typedef {Record<string, string | number | null | undefined>} Fields */
/** @typedef {Record<string, any>} Row */

/** @param {string} key */
export function keepKey(key) {
  sessionStorage.setItem(KEY_NAME, key);
}

export function forgetKey() {
  sessionStorage.removeItem(KEY_NAME);
}

export function hasKey() {
  return sessionStorage.getItem(KEY_NAME) !== null;
}

/** @param {string} path @param {Fields} [fields] @returns {Promise<any>} */
export async function get(path, fields = {}) {
  return (await sent(`${path}?${query(fields)}`, {})).json();
}

/** @param {string} path @param {Fields} fields @returns {Promise<any>} */
export async function post(path, fields) {
  return (await sent(path, { method: "POST", body: JSON.stringify(given(fields)) })).json();
}

/** Saves a list as CSV. @param {string} path @param {Fields} fields */
export async function saveCsv(path, fields) {
  const limit = PAGED.includes(path) ? 1000 : null;
  const rows = await allPages(async (after) => {
    const response = await sent(`${path}?${query({ ...fields, limit, after, format: "csv" })}`, {});
    return { rows: await response.text(), after: decodeURIComponent(response.headers.get("x-after") ?? "") };
  });
  save(new Blob([rows], { type: "text/csv" }), `${path}.csv`);
}

/**
 * Returns the CSV of all pages of a list, up to MOST_PAGES.
 *
 * @param {(after: string) => Promise<{rows: string, after: string}>} read a page; `after`: where the one before ended
 */
export async function allPages(read) {
  let all = "";
  let after = "";
  for (let page = 0; page < MOST_PAGES && (page === 0 || after); page += 1) {
    const found = await read(after);
    // Only the first page that has rows keeps the names of the columns.
    if (found.rows.trim()) all += all ? found.rows.slice(found.rows.indexOf("\n") + 1) : found.rows;
    after = found.after;
  }
  return all;
}

/** @param {Blob} data @param {string} name */
export function save(data, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** @param {string} path @param {RequestInit} how */
async function sent(path, how) {
  const headers = { authorization: `Bearer ${sessionStorage.getItem(KEY_NAME)}` };
  const response = await fetch(API + path, { ...how, headers, cache: "no-store" }).catch(() => null);
  if (response === null) throw new Refused(0, "");
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Refused(response.status, String(body.error ?? response.status));
}

/** @param {Fields} fields */
function query(fields) {
  return new URLSearchParams(/** @type {Record<string, string>} */ (given(fields)));
}

/** @param {Fields} fields */
function given(fields) {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== "" && value !== null && value !== undefined),
  );
}
