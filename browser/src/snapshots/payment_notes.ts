/**
 * What a vault's devices note about its payments, and how they seal these notes for each other (docs/formats.md).
 *
 * Notes are a set: the union of two sets needs no decision, unlike two versions of a vault.
 */

import { jsonOf } from "../http/http.ts";
import type { Sent as Note } from "../kit/stored.ts";

/**
 * What the vault's key signs, as 32 bytes of text: no hash of a message, so nothing else ever signs it, and under a
 * token nothing bare is signed (decision 0321).
 */
export const DIGEST = utf8("holdfast/payment-notes/the-key/1");
const PURPOSE = "holdfast/payment-notes/v1";
const [VERSION, NONCE_BYTES, KEY_BYTES, BLOCK] = [1, 12, 32, 4096];
const MAX_NOTES = 1000;
const HASH = /^0x[0-9a-f]{64}$/;
const ORDER = { sent: 0, failed: 1, confirmed: 2 };
const TEXTS = ["hash", "to", "amount", "symbol", "time", "state"];
const OPTIONAL = ["address", "shop", "label"];

export type NotesKey = { seal: CryptoKey; nonce: CryptoKey };

/**
 * Returns the keys of one vault's notes.
 * @param signature of `DIGEST` by the DID's key, r followed by s, deterministic (RFC 6979)
 */
export async function notesKey(signature: Uint8Array<ArrayBuffer>): Promise<NotesKey> {
  const secret = await crypto.subtle.importKey("raw", signature, "HKDF", false, ["deriveBits"]);
  const how = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: utf8(PURPOSE) };
  const bits = await crypto.subtle.deriveBits(how, secret, 16 * KEY_BYTES);
  const [seal, nonce] = [bits.slice(0, KEY_BYTES), bits.slice(KEY_BYTES)];
  return {
    seal: await crypto.subtle.importKey("raw", seal, "AES-GCM", false, ["encrypt", "decrypt"]),
    nonce: await crypto.subtle.importKey("raw", nonce, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]),
  };
}

/**
 * Returns the union, oldest first. An outcome counts more than "sent"; else ours counts.
 * @returns at most a thousand
 */
export function merged(ours: Note[], theirs: Note[]): Note[] {
  const union: Map<string, Note> = new Map();
  for (const note of [...ours, ...theirs]) {
    const known = union.get(note.hash);
    if (!known || ORDER[note.state] > ORDER[known.state]) union.set(note.hash, note);
  }
  const sortKey = ({ time, hash }: Note) => `${time} ${hash}`;
  return [...union.values()].sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1)).slice(-MAX_NOTES);
}

/**
 * Seals notes for the devices of the vault with this DID. The nonce is derived from the text, so the same notes have
 * the same bytes, and a repeated upload adds nothing. Spaces fill the text, so that its length says little.
 */
export async function sealed(key: NotesKey, did: string, notes: Note[]) {
  const text = utf8(JSON.stringify({ payments: notes }));
  const filled = new Uint8Array(Math.ceil(text.length / BLOCK) * BLOCK).fill(0x20);
  filled.set(text);
  const nonce = new Uint8Array(await crypto.subtle.sign("HMAC", key.nonce, filled)).slice(0, NONCE_BYTES);
  const rest = await crypto.subtle.encrypt(boundTo(did, nonce), key.seal, filled);
  return new Uint8Array([VERSION, ...nonce, ...new Uint8Array(rest)]);
}

/** @returns null for bytes that no device of this vault has sealed, or in a form that is not known */
export async function unsealed(key: NotesKey, did: string, data: Uint8Array<ArrayBuffer>): Promise<Note[] | null> {
  const [nonce, rest] = [data.slice(1, 1 + NONCE_BYTES), data.slice(1 + NONCE_BYTES)];
  if (data[0] !== VERSION || nonce.length !== NONCE_BYTES) return null;
  try {
    const text = await crypto.subtle.decrypt(boundTo(did, nonce), key.seal, rest);
    const { payments } = jsonOf(new Uint8Array(text)) as { payments?: unknown };
    return Array.isArray(payments) ? readNotes(payments) : null;
  } catch {
    return null;
  }
}

/** Returns the rows that are notes; others, perhaps of a later release, are left out. */
export function readNotes(rows: unknown[]) {
  return rows.map(noteOf).filter((note) => note !== null);
}

function noteOf(value: unknown): Note | null {
  const row = (value ?? {}) as Record<string, string>; // of texts, or it is left out
  const texts = TEXTS.every((name) => typeof row[name] === "string");
  const others = OPTIONAL.every((name) => ["string", "undefined"].includes(typeof (row[name] ?? undefined)));
  if (!texts || !others || !HASH.test(row.hash) || !Object.hasOwn(ORDER, row.state) || !isTime(row.time)) return null;
  const known = [...TEXTS, ...OPTIONAL].filter((name) => row[name] !== undefined && row[name] !== null);
  // Half a character of UTF-16, perhaps of a shop's text, could not be read by the Python client, nor the other notes.
  return Object.fromEntries(known.map((name) => [name, row[name].toWellFormed()])) as Note;
}

/** Whether a text is a time as `toISOString` writes it; another could not be shown, or sorted as Python does. */
function isTime(text: string) {
  const moment = new Date(text);
  return /^\d/.test(text) && !Number.isNaN(moment.getTime()) && moment.toISOString() === text;
}

function boundTo(did: string, iv: Uint8Array<ArrayBuffer>) {
  return { name: "AES-GCM", iv, additionalData: utf8(`${PURPOSE}\n${did}`) };
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
