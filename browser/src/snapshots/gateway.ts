/** Fetches blocks and records from IPFS gateways, and verifies every byte. */

import { MAX_LEGACY_BLOCK_BYTES, MAX_ROOT_BYTES } from "./cars.ts";
import { cidBytes, codecOf, verified } from "./cids.ts";
import { type Fetch, Http } from "../http/http.ts";
import { ClientStateError, RequestRefused, StorageError } from "../errors.ts";
import { askAll, failure, type NameAnswers, type Patience } from "./name_records.ts";
import type { IpnsRecord } from "./records.ts";
import { assembled, readRoot, type Snapshot } from "./roots.ts";

const RAW = "application/vnd.ipld.raw";
/** The CID of the empty block that every trustless gateway serves (Trustless Gateway specification, "Probing"). */
const PROBE = "bafkqaaa";
const NOT_FOUND = 404;

/**
 * Reads over several gateways. A gateway that fails or sends wrong data is skipped, and from then on asked only for what
 * the others lack. If every gateway is skipped, the error says each one's reason.
 */
export class Gateways {
  #https;
  #patience;
  #failed: Set<Http> = new Set();

  /** @param urls in the order in which they are tried */
  constructor(urls: string[], fetch?: Fetch, patience?: Patience) {
    this.#https = urls.map((url) => new Http(url, fetch));
    this.#patience = patience;
  }

  /** Requests the empty block. @throws {NetworkError} no gateway answers */
  async probe() {
    await this.#first((http) => http.send(requestFor(PROBE)));
  }

  /**
   * @returns the block, verified
   * @throws {ContentError | NetworkError}
   */
  block(cid: string): Promise<Uint8Array<ArrayBuffer>> {
    cidBytes(cid);
    const longest = codecOf(cid) === "dag-cbor" ? MAX_ROOT_BYTES : MAX_LEGACY_BLOCK_BYTES;
    return this.#first(async (http) => verified(cid, await http.send({ ...requestFor(cid), longest })));
  }

  /**
   * Returns a whole snapshot after verifying every byte.
   * @param tell called with the number of blocks received
   * @throws {ContentError | NetworkError}
   */
  async snapshot(rootCid: string, tell: (done: number, all: number) => void = () => {}): Promise<Snapshot> {
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
   * @returns null if no responding gateway has one
   * @throws {NetworkError} no gateway answers
   * @throws {ContentError} the text is not a name, or all records are forged
   */
  async record(name: string): Promise<IpnsRecord | null> {
    const { newest, failed } = await this.answers(name, { absentIsEnough: true });
    if (!newest && failed.length === this.#https.length) throw failure("no gateway answers", failed);
    return newest;
  }

  /**
   * Returns what the gateways answer about an IPNS name, and which of them do not answer.
   * @param how `absentIsEnough`: the others are waited for only shortly also after one has said that there is no
   *   record
   * @throws {ContentError} the text is not a name
   */
  async answers(name: string, { absentIsEnough = false }: { absentIsEnough?: boolean } = {}): Promise<NameAnswers> {
    const answers = await askAll(this.#https, name, { absentIsEnough, ...this.#patience });
    answers.failed.forEach(({ http }) => this.#failed.add(http));
    return answers;
  }

  /** Cancels pending requests. */
  close() {
    this.#https.forEach((http) => http.close());
  }

  async #first<T>(work: (http: Http) => Promise<T>): Promise<T> {
    const failed = [];
    const order = (http: Http) => Number(this.#failed.has(http));
    for (const http of [...this.#https].sort((one, other) => order(one) - order(other))) {
      try {
        return await work(http);
      } catch (error) {
        if (error instanceof ClientStateError) throw error; // it is closed
        failed.push({ http, error });
        if (!(error instanceof RequestRefused && error.status === NOT_FOUND)) this.#failed.add(http);
      }
    }
    throw failed.length
      ? failure("no gateway returns the block", failed)
      : new StorageError("no gateway is configured");
  }
}

/** The request for a block (Trustless Gateway specification). */
function requestFor(cid: string) {
  const headers = { Accept: RAW };
  return { method: "GET", path: `/ipfs/${cid}`, query: { format: "raw" }, headers, redirect: "follow" as const };
}
