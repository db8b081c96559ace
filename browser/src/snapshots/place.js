/** The place where snapshots are kept, over HTTP: CAR files, pins, records, blocks. Holdfast's service or another. */

import { randomBytes, toHex } from "../bytes.js";
import { writeCar } from "./cars.js";
import { Gateways } from "./gateway.js";
import { Http } from "./http.js";
import { RequestRefused, StorageError } from "./library.js";
import { Pinning } from "./pinning.js";
import { RECORD_TYPE } from "./records.js";

const UPLOAD_TIMEOUT_MS = 120_000;
const NOT_FOUND = 404;
const LOOPBACK = new Set(["127.0.0.1", "[::1]"]);

/**
 * Where snapshots are kept and read, beyond the interface's gateway. Without anything: at the client's service.
 *
 * @typedef {object} MoreConfig
 * @property {string[]} [gatewayUrls] more gateways that are asked for blocks and records, in this order
 * @property {string} [uploadUrl] takes CAR files as Kubo's RPC does, and IPNS records
 * @property {string} [pinningUrl] speaks the Pinning Service API; "" for none: what is imported stays pinned
 * @property {string} [accessToken] for another pinning service than Holdfast's; to Holdfast's the vault's key speaks
 * @property {string} [serviceDid] whom the vault's tokens are made out to; the did:web of `uploadUrl` unless given
 * @property {boolean} [automatic] whether every change goes up by itself; true unless given
 * @property {number} [debounceMs] milliseconds without a change before the last one goes up; 2000 unless given
 * @property {number} [kept] how many snapshots stay pinned there; 10 unless given
 *
 * @typedef {import("../generated/types.js").VaultSnapshotConfig & MoreConfig} SnapshotConfig
 */

/** What the settings name, on top of the client's service. */
export class SnapshotPlace {
  #http;
  #mint;

  /**
   * @param {string} serviceUrl
   * @param {SnapshotConfig} config
   * @param {{mint: (audience: string) => Promise<string>, fetch?: import("./http.js").Fetch}} more `mint`: a token of the
   *   vault's key for an audience
   */
  constructor(serviceUrl, config, { mint, fetch }) {
    const { gatewayUrl, gatewayUrls = [], uploadUrl = serviceUrl, pinningUrl = uploadUrl, accessToken } = config;
    const audience = config.serviceDid ?? didOfService(uploadUrl);
    this.#mint = () => mint(audience);
    this.#http = new Http(uploadUrl, fetch);
    this.gateways = new Gateways([...new Set([uploadUrl, ...(gatewayUrl ? [gatewayUrl] : []), ...gatewayUrls])], fetch);
    this.pinning = pinningUrl ? new Pinning(pinningUrl, accessToken ?? this.#mint, fetch) : null;
  }

  /**
   * Sends the blocks; without a pinning service they are pinned by that.
   *
   * @param {import("./roots.js").Snapshot} snapshot
   * @throws {RequestRefused | NetworkError | StorageError}
   */
  async upload({ rootCid, blocks }) {
    const boundary = toHex(randomBytes(16)).slice(2);
    const head = 'Content-Disposition: form-data; name="file"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n';
    const body = new Blob([`--${boundary}\r\n${head}`, writeCar(rootCid, blocks), `\r\n--${boundary}--\r\n`]);
    const pin = this.pinning === null;
    const answer = await this.#http.send({
      method: "POST",
      path: "/api/v0/dag/import",
      query: { "pin-roots": String(pin) },
      headers: { "Content-Type": `multipart/form-data; boundary=${boundary}`, Authorization: `Bearer ${await this.#mint()}` },
      body,
      timeout: UPLOAD_TIMEOUT_MS,
    });
    checkImported(new TextDecoder().decode(answer), rootCid, pin);
  }

  /**
   * Sends a record, which carries its own proof.
   *
   * @param {string} name
   * @param {Uint8Array<ArrayBuffer>} record
   */
  async publish(name, record) {
    await this.#http.send({ method: "PUT", path: `/routing/v1/ipns/${name}`, headers: { "Content-Type": RECORD_TYPE }, body: record });
  }

  /**
   * The IPNS name that Holdfast's service knows for a passkey: a hint, the caller verifies what it names.
   *
   * @param {string} credentialId
   * @returns {Promise<string | null>}
   */
  async nameOf(credentialId) {
    try {
      const answer = await this.#http.json({ method: "GET", path: "/api/snapshots/name", query: { credentialId } });
      return typeof answer?.name === "string" ? answer.name : null;
    } catch (error) {
      if (error instanceof RequestRefused && error.status === NOT_FOUND) return null;
      throw error;
    }
  }

  /** Cancels the present requests. */
  close() {
    this.#http.close();
    this.gateways.close();
    this.pinning?.close();
  }
}

/**
 * The did:web of a service's address: whom a token is made out to, so that no other service can use it.
 *
 * @param {string} url a loopback address counts as localhost
 * @returns {string}
 */
export function didOfService(url) {
  const { hostname, port } = new URL(url);
  const host = LOOPBACK.has(hostname) ? "localhost" : hostname;
  return `did:web:${host}${port && `%3A${port}`}`;
}

/**
 * Exactly one root, the expected one, without an error: a Kubo that fails late still answers 200.
 *
 * @param {string} answer lines of JSON
 * @param {string} rootCid
 * @param {boolean} pinned
 */
function checkImported(answer, rootCid, pinned) {
  const roots = answer.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line)?.Root).filter(Boolean);
  const expected = pinned || roots.length ? 1 : 0;
  if (roots.length !== expected || !roots.every((root) => root.Cid?.["/"] === rootCid && !root.PinErrorMsg)) {
    throw new StorageError("the snapshot was not taken: its place acknowledged another root, or none");
  }
}
