/**
 * Registers an unlocked vault's DID. Each step is recorded before it is taken, so that a later call can continue an
 * interrupted registration.
 */

import "../core.ts";
import type { Client } from "../client.ts";
import { ClientStateError, RegistrationRefused, RequestRefused, insteadOf } from "../errors.ts";
import { CODE_ATTEMPTS, OF_ATTESTATION, REPEATED, SPARE_MS } from "../generated/registration_retries.ts";
import type { Attestation, DidRecord } from "../generated/types.ts";
import { SmartAccount } from "./account.ts";
import { ChainRegistration, Journal } from "./chain_registration.ts";
import { NO_TRANSACTION, registerCredential } from "./signature.ts";

const SERVER_ERROR = 500;

export type RegistrationStep =
  | "session"
  | "code sent"
  | "verified"
  | "commitment sent"
  | "committed"
  | "sent to the chain"
  | "on the chain"
  | "registered";

/** exactly one of `handle`, `email` and `sms` */
export interface RegistrationRequest {
  handle?: string;
  email?: string;
  /** a phone number in E.164 form */ sms?: string;
  /** called for the code that was sent, with a sentence for the person; returns the code, or null to give up */
  code?: (message: string) => Promise<string | null> | string | null;
  /** instead of `code`, if the page has verified the identifier itself */ attestation?: Attestation;
  onProgress?: (step: RegistrationStep) => void;
  /** the credential ID to register; by default one that is registered, or the vault's newest */ passkey?: string;
  /** the DID's registration at another service, whose transaction this one states too */ known?: DidRecord;
}

/** @param client its vault is open */
export async function register(client: Client, request: RegistrationRequest): Promise<DidRecord> {
  const requested = chosen(request);
  const { did, credentials } = await client.vault.query();
  if (credentials.length === 0) throw new ClientStateError("the vault holds no passkey");
  // The newest first: after a move, the older ones are a former service's.
  const ids = request.passkey ? [request.passkey] : credentials.map((it) => it.credential_id).reverse();
  const rows = [];
  for (const credentialId of ids) {
    const found = await client.lookupDid({ credentialId });
    rows.push({ credentialId, known: found.found ? found : null });
    if (found.found && found.did === did) break;
  }
  const { credentialId, known } = rows.find((it) => it.known?.did === did) ?? rows[0];
  const journal = await Journal.open(client.vault.dbName, did, known ?? requested);
  const registrar = new Registrar(client, journal, request, credentialId);
  return known ? registrar.again(known) : registrar.run();
}

/** One registration of one vault. */
class Registrar {
  #client;
  #journal;
  #request;
  #credentialId;

  constructor(client: Client, journal: Journal, request: RegistrationRequest, credentialId: string) {
    this.#client = client;
    this.#journal = journal;
    this.#request = request;
    this.#credentialId = credentialId;
  }

  async run() {
    await this.#adopt();
    await this.#session();
    if (this.#journal.row.channel !== "handle") await this.#verification();
    await this.#onChain();
    return this.#record();
  }

  /** Returns the registration; if it states no transaction, and the service has a bundler now, adds one first. */
  async again(known: DidRecord) {
    const { row } = this.#journal;
    if (known.did !== row.did || known.txHash !== NO_TRANSACTION) return this.#finished(known);
    // Refused: the DID is on the chain, by a transaction that this store does not know.
    await this.#onChain().catch(insteadOf(RegistrationRefused, undefined));
    return this.#journal.row.txHash ? this.#record() : this.#finished(known);
  }

  /** Notes the transaction that registered the DID on the chain for another service. */
  async #adopt() {
    const { known } = this.#request;
    if (!known || known.txHash === NO_TRANSACTION) return;
    const { txHash, blockNumber, smartAccount } = known;
    await this.#journal.write({ txHash, blockNumber, smartAccount });
  }

  async #session() {
    const { identifier, channel, did, sessionRequested, attestation, operationHash, txHash } = this.#journal.row;
    if (sessionRequested && (attestation || operationHash || txHash)) return;
    await this.#journal.write({ sessionRequested: true });
    try {
      await this.#client.createSession({ identifier, channel, did });
    } catch (error) {
      // An interrupted attempt may already have reserved the identifier; POST /api/dids decides, because it knows who
      // holds it.
      if (!(error instanceof RequestRefused)) throw error;
      const taken = error.code === "identifier_taken";
      if (!taken || !(sessionRequested || channel !== "handle" || (await this.#isMine(identifier)))) {
        // If there is no session, a later attempt must not take another's for this one.
        if (error.status < SERVER_ERROR && error.code !== "idempotency_key_in_use") await this.#journal.forget();
        throw error;
      }
    }
    this.#tell("session");
  }

  /** Whether the DID holds a handle, for example from a registration that the chain refused. */
  async #isMine(handle: string) {
    if ((await this.#client.checkAlias({ alias: handle })).did === this.#journal.row.did) return true;
    // A handle that became reserved after its registration is taken only to its own DID; to others it is reserved.
    return (await this.#client.checkSession({ identifier: handle })).reason === "reserved";
  }

  async #verification() {
    const { identifier, channel, attestation: noted } = this.#journal.row;
    const { code, attestation } = this.#request;
    if (attestation) return this.#journal.write({ attestation });
    if (noted && Date.parse(noted.expires_at) > Date.now() + SPARE_MS) return;
    if (!code) throw new TypeError("code: a function that returns the code that was sent");
    await this.#client.sendCode({ identifier, channel });
    this.#tell("code sent");
    await this.#journal.write({ attestation: await this.#attestation(code) });
    this.#tell("verified");
  }

  async #attestation(ask: NonNullable<RegistrationRequest["code"]>): Promise<Attestation> {
    const { identifier, channel } = this.#journal.row;
    let message = "";
    for (let tries = 0; tries < CODE_ATTEMPTS; tries += 1) {
      const code = await ask(message || `code sent to ${identifier}`);
      if (!code) break;
      const checked = await this.#client.checkCode({ identifier, channel, code });
      if (checked.verified && checked.attestation) return checked.attestation;
      message = ("message" in checked && checked.message) || "the code is incorrect";
    }
    throw new RegistrationRefused(message || "no code was given");
  }

  async #onChain() {
    if (this.#journal.row.txHash) return;
    try {
      await this.#client.bundler("eth_supportedEntryPoints");
    } catch (error) {
      if (error instanceof RequestRefused && error.code === "bundler_not_configured") return;
      throw error;
    }
    const account = await SmartAccount.open(this.#client);
    await new ChainRegistration(account, this.#client.vault, this.#journal, (step) => this.#tell(step)).run();
  }

  async #record() {
    const credentialId = this.#credentialId;
    try {
      await registerCredential(this.#client, credentialId, this.#journal.row);
    } catch (error) {
      await this.#resolved(error);
    }
    const known = await this.#client.lookupDid({ credentialId });
    if (!known.found)
      throw new RegistrationRefused("the service accepted the registration but does not return it: try again later");
    this.#tell("registered");
    return this.#finished(known);
  }

  /** Returns if the registration that failed is nevertheless there; throws otherwise. */
  async #resolved(error: unknown) {
    const code = error instanceof RequestRefused ? error.code : "";
    // The response to an earlier attempt may have been lost, after the service had stored the registration; or too few
    // blocks follow the transaction for adding it.
    if (REPEATED.includes(code) && (await this.#client.lookupDid({ credentialId: this.#credentialId })).found) return;
    // The next attempt asks for another code.
    if (OF_ATTESTATION.includes(code)) await this.#journal.write({ attestation: undefined });
    if (code === "registration_unproven" && !this.#journal.row.txHash)
      throw new RegistrationRefused(
        "the service requires a transaction that registers this DID, and has no bundler that could send one",
        { cause: error },
      );
    throw error;
  }

  async #finished(known: DidRecord) {
    const { did, txHash } = this.#journal.row;
    if (known.did !== did) throw new RegistrationRefused("this passkey is registered for another DID");
    if (known.txHash !== NO_TRANSACTION || !txHash) await this.#journal.forget(); // or the next call adds the transaction
    return known;
  }

  #tell(step: RegistrationStep) {
    this.#request.onProgress?.(step);
  }
}

function chosen({ handle, email, sms }: RegistrationRequest) {
  const given = Object.entries({ handle, email, sms }).flatMap(([channel, value]) =>
    value ? [{ identifier: value, channel }] : [],
  );
  if (given.length !== 1) throw new TypeError("exactly one of handle, email and sms");
  return given[0];
}
