/**
 * Accesses the servers on which snapshots are stored: uploads CAR files, pins and records, and reads blocks and
 * records.
 */

import { randomBytes, toHex } from "../bytes.js";
import { didOfService } from "../flows/signature.js";
import { writeCar } from "./cars.js";
import { Gateways } from "./gateway.js";
import { Http } from "../http/http.js";
import { RequestRefused, StorageError } from "../errors.js";
import { Pinning } from "./pinning.js";
import { RECORD_TYPE } from "./records.js";

const UPLOAD_TIMEOUT_MS = 120_000;
const NOT_FOUND = 404;

/**
 * The configuration of where snapshots are stored and read, with fields that the interface's VaultSnapshotConfig lacks.
 * The default is the client's service.
 *
 * @typedef {object} MoreConfig
 * @property {string[]} [gatewayUrls] more gateways for blocks and records, tried in the order given
 * @property {string} [uploadUrl] accepts CAR files as Kubo's RPC does, and IPNS records
 * @property {string} [pinningUrl] a Pinning Service API; "" for none: the import itself pins
 * @property {string} [accessToken] for a pinning service other than Holdfast's, which accepts tokens signed by the vault's key
 * @property {string} [serviceDid] the audience of the vault's tokens; by default the did:web of each server
 * @property {boolean} [automatic] whether every change is uploaded automatically; true by default
 * @property {number} [debounceMs] milliseconds without a change before an upload; 2000 by default
 * @property {number} [pinned] how many snapshots stay pinned; 10 by default
 *
 * @typedef {import("../generated/types.js").VaultSnapshotConfig & MoreConfig} SnapshotConfig
 */

/** The servers from the configuration, with the client's service as the default. */
export class SnapshotHosts {
  #http;
  #mint;

  /**
   * @param {string} serviceUrl @param {SnapshotConfig} config
   * @param {{mint: (audience: string) => Promise<string>, fetch?: import("../http/http.js").Fetch}} more `mint`: creates a token
   *   signed by the vault's key for an audience
   */
  constructor(serviceUrl, config, { mint, fetch }) {
    const { gatewayUrl, gatewayUrls = [], uploadUrl = serviceUrl, pinningUrl = uploadUrl, accessToken } = config;
    // A token for one server is of no use at another.
    const mintFor = (/** @type {string} */ url) => () => mint(config.serviceDid ?? didOfService(url));
    this.#mint = mintFor(uploadUrl);
    this.#http = new Http(uploadUrl, fetch);
    this.gateways = new Gateways([...new Set([uploadUrl, ...(gatewayUrl ? [gatewayUrl] : []), ...gatewayUrls])], fetch);
    this.pinning = pinningUrl ? new Pinning(pinningUrl, accessToken ?? mintFor(pinningUrl), fetch) : null;
  }

  /**
   * Uploads a snapshot's blocks. Without a pinning service, the upload also pins the blocks.
   * @param {import("./roots.js").Snapshot} snapshot @throws {RequestRefused | NetworkError | StorageError}
   */
  async upload({ rootCid, blocks }) {
    const boundary = toHex(randomBytes(16)).slice(2);
    const head =
      'Content-Disposition: form-data; name="file"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n';
    const body = new Blob([`--${boundary}\r\n${head}`, writeCar(rootCid, blocks), `\r\n--${boundary}--\r\n`]);
    const pins = this.pinning === null;
    const answer = await this.#http.send({
      method: "POST",
      path: "/api/v0/dag/import",
      query: { "pin-roots": String(pins) },
      headers: {
        "Content-Type": `multipart/form-data; boundary=${boundary}`,
        Authorization: `Bearer ${await this.#mint()}`,
      },
      body,
      timeout: UPLOAD_TIMEOUT_MS,
    });
    checkImported(new TextDecoder().decode(answer), rootCid, pins);
  }

  /**
   * Uploads a record. The record's signature is its only authorisation.
   * @param {string} name @param {Uint8Array<ArrayBuffer>} record
   */
  async publish(name, record) {
    await this.#http.send({
      method: "PUT",
      path: `/routing/v1/ipns/${name}`,
      headers: { "Content-Type": RECORD_TYPE },
      body: record,
    });
  }

  /**
   * Returns the IPNS name that Holdfast's service has for a passkey: a hint, whose record the caller verifies.
   * @param {string} credentialId @returns {Promise<string | null>}
   */
  async nameOf(credentialId) {
    const request = { method: "GET", path: "/api/snapshots/name", query: { credentialId } };
    const answer = await this.#http.json(request).catch((error) => {
      if (!(error instanceof RequestRefused && error.status === NOT_FOUND)) throw error;
    });
    return typeof answer?.name === "string" ? answer.name : null;
  }

  /** Cancels pending requests. */
  close() {
    this.#http.close();
    this.gateways.close();
    this.pinning?.close();
  }
}

/**
 * Uploads a snapshot and requests its pin. Without a pinning service the upload itself pins.
 * @param {SnapshotHosts} hosts @param {import("./roots.js").Snapshot} snapshot
 * @param {string} name of the pin @param {Record<string, string>} meta
 * @returns {Promise<() => Promise<unknown>>} what waits until it is pinned
 */
export async function pinRequested(hosts, snapshot, name, meta) {
  await hosts.upload(snapshot);
  const { pinning } = hosts;
  const made = await pinning?.add({ cid: snapshot.rootCid, name, meta });
  return async () => made && pinning?.wait(made);
}

/**
 * Checks that the response has exactly the expected root and no error: Kubo responds with 200 even if it fails later.
 * @param {string} answer lines of JSON
 * @param {string} rootCid @param {boolean} pinned
 */
function checkImported(answer, rootCid, pinned) {
  const roots = answer
    .split("\n")
    .filter((line) => line.trim())
    .map(rootIn)
    .filter(Boolean);
  const expected = pinned || roots.length ? 1 : 0;
  if (roots.length !== expected || !roots.every((root) => root.Cid?.["/"] === rootCid && !root.PinErrorMsg)) {
    throw new StorageError("the snapshot was not accepted: the server acknowledged another root, or none");
  }
}

/** @param {string} line */
function rootIn(line) {
  try {
    return JSON.parse(line)?.Root;
  } catch (cause) {
    throw new StorageError("the snapshot was not accepted: the server's answer is not JSON", { cause });
  }
}
