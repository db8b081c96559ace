/** Encodes and strictly decodes DAG-CBOR (IPLD). Because the bytes are untrusted, every error is a ContentError. */

import { isSame } from "../bytes.ts";
import { Token, Tokenizer, Type, decode as decodeCbor, encode as encodeCbor } from "./cbor.ts";
import { isSupported } from "./cids.ts";
import { type ContentCode, ContentError } from "./content_error.ts";

/** The maximum nesting depth, as in the enclave. */
const DEEPEST = 32;
/** The maximum number of items, as in Python: a snapshot's root has about 40. */
const MAX_ITEMS = 256;
const LINK_TAG = 42;
/** cborg's decoder drops a byte order mark, and replaces what is not UTF-8. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A link to another block, which contains the bytes of its CID. */
export class Link {
  declare bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** A number that is encoded as a float. */
export class Float {
  declare value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** Encodes strings, whole numbers, bytes, links, floats, null, booleans, and lists and objects of these. */
export function encode(value: unknown): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(encodeCbor(value, { float64: true, typeEncoders: { Object: tokensOf } }));
}

/** @param value an object */
function tokensOf(value: unknown) {
  if (value instanceof Float) return new Token(Type.float, value.value);
  if (!(value instanceof Link)) return null;
  return [new Token(Type.tag, LINK_TAG), new Token(Type.bytes, Uint8Array.of(0, ...value.bytes))];
}

/**
 * Decodes DAG-CBOR. The caller limits the length. Only one encoding of a value is DAG-CBOR, so the bytes must be what
 * `encode` makes of the value.
 * @param code of the error if the bytes are not DAG-CBOR
 * @param what they are, with its verb
 * @returns whole numbers above 2^53 - 1 are bigints, floats are Float
 * @throws {ContentError}
 */
export function decode(
  data: Uint8Array,
  code: ContentCode = "invalid_dag_cbor",
  what: string = "the bytes are",
): unknown {
  try {
    const value = decodeCbor(data, { ...OPTIONS, tokenizer: new LimitedTokenizer(data, OPTIONS) });
    if (isSame(encode(value), data)) return value;
  } catch (cause) {
    throw new ContentError(code, `${what} not DAG-CBOR`, { cause });
  }
  throw new ContentError(code, `${what} not DAG-CBOR in its only form`);
}

/** @param content decodes what the tag is about */
function linkOf(content: () => unknown) {
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

  override next() {
    const token = super.next();
    const { type, value, byteValue, encodedLength } = token;
    if (!this.#isLink) this.#count(type === Type.array ? value : type === Type.map ? 2 * value : null);
    this.#isLink = type === Type.tag; // and the bytes that follow are the same item
    if (type === Type.string) return new Token(type, utf8.decode(byteValue), encodedLength);
    return type === Type.float ? new Token(type, new Float(value), encodedLength) : token;
  }

  /** @param contained how many items a list or map contains */
  #count(contained: number | null) {
    this.#left -= 1;
    while (this.#needed.at(-1) === 0) this.#needed.pop();
    const isTooDeep = contained !== null && this.#needed.length > DEEPEST;
    if (this.#left < 0 || isTooDeep) throw new RangeError("too many or too deep items");
    this.#needed.push((this.#needed.pop() as number) - 1);
    if (contained) this.#needed.push(contained);
  }
}
