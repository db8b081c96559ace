/**
 * The method `did:new` for npm's `did-resolver`, and DID documents from a key alone (docs/did-method.md).
 *
 *     import { Resolver } from "did-resolver";
 *     import { getResolver } from "holdfast-vault/did-resolver.js";
 *     const resolver = new Resolver(getResolver({ service: "https://vault.example" }));
 *     const { didDocument } = await resolver.resolve("did:new:0x…");
 */

import { fromBase64, fromHex, toBase64url, toHex } from "./bytes.ts";
import { keccak256 } from "./did/keccak.ts";
import { bounded, jsonOf } from "./http/http.ts";

const METHOD = "did:new:";
const WITHIN_MS = 30_000;
/** The most bytes of a response that are read. */
const LONGEST = 1 << 20;
const CORE = "https://www.w3.org/ns/did/v1";
const KEYS = "https://w3id.org/security/jwk/v1";
const RESULT = 'application/ld+json;profile="https://w3id.org/did-resolution"';
const RELATIONS = ["authentication", "assertionMethod", "capabilityInvocation", "capabilityDelegation"] as const;
/** What a document and its methods consist of. Libraries read keys from many other members, which nothing checks. */
const PARTS = new Set<string>(["@context", "id", "controller", "verificationMethod", ...RELATIONS]);
const PARTS_OF_KEY = new Set(["id", "type", "controller", "publicKeyJwk"]);
const PARTS_OF_ACCOUNT = new Set(["id", "type", "controller", "blockchainAccountId"]);
const UNKNOWN_PART = "the document has a part that documents of this method do not have";

export interface VerificationMethod {
  id: string;
  type: string;
  controller: string;
  publicKeyJwk?: { kty: string; crv: string; x: string; y: string };
  /** CAIP-10 */ blockchainAccountId?: string;
}

/** `controller` is the account that controls the DID, as did:pkh */
export type DidDocument = {
  "@context"?: string | string[];
  id: string;
  controller?: string;
  verificationMethod?: VerificationMethod[];
  authentication?: string[];
  assertionMethod?: string[];
  capabilityInvocation?: string[];
  capabilityDelegation?: string[];
};

export interface Resolution {
  didDocument: DidDocument | null;
  didResolutionMetadata: { contentType?: string; error?: string; errorMessage?: string };
  didDocumentMetadata: {
    deactivated?: boolean;
    registry?: string;
    proven?: { controller: "registry" | null; key: "did" | "account" | null };
  };
}

/**
 * Returns the driver, to be passed to `Resolver`. It checks each key of a response against its name: `#key-1` must have
 * the DID as its hash. That the DID is active, its account and a changed key rest on the service's word.
 *
 * @param options.service the address of a Holdfast service
 * @param options.changedKeys false: refuse a document whose key does not have the DID as its hash
 */
export function getResolver({
  service,
  changedKeys = true,
  fetch: ask = (...given) => fetch(...given),
}: {
  service: string;
  changedKeys?: boolean;
  fetch?: typeof fetch;
}): { new: (did: string) => Promise<Resolution> } {
  const folder = `${service.replace(/\/+$/, "")}/1.0/identifiers/`;
  async function resolve(did: string) {
    let result: Resolution;
    try {
      const signal = AbortSignal.timeout(WITHIN_MS);
      const response = await ask(folder + encodeURIComponent(did), { headers: { Accept: RESULT }, signal });
      result = jsonOf(await bounded(response, LONGEST)) as Resolution; // what it has is checked below
    } catch {
      return failed("internalError", "the service cannot be reached, or its response is not JSON");
    }
    const objection = objectionTo(result, did, changedKeys);
    return objection ? failed("invalidDidDocument", objection) : result;
  }
  return { new: resolve };
}

/**
 * Returns the DID of a P-256 key.
 *
 * @param publicKey uncompressed, hex: 04, X and Y
 * @throws {TypeError} another form of key
 */
export function didOf(publicKey: string) {
  return METHOD + hashOf(...coordinatesIn(publicKey));
}

/**
 * Returns what the key alone proves: the DID's document without account. Whether the DID is active, only a chain knows.
 *
 * @param publicKey uncompressed, hex: 04, X and Y
 * @throws {TypeError} another form of key
 */
export function documentOf(publicKey: string): DidDocument {
  const [x, y] = coordinatesIn(publicKey);
  const did = METHOD + hashOf(x, y);
  const id = `${did}#key-1`;
  const publicKeyJwk = { kty: "EC", crv: "P-256", x: toBase64url(x), y: toBase64url(y) };
  return {
    "@context": [CORE, KEYS],
    id: did,
    verificationMethod: [{ id, type: "JsonWebKey", controller: did, publicKeyJwk }],
    authentication: [id],
    assertionMethod: [id],
    capabilityInvocation: [id],
    capabilityDelegation: [id],
  };
}

/** Returns why a response must not be used; an empty text if nothing is wrong. */
function objectionTo(result: Resolution, did: string, changedKeys: boolean) {
  try {
    if (result.didResolutionMetadata.error && !result.didDocument) return "";
    const document = result.didDocument as DidDocument;
    const { id, verificationMethod = [] } = document;
    if (id !== did) return "the document is another DID's";
    const names = verificationMethod.map((method) => method.id);
    const isNamed = RELATIONS.every((it) => (document[it] ?? []).every((name) => names.includes(name)));
    if (!isNamed || !consistsOf(document, PARTS)) return UNKNOWN_PART;
    return verificationMethod.map((it) => objectionToMethod(it, did, changedKeys)).find(Boolean) ?? "";
  } catch {
    return "the response is not a DID resolution result";
  }
}

function consistsOf(value: object, parts: Set<string>) {
  return Object.keys(value).every((it) => parts.has(it));
}

function objectionToMethod(method: VerificationMethod, did: string, changedKeys: boolean) {
  if (method.id === `${did}#account` && consistsOf(method, PARTS_OF_ACCOUNT)) return "";
  return consistsOf(method, PARTS_OF_KEY) ? objectionToKey(method, did, changedKeys) : UNKNOWN_PART;
}

function objectionToKey(
  { id, publicKeyJwk: { kty, crv, x, y } = { kty: "", crv: "", x: "", y: "" } }: VerificationMethod,
  did: string,
  changedKeys: boolean,
) {
  const [named, own] = [hashOf(fromBase64(x), fromBase64(y)), did.slice(METHOD.length)];
  if (kty !== "EC" || crv !== "P-256") return "the document has a key of another curve";
  if (id !== (named === own ? `${did}#key-1` : `${did}#${named}`)) return "a key is not the one that its name states";
  return changedKeys || named === own ? "" : "the key was changed, which only the service states";
}

/** @returns Keccak-256 of both coordinates, 0x-hex */
function hashOf(x: Uint8Array, y: Uint8Array): string {
  if (x.length !== 32 || y.length !== 32) throw new TypeError("a coordinate has 32 bytes");
  return toHex(keccak256(Uint8Array.from([...x, ...y])));
}

function coordinatesIn(publicKey: string): [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>] {
  const bytes = fromHex(publicKey);
  if (bytes.length !== 65 || bytes[0] !== 4) throw new TypeError("the key is not uncompressed: 04, X and Y");
  return [bytes.slice(1, 33), bytes.slice(33)];
}

function failed(error: string, errorMessage: string): Resolution {
  return { didDocument: null, didResolutionMetadata: { error, errorMessage }, didDocumentMetadata: {} };
}
