/** Encodes and strictly decodes DAG-CBOR (IPLD). Because the bytes are untrusted, every error is a ContentError. */

import { isSupported } from "./cids.js";
import { ContentError } from "./content_error.js";
import { plain } from "./varints.js";

/** The maximum nesting depth, as in the enclave. */
const DEEPEST = 32;
/** The maximum number of items, as in Python: a snapshot's root has about 40. */
const MAX_ITEMS = 256;
const LINK_TAG = 42;
const UNSIGNED = 0,
  NEGATIVE = 1,
  BYTES = 2,
  TEXT = 3,
  LIST = 4,
  MAP = 5,
  TAG = 6;
const utf8 = new TextEncoder();
const strictly = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A link to another block, which contains the bytes of its CID. */
export class Link {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
  }
}

/** A number that is encoded as a float. */
export class Float {
  /** @param {number} value */
  constructor(value) {
    this.value = value;
  }
}

/**
 * Encodes strings, whole numbers, bytes, links, null, booleans, and lists and objects of these.
 *
 * @param {any} value
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function encode(value) {
  return Uint8Array.from(pieces(value).flatMap((piece) => [...piece]));
}

/** @param {any} value @returns {Iterable<number>[]} */
function pieces(value) {
  if (value === null) return [[0xf6]];
  if (typeof value === "boolean") return [[value ? 0xf5 : 0xf4]];
  if (typeof value === "number") return [value < 0 ? head(NEGATIVE, -1 - value) : head(UNSIGNED, value)];
  if (typeof value === "string") return [head(TEXT, utf8.encode(value).length), utf8.encode(value)];
  if (value instanceof Uint8Array) return [head(BYTES, value.length), value];
  if (value instanceof Link) return [head(TAG, LINK_TAG), head(BYTES, value.bytes.length + 1), [0], value.bytes];
  if (Array.isArray(value)) return [head(LIST, value.length), ...value.flatMap(pieces)];
  const fields = Object.entries(value).sort(([one], [other]) => order(utf8.encode(one), utf8.encode(other)));
  return [head(MAP, fields.length), ...fields.flatMap(([name, item]) => [...pieces(name), ...pieces(item)])];
}

/**
 * @param {number} major
 * @param {number} number at most 2^53 - 1
 */
function head(major, number) {
  const size = number < 24 ? 0 : number < 0x100 ? 1 : number < 0x10000 ? 2 : number < 0x100000000 ? 4 : 8;
  const bytes = [(major << 5) | (size ? 24 + Math.log2(size) : number)];
  for (let at = size - 1; at >= 0; at -= 1) bytes.push(Math.floor(number / 256 ** at) % 256);
  return bytes;
}

/** @param {Uint8Array} one @param {Uint8Array} other */
function order(one, other) {
  if (one.length !== other.length) return one.length - other.length;
  const at = one.findIndex((byte, index) => byte !== other[index]);
  return at < 0 ? 0 : one[at] - other[at];
}

/**
 * Decodes DAG-CBOR. The caller limits the length.
 *
 * @param {Uint8Array} data
 * @returns {any} objects have no prototype; whole numbers above 2^53 - 1 are bigints, floats are Float
 * @throws {ContentError} the bytes are not DAG-CBOR
 */
export function decode(data) {
  const reader = new Reader(data);
  const value = reader.value(0);
  if (reader.at !== data.length) throw invalid();
  return value;
}

/** A position in the bytes. */
class Reader {
  at = 0;
  left = MAX_ITEMS;

  /** @param {Uint8Array} data */
  constructor(data) {
    this.data = data;
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  /** @param {number} depth @returns {any} */
  value(depth) {
    this.left -= 1;
    if (this.left < 0 || depth > DEEPEST) throw invalid();
    const first = this.take(1)[0];
    const major = first >> 5;
    if (major === 7) return this.simple(first & 31);
    const number = this.number(first & 31);
    if (major === UNSIGNED) return plain(number);
    if (major === NEGATIVE) return plain(-1n - number);
    if (major !== TAG && number > BigInt(this.data.length)) throw invalid();
    return this.compound(major, Number(number), depth);
  }

  /** @param {number} major @param {number} count @param {number} depth */
  compound(major, count, depth) {
    if (major === BYTES) return this.take(count).slice();
    if (major === TEXT) return this.text(this.take(count));
    if (major === LIST) return Array.from({ length: count }, () => this.value(depth + 1));
    return major === MAP ? this.map(count, depth) : this.link(count);
  }

  /** @param {Uint8Array} bytes */
  text(bytes) {
    try {
      return strictly.decode(bytes);
    } catch (cause) {
      throw invalid(cause);
    }
  }

  /** @param {number} count @param {number} depth */
  map(count, depth) {
    const fields = Object.create(null);
    /** @type {Uint8Array | null} */
    let before = null;
    for (let index = 0; index < count; index += 1) {
      const begin = this.at;
      const name = this.value(depth + 1);
      const spelled = utf8.encode(String(name));
      if (typeof name !== "string" || this.data[begin] >> 5 !== TEXT || (before && order(before, spelled) >= 0))
        throw invalid();
      fields[name] = this.value(depth + 1);
      before = spelled;
    }
    return fields;
  }

  /** @param {number} tag */
  link(tag) {
    const bytes = tag === LINK_TAG && this.data[this.at] >> 5 === BYTES ? this.value(DEEPEST) : null;
    if (!bytes || bytes[0] !== 0 || !isSupported(bytes.subarray(1))) throw invalid();
    return new Link(bytes.subarray(1));
  }

  /** @param {number} kind */
  simple(kind) {
    if (kind === 20 || kind === 21) return kind === 21;
    if (kind === 22) return null;
    if (kind !== 27) throw invalid();
    this.take(8);
    const value = this.view.getFloat64(this.at - 8);
    if (!Number.isFinite(value)) throw invalid();
    return new Float(value);
  }

  /** @param {number} kind @returns {bigint} in its shortest form */
  number(kind) {
    if (kind < 24) return BigInt(kind);
    if (kind > 27) throw invalid();
    const size = 2 ** (kind - 24);
    const value = this.take(size).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    if (value < (size === 1 ? 24n : 1n << BigInt(size * 4))) throw invalid();
    return value;
  }

  /** @param {number} count */
  take(count) {
    if (count > this.data.length - this.at) throw invalid();
    this.at += count;
    return this.data.subarray(this.at - count, this.at);
  }
}

/** @param {unknown} [cause] */
function invalid(cause) {
  return new ContentError("invalid_dag_cbor", "the bytes are not DAG-CBOR", { cause });
}
