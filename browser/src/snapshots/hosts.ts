/**
 * Accesses the servers on which snapshots are stored: uploads CAR files, pins and records, and reads blocks and
 * records.
 */

import { didOfService } from "../flows/signature.ts";
import type { VaultSnapshotConfig } from "../generated/types.ts";
import { writeCar } from "./cars.ts";
import { Gateways } from "./gateway.ts";
import { type Fetch, type Foreign, Http } from "../http/http.ts";
import { RequestRefused, StorageError } from "../errors.ts";
import { Pinning } from "./pinning.ts";
import { RECORD_TYPE } from "./records.ts";
import type { Snapshot } from "./roots.ts";

const UPLOAD_TIMEOUT_MS = 120_000;
const NOT_FOUND = 404;

/**
 * The configuration of where snapshots are stored and read, with fields that the interface's VaultSnapshotConfig lacks.
 * The default is the client's service.
 */
interface MoreConfig {
  /** more gateways for blocks and records, tried in the order given */ gatewayUrls?: string[];
  /** accepts CAR files as Kubo's RPC does, and IPNS records */ uploadUrl?: string;
  /** a Pinning Service API; "" for none: the import itself pins */ pinningUrl?: string;
  /** for a pinning service other than Holdfast's, which accepts tokens signed by the vault's key */
  accessToken?: string;
  /**
   * the audience of the vault's tokens for the service and for uploads; by default, and for a pinning service elsewhere,
   * the did:web of each server
   */
  serviceDid?: string;
  /** whether every change is uploaded automatically; true by default */ automatic?: boolean;
  /** milliseconds without a change before an upload; 2000 by default */ debounceMs?: number;
  /** how many snapshots stay pinned; 10 by default */ pinned?: number;
}

export type SnapshotConfig = VaultSnapshotConfig & MoreConfig;

/** The servers from the configuration, with the client's service as the default. */
export class SnapshotHosts {
  declare gateways: Gateways;
  declare pinning: Pinning | null;
  /** the DID of the server that accepts uploads */ declare service: string;

  #http;
  #mint;

  /** @param more `mint`: creates a token signed by the vault's key for an audience */
  constructor(
    serviceUrl: string,
    config: SnapshotConfig,
    { mint, fetch }: { mint: (audience: string) => Promise<string>; fetch?: Fetch },
  ) {
    const { gatewayUrl, gatewayUrls = [], uploadUrl = serviceUrl, pinningUrl = uploadUrl, accessToken } = config;
    // A token for one server is of no use at another.
    const mintFor = (url: string) => {
      const own = didOfService(url);
      return () => mint((own === this.service && config.serviceDid) || own);
    };
    this.service = didOfService(uploadUrl);
    this.#mint = mintFor(uploadUrl);
    this.#http = new Http(uploadUrl, fetch);
    this.gateways = new Gateways([...new Set([uploadUrl, ...(gatewayUrl ? [gatewayUrl] : []), ...gatewayUrls])], fetch);
    this.pinning = pinningUrl ? new Pinning(pinningUrl, accessToken ?? mintFor(pinningUrl), fetch) : null;
  }

  /**
   * Uploads a snapshot's blocks. Without a pinning service, the upload also pins the blocks.
   * @throws {RequestRefused | NetworkError | StorageError}
   */
  async upload({ rootCid, blocks }: Snapshot) {
    const body = new FormData();
    body.append("file", new Blob([writeCar(rootCid, blocks)], { type: "application/octet-stream" }), "");
    const pins = this.pinning === null;
    const answer = await this.#http.send({
      method: "POST",
      path: "/api/v0/dag/import",
      query: { "pin-roots": String(pins) },
      headers: { Authorization: `Bearer ${await this.#mint()}` },
      body,
      timeout: UPLOAD_TIMEOUT_MS,
    });
    checkImported(new TextDecoder().decode(answer), rootCid, pins);
  }

  /** Uploads a record. The record's signature is its only authorisation. */
  async publish(name: string, record: Uint8Array<ArrayBuffer>) {
    await this.#http.send({
      method: "PUT",
      path: `/routing/v1/ipns/${name}`,
      headers: { "Content-Type": RECORD_TYPE },
      body: record,
    });
  }

  /** Returns the IPNS name that Holdfast's service has for a passkey: a hint, whose record the caller verifies. */
  async nameOf(credentialId: string): Promise<string | null> {
    const request = { method: "GET", path: "/api/snapshots/name", query: { credentialId } };
    const answer = await this.#http.json(request).catch((error) => {
      if (!(error instanceof RequestRefused && error.status === NOT_FOUND)) throw error;
    });
    const name = (answer as Foreign)?.name;
    return typeof name === "string" ? name : null;
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
 * @param name of the pin
 * @returns what waits until it is pinned
 */
export async function pinRequested(
  hosts: SnapshotHosts,
  snapshot: Snapshot,
  name: string,
  meta: Record<string, string>,
): Promise<() => Promise<unknown>> {
  await hosts.upload(snapshot);
  const { pinning } = hosts;
  const made = await pinning?.add({ cid: snapshot.rootCid, name, meta });
  return async () => made && pinning?.wait(made);
}

/**
 * Checks that the response has exactly the expected root and no error: Kubo responds with 200 even if it fails later.
 * @param answer lines of JSON
 */
function checkImported(answer: string, rootCid: string, pinned: boolean) {
  const lines = answer.split("\n").filter((line) => line.trim());
  const roots = lines.map(rootIn).filter((root) => root !== null);
  const expected = pinned || roots.length ? 1 : 0;
  if (roots.length !== expected || !roots.every((root) => root.Cid?.["/"] === rootCid && !root.PinErrorMsg))
    throw new StorageError("the snapshot was not accepted: the server acknowledged another root, or none");
}

function rootIn(line: string) {
  try {
    return JSON.parse(line)?.Root ?? null;
  } catch (cause) {
    throw new StorageError("the snapshot was not accepted: the server's answer is not JSON", { cause });
  }
}
