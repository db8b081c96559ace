/** Fetches blocks and records from IPFS gateways, and verifies every byte. */

import { MAX_LEGACY_BLOCK_BYTES, MAX_ROOT_BYTES } from "./cars.js";
import { cidBytes, codecOf, verified } from "./cids.js";
import { Http } from "./http.js";
import { NetworkError, RequestRefused, StorageError } from "./library.js";
import { publicKeyOf } from "./names.js";
import { MAX_RECORD_BYTES, RECORD_TYPE, changeOf, readRecord } from "./records.js";
import { assembled, readRoot } from "./roots.js";

const RAW = "application/vnd.ipld.raw";
/** The CID of the empty block that every trustless gateway serves (Trustless Gateway specification, "Probing"). */
const PROBE = "bafkqaaa";
const NOT_FOUND = 404;

/**
 * @typedef {import("./records.js").IpnsRecord} IpnsRecord
 * @typedef {import("./roots.js").Snapshot} Snapshot
 */

/**
 * Reads over several gateways. A gateway that fails or sends wrong data is skipped. If every gateway is skipped, the
 * first gateway's error is thrown.
 */
export class Gateways {
  #https;

  /**
   * @param {string[]} urls in the order in which they are tried
   * @param {import("./http.js").Fetch} [fetch]
   */
  constructor(urls, fetch) {
    this.#https = urls.map((url) => new Http(url, fetch));
  }

  /**
   * Requests the empty block.
   *
   * @throws {NetworkError} no gateway answers
   */
  async probe() {
    await this.#first((http) => http.send({ method: "GET", path: `/ipfs/${PROBE}`, query: { format: "raw" }, headers: { Accept: RAW } }));
  }

  /**
   * @param {string} cid
   * @returns {Promise<Uint8Array<ArrayBuffer>>} the block, verified
   * @throws {ContentError | NetworkError}
   */
  block(cid) {
    cidBytes(cid);
    const longest = codecOf(cid) === "dag-cbor" ? MAX_ROOT_BYTES : MAX_LEGACY_BLOCK_BYTES;
    const asked = { method: "GET", path: `/ipfs/${cid}`, query: { format: "raw" }, headers: { Accept: RAW }, longest };
    return this.#first(async (http) => verified(cid, await http.send(asked)));
  }

  /**
   * Returns a whole snapshot after verifying every byte.
   *
   * @param {string} rootCid
   * @param {(done: number, all: number) => void} [tell] called with the number of blocks received
   * @returns {Promise<Snapshot>}
   * @throws {ContentError | NetworkError}
   */
  async snapshot(rootCid, tell = () => {}) {
    const data = await this.block(rootCid);
    const root = await readRoot({ cid: rootCid, data });
    const blocks = new Map([[rootCid, data]]);
    const wanted = [...new Set(root.blocks)];
    for (const [done, cid] of wanted.entries()) {
      tell(done, wanted.length);
      blocks.set(cid, await this.block(cid));
    }
    tell(wanted.length, wanted.length);
    return assembled(root, blocks);
  }

  /**
   * Returns the newest record that any gateway has for an IPNS name.
   *
   * @param {string} name
   * @returns {Promise<IpnsRecord | null>} null if no responding gateway has one
   * @throws {NetworkError} no gateway answers
   * @throws {ContentError} the text is not a name, or all records are forged
   */
  async record(name) {
    const publicKey = publicKeyOf(name);
    const answers = await Promise.allSettled(this.#https.map((http) => recordAt(http, name, publicKey)));
    const found = answers.flatMap((it) => (it.status === "fulfilled" ? [it.value] : []));
    const [failed] = answers.flatMap((it) => (it.status === "rejected" ? [it.reason] : []));
    if (found.length === 0) throw failed ?? new StorageError("no gateway is configured");
    return found.reduce((newest, it) => (it && ["newer", "renewed"].includes(changeOf(newest, it)) ? it : newest), null);
  }

  /** Cancels pending requests. */
  close() {
    this.#https.forEach((http) => http.close());
  }

  /**
   * @template T
   * @param {(http: Http) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #first(work) {
    let first = null;
    for (const http of this.#https) {
      try {
        return await work(http);
      } catch (error) {
        first ??= error;
      }
    }
    throw first ?? new StorageError("no gateway is configured");
  }
}

/**
 * Returns one gateway's record. Some gateways serve records on only one of the two paths.
 *
 * @param {Http} http
 * @param {string} name
 * @param {Uint8Array} publicKey
 */
async function recordAt(http, name, publicKey) {
  const asked = { method: "GET", headers: { Accept: RECORD_TYPE }, longest: MAX_RECORD_BYTES };
  let first = null;
  for (const way of [{ path: `/ipns/${name}`, query: { format: "ipns-record" } }, { path: `/routing/v1/ipns/${name}` }]) {
    try {
      return await readRecord(publicKey, await http.send({ ...asked, ...way }));
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error;
      if (error instanceof RequestRefused && error.status === NOT_FOUND) return null;
      first ??= error;
    }
  }
  throw first;
}
