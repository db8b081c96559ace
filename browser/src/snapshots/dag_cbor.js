/** Encodes and strictly decodes DAG-CBOR (IPLD). Because the bytes are untrusted, every error is a ContentError. */

import { isSame } from "../bytes.js";
import { Token, Tokenizer, Type, decode as decodeCbor, encode as encodeCbor } from "./cbor.js";
import { isSupported } from "./cids.js";
import { ContentError } from "./content_error.js";

/** @import {ContentCode} from "./content_error.js" */

/** The maximum nesting depth, as in the enclave. */
const DEEPEST = 32;
/** The maximum number of items, as in Python: a snapshot's root has about 40. */
const MAX_ITEMS = 256;
const LINK_TAG = 42;
/** cborg's decoder drops a byte order mark, and replaces what is not UTF-8. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

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
 * Encodes strings, whole numbers, bytes, links, floats, null, booleans, and lists and objects of these.
 * @param {any} value @returns {Uint8Array<ArrayBuffer>}
 */
export function encode(value) {
  return Uint8Array.from(encodeCbor(value, { float64: true, typeEncoders: { Object: tokensOf } }));
}

/** @param {any} value an object */
function tokensOf(value) {
  if (value instanceof Float) return new Token(Type.float, value.value);
  if (!(value instanceof Link)) return null;
  return [new Token(Type.tag, LINK_TAG), new Token(Type.bytes, Uint8Array.of(0, ...value.bytes))];
}

/**
 * Decodes DAG-CBOR. The caller limits the length. Only one encoding of a value is DAG-CBOR, so the bytes must be what
 * `encode` makes of the value.
 * @param {Uint8Array} data
 * @param {ContentCode} [code] of the error if the bytes are not DAG-CBOR
 * @param {string} [what] they are, with its verb
 * @returns {any} whole numbers above 2^53 - 1 are bigints, floats are Float
 * @throws {ContentError}
 */
export function decode(data, code = "invalid_dag_cbor", what = "the bytes are") {
  try {
    const value = decodeCbor(data, { ...OPTIONS, tokenizer: new LimitedTokenizer(data, OPTIONS) });
    if (isSame(encode(value), data)) return value;
  } catch (cause) {
    throw new ContentError(code, `${what} not DAG-CBOR`, { cause });
  }
  throw new ContentError(code, `${what} not DAG-CBOR in its only form`);
}

/** @param {() => unknown} content decodes what the tag is about */
function linkOf(content) {
  const bytes = content();
  if (bytes instanceof Uint8Array && bytes[0] === 0 && isSupported(bytes.subarray(1))) return new Link(bytes.slice(1));
  throw new TypeError("a link contains a CID");
}

const OPTIONS = {
  strict: true,
  allowIndefinite: false,
  allowUndefined: false,
  allowInfinity: false,
  allowNaN: false,
  allowBigInt: true,
  rejectDuplicateMapKeys: true,
  retainStringBytes: true,
  tags: { [LINK_TAG]: linkOf },
};

/** Reads the items one after another, up to the limits. */
class LimitedTokenizer extends Tokenizer {
  #left = MAX_ITEMS;
  /** How many items each open list or map still needs. */
  #needed = [Infinity];
  #isLink = false;

  next() {
    const token = super.next();
    const { type, value, byteValue, encodedLength } = token;
    if (!this.#isLink) this.#count(type === Type.array ? value : type === Type.map ? 2 * value : null);
    this.#isLink = type === Type.tag; // and the bytes that follow are the same item
    if (type === Type.string) return new Token(type, utf8.decode(byteValue), encodedLength);
    return type === Type.float ? new Token(type, new Float(value), encodedLength) : token;
  }

  /** @param {number | null} contained how many items a list or map contains */
  #count(contained) {
    this.#left -= 1;
    while (this.#needed.at(-1) === 0) this.#needed.pop();
    const isTooDeep = contained !== null && this.#needed.length > DEEPEST;
    if (this.#left < 0 || isTooDeep) throw new RangeError("too many or too deep items");
    this.#needed.push(/** @type {number} */ (this.#needed.pop()) - 1);
    if (contained) this.#needed.push(contained);
  }
}
