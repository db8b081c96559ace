/** Sends an operator's requests to the admin port. The key stays in this tab's sessionStorage, and is sent only there. */

const KEY_NAME = "holdfast-admin-key";
const API = "/admin/api/";
const MOST_PAGES = 100;
const WITHIN_MS = 60_000;
/** Lists whose pages have a limit. */
const PAGED = ["identifiers", "bans", "invitations", "acts"];

/** A refusal: the HTTP status, 0 without a response, and the service's words. */
export class Refused extends Error {
  declare status: number;

  constructor(status: number, words: string) {
    super(words);
    this.status = status;
  }
}

export type Fields = Record<string, string | number | null | undefined>;

/** seconds since 1970, or RFC 3339 */
type Time = string | number;

/** The rows of each list. */
export interface Lists {
  identifiers: {
    channel: string;
    identifier: string;
    did: string;
    state: string;
    created_at: Time;
    confirmed: number;
    pending: number;
  };
  bans: { subject: string; at: Time; reason: string };
  invitations: { number: string; uses: number; left: number; expires_at: Time; revoked_at: Time | null };
  counts: { day: string; channel: string; claimed: number; registered: number };
  acts: { at: Time; operator: string; action: string; channel: string; key: string; did: string };
}

/** All that is stored about one identifier; null: no one has claimed it. */
export interface Identifier {
  claim: { channel: string; did: string; stage: string; created_at: Time; registered_at: Time | null } | null;
  credentials: { credential: string; confirmation: string; created_at: Time }[];
  history: { at: Time; action: string; did: string; operator: string }[];
}

export function keepKey(key: string) {
  sessionStorage.setItem(KEY_NAME, key);
}

export function forgetKey() {
  sessionStorage.removeItem(KEY_NAME);
}

export function hasKey() {
  return sessionStorage.getItem(KEY_NAME) !== null;
}

/** @returns `T`: what the path has (wire/admin_endpoints.py) */
export async function get<T>(path: string, fields: Fields = {}): Promise<T> {
  return sent(`${path}?${query(fields)}`, {}, (it) => it.json());
}

export async function post<T>(path: string, fields: Fields): Promise<T> {
  return sent(path, { method: "POST", body: JSON.stringify(given(fields)) }, (it) => it.json());
}

/** Saves a list as CSV. */
export async function saveCsv(path: string, fields: Fields) {
  const limit = PAGED.includes(path) ? 1000 : null;
  const rows = await allPages((after) =>
    sent(`${path}?${query({ ...fields, limit, after, format: "csv" })}`, {}, async (response) => ({
      rows: await response.text(),
      after: decodeURIComponent(response.headers.get("x-after") ?? ""),
    })),
  );
  save(new Blob([rows], { type: "text/csv" }), `${path}.csv`);
}

/**
 * Returns the CSV of all pages of a list, up to MOST_PAGES.
 *
 * @param read a page; `after`: where the one before ended
 */
export async function allPages(read: (after: string) => Promise<{ rows: string; after: string }>) {
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

export function save(data: Blob, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** @throws {Refused} also if `read` fails: the answer stopped midway, or is not the port's */
async function sent<T>(path: string, how: RequestInit, read: (response: Response) => Promise<T>): Promise<T> {
  const headers = { authorization: `Bearer ${sessionStorage.getItem(KEY_NAME)}` };
  const signal = AbortSignal.timeout(WITHIN_MS);
  const unread = () => Promise.reject(new Refused(0, ""));
  const response = await fetch(API + path, { ...how, headers, signal, cache: "no-store" }).catch(unread);
  if (response.ok) return read(response).catch(unread);
  const body = await response.json().catch(() => ({}));
  throw new Refused(response.status, String(body.error ?? response.status));
}

function query(fields: Fields) {
  return new URLSearchParams(given(fields) as Record<string, string>);
}

function given(fields: Fields) {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== "" && value !== null && value !== undefined),
  );
}
