/**
 * Reads and writes CAR files (IPLD CAR v1) with one root. The root is written first, and files are read strictly.
 *
 * Every block is checked against its CID, and every length against its limit before memory is allocated for it.
 */

import { joined } from "../bytes.ts";
import { type Block, CID_BYTES, cidBytes, codecOf, textOf, verified } from "./cids.ts";
import { ContentError } from "./content_error.ts";
import { Link, decode, encode } from "./dag_cbor.ts";
import { decodeVarint, encodeVarint } from "./varints.ts";

export const MAX_ROOT_BYTES = 16 << 10;
/**
 * The limit for a vault, 16 MiB, also applies to its blocks, because roots of the older form link to the whole vault in
 * one block.
 */
export const MAX_LEGACY_BLOCK_BYTES = 16 << 20;
const MAX_HEADER_BYTES = 1 << 10;
const MAX_VARINT_BYTES = 5;
const MAX_CAR_BYTES = 17 << 20;
const MAX_BLOCKS = 64; // including repeated ones

/** Writes a CAR file with one root: the header, then each block once, in the given order. */
export function writeCar(root: string, blocks: Iterable<Block>): Uint8Array<ArrayBuffer> {
  const header = encode({ roots: [new Link(cidBytes(root))], version: 1 });
  const sections = [...new Map([...blocks].map((block) => [block.cid, block.data]))].flatMap(([cid, data]) => [
    Uint8Array.from([...encodeVarint(CID_BYTES + data.length), ...cidBytes(cid)]),
    data,
  ]);
  return joined([Uint8Array.from(encodeVarint(header.length)), header, ...sections]);
}

/**
 * Reads a whole CAR file and verifies every block. Returns the root, which is null if the header does not name exactly
 * one, and the blocks by CID.
 * @throws {ContentError} anything else
 */
export async function readCar(
  data: Uint8Array<ArrayBuffer>,
): Promise<{ root: string | null; blocks: Map<string, Uint8Array<ArrayBuffer>> }> {
  if (data.length > MAX_CAR_BYTES)
    throw new ContentError("car_too_large", `the CAR file has more than ${MAX_CAR_BYTES} bytes`);
  const { bytes, end: first } = section(data, 0);
  const root = readHeader(bytes);
  const blocks: Map<string, Uint8Array<ArrayBuffer>> = new Map();
  for (let at = first, count = 1; at < data.length; count += 1) {
    const { bytes: found, end } = section(data, at);
    if (count > MAX_BLOCKS) throw new ContentError("car_too_large", `the CAR file has more than ${MAX_BLOCKS} blocks`);
    const cid = textOf(found.subarray(0, CID_BYTES));
    blocks.set(cid, await verified(cid, found.slice(CID_BYTES)));
    at = end;
  }
  if (root !== null && !blocks.has(root))
    throw new ContentError("block_missing", "the CAR file does not contain its root");
  return { root, blocks };
}

/** The section at 0 is the header. */
function section(data: Uint8Array<ArrayBuffer>, at: number) {
  const found = decodeVarint(data, at, MAX_VARINT_BYTES);
  if (!found) throw new ContentError("cut_short", "the CAR file is cut short");
  const length = Number(found.value);
  if (at && length < CID_BYTES)
    throw new ContentError("section_too_short", "a section of the CAR file is shorter than a CID");
  const longest = at ? CID_BYTES + longestBlock(data.subarray(found.end, found.end + CID_BYTES)) : MAX_HEADER_BYTES;
  const code = at ? "section_too_large" : "header_too_large";
  if (length > longest) throw new ContentError(code, "a section of the CAR file is larger than allowed");
  const end = found.end + length;
  if (end > data.length) throw new ContentError("cut_short", "the CAR file is cut short");
  return { bytes: data.subarray(found.end, end), end };
}

/** Returns the limit for a block, in bytes, which is lower for a root. */
function longestBlock(cid: Uint8Array) {
  return cid.length === CID_BYTES && codecOf(textOf(cid)) === "dag-cbor" ? MAX_ROOT_BYTES : MAX_LEGACY_BLOCK_BYTES;
}

function readHeader(bytes: Uint8Array<ArrayBuffer>) {
  const header = decode(bytes, "invalid_header", "the CAR file's header is");
  const { names, fields } = fieldsIn(header);
  const { roots, version } = fields;
  if (names !== "roots,version" || !Array.isArray(roots))
    throw new ContentError("invalid_header", "the CAR file's header is not that of version 1");
  if (version !== 1) throw new ContentError("invalid_header", "the CAR file's version is not 1");
  if (roots.length !== 1) return null;
  if (!(roots[0] instanceof Link)) throw new ContentError("invalid_dag_cbor", "a link is expected");
  return textOf(roots[0].bytes);
}

/** @returns whether a decoded value has named fields */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** @returns a decoded value's fields, and their names in order; another value has none */
export function fieldsIn(value: unknown): { names: string; fields: Record<string, unknown> } {
  const fields = isMap(value) ? value : {};
  return { names: Object.keys(fields).sort().join(), fields };
}
