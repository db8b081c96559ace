/** Opens what is left of a vault, a snapshot (CAR) or an export, in an enclave in this page. */

import { bytesOf, fromBase64, randomBytes, toHex } from "../bytes.ts";
import { PLACEHOLDER_SIGNATURE } from "../chain/bundler.ts";
import type { Results } from "../enclave-answers.ts";
import { PluginCallError, StorageError } from "../errors.ts";
import { keccak256 } from "../did/keccak.ts";
import { type Enclave, instantiate } from "../enclave-host.ts";
import type { UserOp } from "../generated/types.ts";
import type { VaultKey } from "../passkeys/secrets.ts";
import { snapshotOfCar } from "../snapshots/roots.ts";
import { ownKey } from "../vault/own_key.ts";
import { readHeader } from "../vault/sealed_header.ts";
import { digits } from "./abi.ts";

const EXPORT = "MTRV"; // docs/formats.md: how an export begins
/** The account index (BIP-44) of the address that pays for an ordinary transaction; ERC-4337's number, and no app's. */
const PAYER = 4337;

type Payer = { address: string; sign: (digest: Uint8Array) => { signature: string; recovery: number } };

/**
 * @param key an export's is a password
 * @param wasm the enclave's module
 * @throws {PluginCallError} the key is wrong, or none of its kind opens the file; `code` says which
 * @throws {StorageError} it is neither a snapshot nor an export
 */
export async function opened(
  file: Uint8Array<ArrayBuffer>,
  key: { kind: "password"; password: string } | VaultKey,
  wasm: Uint8Array<ArrayBuffer>,
): Promise<OpenedVault> {
  const isExport = new TextDecoder().decode(file.subarray(0, EXPORT.length)) === EXPORT;
  const sealed = isExport ? null : await sealedIn(file);
  const enclave = await instantiate(wasm);
  const answer = sealed
    ? enclave.call("unlock", { database: sealed, key: withBytes(key) })
    : enclave.call("import", {
        data: file,
        password: key.kind === "password" ? key.password : "",
        key: { kind: "secret", secret: randomBytes(32) },
      });
  if (!answer.success) throw new PluginCallError(sealed ? "unlock" : "import", String(answer.error), answer.error);
  return openVault(enclave);
}

/**
 * Makes a vault that only this page has, as long as it is open.
 *
 * @param wasm the enclave's module
 * @param point X ‖ Y of a passkey, which each vault has
 */
export async function temporaryVault(wasm: Uint8Array<ArrayBuffer>, point: Uint8Array<ArrayBuffer>) {
  const enclave = await instantiate(wasm);
  const key = { kind: "secret", secret: randomBytes(32) };
  enclave.call("generate", { credential: unattested(digits(point)), key });
  enclave.call("set_auto_lock", { idle_seconds: 0 }); // locked, it could not be opened again
  return openVault(enclave);
}

/** A passkey's attestation object of the format "none" (WebAuthn, section 6.5.4). @param point hex digits */
function unattested(point: string) {
  const head = "a363666d74646e6f6e656761747453746d74a068617574684461746158"; // {fmt: "none", attStmt: {}, authData: bytes}
  const credential = `0010${"00".repeat(16)}a5010203262001215820${point.slice(0, 64)}225820${point.slice(64)}`;
  return `0x${head}94${"00".repeat(32)}45${"00".repeat(20)}${credential}`;
}

function withBytes(key: Parameters<typeof opened>[1]) {
  return key.kind === "password" ? key : { ...key, secret: bytesOf(key.secret) };
}

async function sealedIn(file: Uint8Array<ArrayBuffer>) {
  const snapshot = await snapshotOfCar(file).catch((cause) => {
    throw new StorageError("neither a snapshot (CAR) nor an export of a vault", { cause });
  });
  if (readHeader(snapshot.sealed)?.did === snapshot.manifest.did) return snapshot.sealed;
  throw new StorageError("the snapshot does not hold the vault that it names");
}

async function openVault(enclave: Enclave) {
  const { did } = enclave.call("query");
  const keys = executed(enclave, "resource:enclaves action:list");
  return new OpenedVault(enclave, did, await ownKey(did, keys, (octets) => toHex(keccak256(octets))));
}

function executed<Filter extends keyof Results>(enclave: Enclave, filter: Filter, args?: object) {
  return enclave.call("exec", { filter, args }).result as Results[Filter];
}

/** The vault, open in this page's memory. */
export class OpenedVault {
  declare did: string;
  declare signer: string;
  declare account: string;

  placeholder = PLACEHOLDER_SIGNATURE;
  #enclave;
  #payer: Payer | null = null;

  constructor(enclave: Enclave, did: string, { x, y }: { x: string; y: string }) {
    this.#enclave = enclave;
    this.did = did;
    /** The vault's key as an owner: X ‖ Y, 0x-hex. */
    this.signer = `0x${x}${y}`;
    const input = { chain: "ethereum", public_key: `04${x}${y}`, curve: "P-256" };
    /** The key's first account. */
    this.account = enclave.call("derive_address", input).address;
  }

  /**
   * Signs an operation.
   *
   * @param _hash for other kinds of owners; the enclave computes it
   * @returns 0x-hex
   */
  signed(
    operation: UserOp,
    _hash: string,
    { entryPoint, chainId }: { entryPoint: string; chainId: number },
  ): { signature: string; hash: string } {
    const input = { user_op: operation, entry_point: entryPoint, chain_id: chainId };
    const { signature, user_op_hash: hash } = this.#enclave.call("sign_user_op", input);
    return { signature, hash };
  }

  /**
   * Returns an ordinary address whose key the vault's seed determines: the same each time that the vault is opened, so
   * what is left there is not lost.
   */
  payer(): Payer {
    this.#payer ??= this.#derived();
    return this.#payer;
  }

  #derived() {
    const args = { chain: "ethereum", account_index: PAYER };
    const { enclave_id, address } = executed(this.#enclave, "resource:accounts action:derive", args);
    const sign = (digest: Uint8Array) => {
      const made = this.#enclave.call("sign", { digest, enclave_id });
      return { signature: digits(fromBase64(made.signature)), recovery: made.recovery };
    };
    return { address, sign };
  }
}
