/**
 * The snapshot of a sealed vault: a DAG-CBOR root {manifest, size, blocks} over raw blocks of at most 1 MiB.
 *
 * The root of an older snapshot is {manifest, vault} with one raw block. Snapshots of the older form can still be read.
 */

import { joined } from "../bytes.ts";
import { insteadOf } from "../errors.ts";
import type { VaultManifest } from "../generated/types.ts";
import { MAX_LEGACY_BLOCK_BYTES, MAX_ROOT_BYTES, fieldsIn, readCar } from "./cars.ts";
import { type Block, blockOf, cidBytes, codecOf, isCid, MAX_BLOCK_BYTES, textOf, verified } from "./cids.ts";
import { ContentError } from "./content_error.ts";
import { Link, decode, encode } from "./dag_cbor.ts";

export const MAX_SEALED_BYTES = MAX_LEGACY_BLOCK_BYTES;
const MAX_DELEGATION_BYTES = 8 << 10;
const MAX_DID_CHARACTERS = 512;
const MAX_VERSION_CHARACTERS = 128;
const FIELDS = "did,rootCid,schemaVersion,updatedAt,wasmVersion";

/** blocks by CID */
type Blocks = Map<string, Uint8Array<ArrayBuffer>>;

/**
 * `rootCid`: the snapshot before this one; `delegation`: authorises the publishing key to publish the vault's snapshots
 */
type Manifest = VaultManifest & { delegation?: Uint8Array };

/** `size`: the sealed vault's bytes, null in a root of the older form */
type Root = { cid: string; manifest: Manifest; size: number | null; blocks: string[] };

/** the root's block first */
export type Snapshot = { rootCid: string; manifest: Manifest; sealed: Uint8Array<ArrayBuffer>; blocks: Block[] };

/**
 * Builds the snapshot of a sealed vault. The same input always yields the same root.
 * @throws {ContentError} an empty vault, or one over 16 MiB
 */
export async function snapshotOf(manifest: Manifest, sealed: Uint8Array<ArrayBuffer>): Promise<Snapshot> {
  if (sealed.length === 0 || sealed.length > MAX_SEALED_BYTES)
    throw new ContentError("vault_too_large", `a sealed vault has 1 to ${MAX_SEALED_BYTES} bytes`);
  const parts = [];
  for (let at = 0; at < sealed.length; at += MAX_BLOCK_BYTES)
    parts.push(await blockOf("raw", sealed.slice(at, at + MAX_BLOCK_BYTES)));
  const blocks = parts.map((part) => new Link(cidBytes(part.cid)));
  const root = await blockOf("dag-cbor", encode({ manifest: namedFields(manifest), size: sealed.length, blocks }));
  return { rootCid: root.cid, manifest, sealed, blocks: [root, ...parts] };
}

/**
 * Reads the snapshot in a CAR file. Blocks that do not belong to it are ignored. Gateways may write a header that names
 * no root or several: then it is the file's only snapshot, or the newest if it leads to all others.
 * @throws {ContentError} a block does not match its CID, or is missing
 */
export async function snapshotOfCar(data: Uint8Array<ArrayBuffer>): Promise<Snapshot> {
  const { root: cid, blocks } = await readCar(data);
  const root = cid === null ? await newestOf(blocks) : await readRoot({ cid, data: found(cid, blocks) });
  return assembled(root, blocks);
}

async function newestOf(blocks: Blocks) {
  const read = await Promise.all(
    [...blocks].map(([cid, data]) => readRoot({ cid, data }).catch(insteadOf(ContentError, null))),
  );
  const roots = read.filter((root) => root !== null);
  const before = new Set(roots.map(({ manifest }) => manifest.rootCid));
  const last = roots.filter(({ cid }) => !before.has(cid));
  if (last.length !== 1)
    throw new ContentError("other_roots", `the CAR file names no single root and holds ${last.length} snapshots`);
  return last[0];
}

/**
 * Reads a root of the current or the older form from its block, after checking the block's bytes.
 * @throws {ContentError}
 */
export async function readRoot({ cid, data }: Block): Promise<Root> {
  if (data.length > MAX_ROOT_BYTES)
    throw new ContentError("block_too_large", `a snapshot's root has more than ${MAX_ROOT_BYTES} bytes`);
  if (codecOf(cid) !== "dag-cbor") throw new ContentError("invalid_root", "a snapshot's root is a DAG-CBOR block");
  const { names, fields } = fieldsIn(decode(await verified(cid, data)));
  const { manifest, size, blocks, vault } = fields;
  if (names === "manifest,vault")
    return { cid, manifest: readManifest(manifest), size: null, blocks: [readLink(vault)] };
  if (names !== "blocks,manifest,size" || !Array.isArray(blocks))
    throw new ContentError("invalid_root", "the block is not the root of a snapshot");
  const whole = readSize(size, blocks.length);
  return { cid, blocks: blocks.map(readLink), manifest: readManifest(manifest), size: whole };
}

/**
 * Assembles the snapshot from a root and its blocks. Blocks that the root does not link to are ignored.
 * @param blocks including the root's block
 * @throws {ContentError} a block is missing or wrong
 */
export async function assembled(root: Root, blocks: Blocks): Promise<Snapshot> {
  const sealed = await sealedOf(root, blocks);
  const listed = [...new Set([root.cid, ...root.blocks])].map((cid) => ({ cid, data: found(cid, blocks) }));
  return { rootCid: root.cid, manifest: root.manifest, sealed, blocks: listed };
}

/** @returns the sealed vault @throws {ContentError} a block is missing or wrong */
export async function sealedOf(root: Root, blocks: Blocks): Promise<Uint8Array<ArrayBuffer>> {
  const parts = [];
  for (const cid of root.blocks) parts.push(await verified(cid, found(cid, blocks)));
  const sealed = joined(parts);
  const whole = parts.slice(0, -1).every((part) => part.length === MAX_BLOCK_BYTES);
  if (root.size !== null && (!whole || sealed.length !== root.size))
    throw new ContentError("other_size", "the blocks of a snapshot have other lengths than its root says");
  return sealed;
}

function found(cid: string, blocks: Blocks) {
  const data = blocks.get(cid);
  if (!data) throw new ContentError("block_missing", "a block of the snapshot is missing");
  return data;
}

function namedFields({ rootCid, did, updatedAt, wasmVersion, delegation }: Manifest) {
  return { rootCid, did, updatedAt, wasmVersion, schemaVersion: 1, ...(delegation && { delegation }) };
}

function readSize(size: unknown, count: number) {
  const fits =
    typeof size === "number" && size > 0 && size <= MAX_SEALED_BYTES && count === Math.ceil(size / MAX_BLOCK_BYTES);
  if (!fits) throw new ContentError("other_size", "a snapshot's size does not fit its number of blocks");
  return size;
}

function readLink(value: unknown) {
  const cid = value instanceof Link ? textOf(value.bytes) : "";
  if (!isCid(cid, "raw"))
    throw new ContentError("invalid_root", "a link in a snapshot's root does not point to a raw block");
  return cid;
}

function readManifest(value: unknown): Manifest {
  const { delegation, ...rest } = fieldsIn(value).fields;
  const { names, fields } = fieldsIn(rest);
  if (names !== FIELDS)
    throw new ContentError("invalid_manifest", "a snapshot's manifest does not have the documented fields");
  const { rootCid, did, updatedAt, wasmVersion, schemaVersion } = fields;
  const wellFormed =
    (rootCid === null || isCid(rootCid, "dag-cbor")) &&
    isText(did, MAX_DID_CHARACTERS) &&
    isText(wasmVersion, MAX_VERSION_CHARACTERS) &&
    typeof updatedAt === "number" &&
    Number.isSafeInteger(updatedAt) &&
    updatedAt >= 0 &&
    schemaVersion === 1 &&
    (delegation === undefined || isDelegation(delegation));
  if (!wellFormed)
    throw new ContentError("invalid_manifest", "a field of a snapshot's manifest does not have the documented form");
  return { rootCid, did, updatedAt, wasmVersion, schemaVersion, ...(delegation && { delegation }) };
}

/** @param longest limit in characters as Python counts them (code points) */
function isText(value: unknown, longest: number): value is string {
  return typeof value === "string" && value.length > 0 && [...value].length <= longest;
}

function isDelegation(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length > 0 && value.length <= MAX_DELEGATION_BYTES;
}
