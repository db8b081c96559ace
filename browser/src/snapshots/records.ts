/**
 * Reads and verifies IPNS records, in which a publishing key signs which snapshot is the newest (IPNS specification).
 */

import { isSame, joined } from "../bytes.ts";
import { isMap } from "./cars.ts";
import { isCid } from "./cids.ts";
import { ContentError } from "./content_error.ts";
import { decode } from "./dag_cbor.ts";
import { keyBytes, publicKeyOf } from "./names.ts";
import { decodeVarint } from "./varints.ts";

export const RECORD_TYPE = "application/vnd.ipfs.ipns-record";
export const MAX_RECORD_BYTES = 10 << 10;
const MAX_TTL_NS = (1n << 63n) - 1n;
const PREFIX = new TextEncoder().encode("ipns-signature:");
const PATH = "/ipfs/";
const [NUMBER, OCTETS] = [0, 2];
/** The lengths of the other Protocol Buffers types in bytes. */
const FIXED: Record<number, number> = { 1: 8, 5: 4 };
const MAX_FIELDS = 32;
const [SIGNATURE_V1, PUBLIC_KEY, SIGNATURE, DATA] = [2, 7, 8, 9];
/** The Protocol Buffers wire types of the fields that a record may have: octets (2) or a number (0). */
const FORM: Record<number, number> = { 1: 2, 2: 2, 3: 0, 4: 2, 5: 0, 6: 0, 7: 2, 8: 2, 9: 2 };
/** The fields of version 1, which repeat the values of the signed data. */
const V1: Record<number, string> = { 1: "Value", 3: "ValidityType", 4: "Validity", 5: "Sequence", 6: "TTL" };
/** RFC 3339, section 5.6, with at most nine digits of a second. */
const TIME = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** A record with a valid signature. The record may have expired (see `isExpired`). */
export interface IpnsRecord {
  /** the 32 bytes of the key that signed it */ publicKey: Uint8Array;
  /** the snapshot that it points to */ rootCid: string;
  /** increases with every change */ sequence: number;
  /** when it expires, in nanoseconds since 1970 */ validityNs: bigint;
  /** the bytes of the whole record */ data: Uint8Array;
}

/** `renewed`: the same snapshot and sequence, valid for longer; `conflict`: the same sequence for another snapshot */
type Change = "newer" | "renewed" | "same" | "older" | "conflict";

/** field values by number */
type Fields = Record<number, number | bigint | Uint8Array<ArrayBuffer>>;

/**
 * Reads and verifies the record published under a name or a 32-byte Ed25519 public key. An expired record is accepted,
 * and the caller may refuse it.
 * @throws {ContentError} it is not canonical, not signed by the name's key, or does not point to a snapshot's root
 */
export async function readRecord(name: string | Uint8Array, data: Uint8Array<ArrayBuffer>): Promise<IpnsRecord> {
  const publicKey = typeof name === "string" ? publicKeyOf(name) : name;
  if (data.length > MAX_RECORD_BYTES)
    throw new ContentError("record_too_large", `an IPNS record has at most ${MAX_RECORD_BYTES} bytes`);
  const fields = fieldsOf(data);
  if (PUBLIC_KEY in fields && !isEqual(fields[PUBLIC_KEY], keyBytes(publicKey)))
    throw new ContentError("other_key", "the record carries another key than its name");
  const { [DATA]: signed, [SIGNATURE]: signature } = fields;
  if (!(signed instanceof Uint8Array) || !(signature instanceof Uint8Array))
    throw new ContentError("invalid_record", "the record has no data or no signature of version 2");
  await checkSignature(publicKey, signature, signed);
  const entry = readEntry(signed);
  checkV1(fields, entry);
  return recordOf(publicKey, entry, data);
}

export function isExpired(record: IpnsRecord, nowMs: number) {
  return record.validityNs <= BigInt(Math.floor(nowMs)) * 1_000_000n;
}

/** Compares a record with the known record of the same name. */
export function changeOf(known: IpnsRecord | null, given: IpnsRecord): Change {
  if (!known || given.sequence > known.sequence) return "newer";
  if (given.sequence < known.sequence) return "older";
  if (given.rootCid !== known.rootCid) return "conflict";
  return given.validityNs > known.validityNs ? "renewed" : "same";
}

/** Decodes the Protocol Buffers of a record: numbers and bytes, each field at most once. Skips unknown fields. */
function fieldsOf(data: Uint8Array<ArrayBuffer>): Fields {
  const fields: Fields = {};
  for (let at = 0, count = 1; at < data.length; count += 1) {
    const tag = varint(data, at);
    const number = Number(BigInt(tag.value) >> 3n);
    const kind = Number(BigInt(tag.value) & 7n);
    if (count > MAX_FIELDS || number in fields || (number in FORM && FORM[number] !== kind))
      throw new ContentError(
        "invalid_record",
        "the record has too many fields, one of them twice, or one of a different type",
      );
    const { value, end } = fieldValue(data, tag.end, kind);
    if (number in FORM) fields[number] = value;
    at = end;
  }
  return fields;
}

function fieldValue(data: Uint8Array<ArrayBuffer>, at: number, kind: number) {
  if (kind === NUMBER) return varint(data, at);
  const begin = kind === OCTETS ? varint(data, at) : { value: FIXED[kind], end: at };
  const end = begin.end + Number(begin.value);
  if (!(end <= data.length))
    throw new ContentError("invalid_record", "the record is cut short, or a field of a type that is no longer used");
  return { value: data.slice(begin.end, end), end };
}

function varint(data: Uint8Array, at: number) {
  try {
    const found = decodeVarint(data, at, 10);
    if (found) return found;
  } catch (cause) {
    throw new ContentError("invalid_record", "a number in the record is longer than it needs to be", { cause });
  }
  throw new ContentError("invalid_record", "the record is cut short");
}

async function checkSignature(publicKey: Uint8Array, signature: Uint8Array<ArrayBuffer>, signed: Uint8Array) {
  let holds = false;
  try {
    const key = await crypto.subtle.importKey("raw", Uint8Array.from(publicKey), "Ed25519", false, ["verify"]);
    holds = await crypto.subtle.verify("Ed25519", key, signature, joined([PREFIX, signed]));
  } catch (cause) {
    if (cause instanceof Error && cause.name === "NotSupportedError")
      throw new ContentError("unsupported", "this browser cannot verify Ed25519 signatures: use a current one", {
        cause,
      });
  }
  if (!holds) throw new ContentError("invalid_signature", "the record is not signed by the key of its name");
}

function readEntry(signed: Uint8Array) {
  const entry = decode(signed, "invalid_data", "the record's data is");
  // Unexpected fields are ignored (IPNS specification, "Record Verification"), because later versions add some.
  if (!isMap(entry) || !Object.values(V1).every((name) => name in entry))
    throw new ContentError("invalid_data", "the record's data lacks a field");
  return entry;
}

function checkV1(fields: Fields, entry: Record<string, unknown>) {
  if (![SIGNATURE_V1, ...Object.keys(V1)].some((number) => number in fields)) return;
  if (Object.entries(V1).some(([number, name]) => !isEqual(fields[Number(number)], entry[name])))
    throw new ContentError("v1_mismatch", "the record's fields of version 1 differ from its data");
}

function isEqual(one: unknown, other: unknown) {
  return one instanceof Uint8Array && other instanceof Uint8Array ? isSame(one, other) : one === other;
}

function recordOf(publicKey: Uint8Array, entry: Record<string, unknown>, data: Uint8Array<ArrayBuffer>) {
  const { Sequence: sequence, TTL: ttl, ValidityType: type } = entry;
  if (!(isCount(sequence) && isCount(ttl) && isCount(type)))
    throw new ContentError("invalid_data", "a number in the record's data does not have the documented form");
  if (typeof sequence === "bigint" || BigInt(ttl) > MAX_TTL_NS || type !== 0)
    throw new ContentError("invalid_data", "a number in the record's data is out of range");
  return { publicKey, rootCid: rootOf(entry.Value), sequence, validityNs: nanoseconds(entry.Validity), data };
}

/** Whether a decoded value is a whole number from 0 on; those above 2^53 - 1 are bigints. */
function isCount(value: unknown): value is number | bigint {
  return (typeof value === "number" || typeof value === "bigint") && value >= 0;
}

function rootOf(value: unknown) {
  const path = value instanceof Uint8Array ? String.fromCharCode(...value) : "";
  if (path.startsWith(PATH) && isCid(path.slice(PATH.length), "dag-cbor")) return path.slice(PATH.length);
  throw new ContentError("invalid_value", "the record does not point to a snapshot's root");
}

function nanoseconds(validity: unknown) {
  const text = validity instanceof Uint8Array ? String.fromCharCode(...validity) : "";
  const [, day, time, fraction = "0", sign, hours = "0", minutes = "0"] = TIME.exec(text) ?? [];
  const moment = Date.parse(`${day}T${time}Z`);
  // Date turns a day that the month does not have into a day of the next month, and there is no year 0.
  if (Number.isNaN(moment) || day.startsWith("0000") || !new Date(moment).toISOString().startsWith(`${day}T${time}`))
    throw new ContentError("invalid_validity", "the record's validity is not a time of RFC 3339");
  const ahead = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000);
  return BigInt(moment - ahead) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}
