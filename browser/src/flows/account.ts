/**
 * The vault's smart account on one service's chain: prepares its operations, has the enclave sign them, and sends each
 * once.
 */

import "../core.ts";
import { fromHex, toHex } from "../bytes.ts";
import {
  beforeCreation,
  type Nested,
  nestedText,
  nestedTypedData,
  type TypedData,
} from "../chain/account_signatures.ts";
import { placeholderAssertion } from "../chain/assertions.ts";
import { Bundler, EMPTY_OPERATION, isByName, isByTwo, PLACEHOLDER_SIGNATURE, type Receipt } from "../chain/bundler.ts";
import { createAccount, type Payment } from "../chain/calls.ts";
import { OperationFailed, SecondKeyMissing, isStale, revertOf } from "../chain/errors.ts";
import { type Fees, NO_FEES, higherFees } from "../chain/fees.ts";
import { permissionsOf } from "../chain/granted.ts";
import { checkedAddress } from "../chain/addresses.ts";
import { textHash } from "../chain/names.ts";
import { getAlias, readAlias } from "../chain/did_calls.ts";
import { ownersOf } from "../chain/owner_list.ts";
import { byName, hasExpired, named, ownerState, p256Signer, settingsOf, words } from "../chain/owners.ts";
import { address as addressWord, hex, number } from "../chain/abi.ts";
import { type GasPolicy, noEndpoint, paidByAccount, withFees } from "../chain/own_gas.ts";
import { ask, endpointNamed, hasCode, quantity, sleep } from "../chain/rpc.ts";
import { type Signed, type Way, wayOf, withinSum } from "../chain/two_keys.ts";
import type { Client } from "../client.ts";
import { NetworkError, insteadOf, printable } from "../errors.ts";
import type { AccountState, ContractSet, ServedChain, UserOp } from "../generated/types.ts";
import { ownKey } from "../vault/own_key.ts";
import { accountAddress, contractsOf, servedChain } from "./contracts.ts";
import { BLOCK_LOOK_MS, BLOCK_MS, BLOCK_WITHIN_MS, STATE_AGE_MS } from "../generated/operation_retries.ts";
import { NONCES, SignedOperations } from "./signed.ts";

/** ERC-4337: the paymaster's errors begin with AA3, here as hex. */
const OF_PAYMASTER = "414133";
const NO_SECOND: Way = { kind: "one", keys: [] };
const GET_NONCE = "35567e1a"; // getNonce(address,uint192)
/** Digits of a permission's ID that are the key of its nonces. */
const KEY_DIGITS = 48;

export type AccountKey = { x: bigint; y: bigint; address: string };

/** One account of one vault. */
export class SmartAccount {
  declare policy: GasPolicy;
  declare contracts: ContractSet;
  declare key: AccountKey;
  declare address: string;
  declare elsewhere: ServedChain | null;
  declare bundler: Bundler;

  #client;
  #facts;
  #signed;
  /** The endpoint that the service names. */
  #named = "";
  /** The second keys that can sign the operation prepared last. */
  #seconds: string[] = [];

  /**
   * @param facts.isForeign another key created the account
   * @param facts.elsewhere the chain, if it is not the service's main chain
   * @param facts.permissionId the permission by which the vault's key spends, if it owns nothing
   * @param facts.policy by default the client's
   */
  constructor(
    client: Client,
    facts: {
      contracts: ContractSet;
      key: AccountKey;
      isForeign?: boolean;
      elsewhere?: ServedChain | null;
      permissionId?: string | null;
      policy?: GasPolicy;
    },
  ) {
    const { contracts, key, elsewhere = null, permissionId, policy = client.gas ?? {} } = facts;
    this.#client = client;
    this.#facts = facts;
    this.policy = policy;
    this.contracts = contracts;
    this.key = key;
    this.address = key.address;
    this.elsewhere = elsewhere;
    this.bundler = new Bundler(client, contracts.entryPoint, elsewhere && elsewhere.chainId);
    const slot = [contracts.chainId, contracts.entryPoint, key.address, permissionId].filter(Boolean).join(":");
    this.#signed = new SignedOperations(client.vault, slot);
  }

  /** @returns the first account of the vault's key */
  static async open(client: Client): Promise<SmartAccount> {
    const [contracts, key] = await Promise.all([contractsOf(client), keyOf(client)]);
    return new SmartAccount(client, { contracts, key });
  }

  /**
   * The account that the client pays from: the one that its application names, or else the first of the vault's key.
   * @throws {TypeError} what the application names is not an address
   */
  static async ofClient(client: Client) {
    const { contracts, key } = await SmartAccount.open(client);
    const { accountAddress: named, vault } = client;
    if (named === null) return new SmartAccount(client, { contracts, key });
    const address = await checkedAddress(vault, named, "account");
    return new SmartAccount(client, { contracts, key: { ...key, address }, isForeign: true });
  }

  /**
   * An account from which the vault's key spends by a permission. Its operations need a sponsor. Their nonces have a
   * separate key (ERC-4337), the first 24 bytes of the permission's ID, which the account demands: they never block
   * the owners'.
   */
  static async ofSpender(client: Client, address: string, permissionId: string) {
    const { contracts, key } = await SmartAccount.open(client);
    const policy = { ...client.gas, sponsored: true, maxOwnCostWei: 0n };
    return new SmartAccount(client, { contracts, key: { ...key, address }, permissionId, policy });
  }

  /**
   * Returns the account at the same address on a chain of the service.
   * @throws {TypeError} the service has no bundler for the chain
   */
  async on(chainId: number): Promise<SmartAccount> {
    const { contracts } = this;
    if (chainId === contracts.chainId) return this;
    const elsewhere = await servedChain(this.#client, chainId);
    if (!elsewhere?.payments)
      throw new TypeError(`chainId: this service pays on chain ${contracts.chainId}, not on ${chainId}`);
    return new SmartAccount(this.#client, { ...this.#facts, contracts: { ...contracts, chainId }, elsewhere });
  }

  /** Returns the account's state on the chain. */
  state() {
    const account = this.address;
    if (this.elsewhere) return this.#client.accountStateOn(this.elsewhere.chainId, { account });
    return this.#client.accountState({ account });
  }

  /**
   * Prepares an operation that lacks only its signature. An account's first operation also deploys it.
   * @param callData 0x-hex
   * @throws {OperationFailed}
   */
  async prepared(callData: string): Promise<UserOp> {
    try {
      return await this.#paid(callData);
    } catch (error) {
      if (!isStale(error)) throw error;
    }
    await this.#signed.forgetNext();
    await sleep(STATE_AGE_MS);
    try {
      return await this.#paid(callData);
    } catch (error) {
      if (isStale(error)) await this.#signed.giveUp();
      throw error;
    }
  }

  /** Signs an operation with the enclave. */
  async signed(operation: UserOp): Promise<{ operation: UserOp; hash: string }> {
    const { entryPoint, chainId } = this.contracts;
    const { signature, user_op_hash: hash } = await this.#client.vault.signUserOp(operation, entryPoint, chainId);
    const seconds = isByTwo(operation) ? [await this.#bySecond(hash)] : [];
    const made = isByName(operation) ? await this.#byName(signature, ...seconds) : signature;
    return { operation: { ...operation, signature: made }, hash };
  }

  /**
   * Signs a text as the account. Verifiers of ERC-1271 accept the signature on the service's chain. Before the account
   * exists there, the signature contains the call that creates it (ERC-6492).
   * @returns 0x-hex
   * @throws {OperationFailed} two owners must sign, or the vault's key is not an owner of the account
   */
  async signText(message: string): Promise<string> {
    return this.#signedMessage(nestedText(message, this.#domain));
  }

  /**
   * Signs an app's typed data (EIP-712) as the account, in the same way.
   * @returns 0x-hex
   * @throws {OperationFailed}
   * @throws {TypeError} it is not typed data
   */
  async signTypedData(data: TypedData): Promise<string> {
    return this.#signedMessage(nestedTypedData(data, this.#domain));
  }

  /** Sends a signed operation without retrying. */
  async send({ operation, hash }: { operation: UserOp; hash: string }) {
    await this.#signed.note(operation, hash);
    await this.bundler.send(operation, hash);
  }

  /**
   * Waits for the receipt of an operation.
   * @param within milliseconds
   * @throws {OperationFailed} the operation was mined and failed, or there was no receipt in time
   */
  async wait(hash: string, within?: number): Promise<Receipt> {
    try {
      const receipt = await this.bundler.wait(hash, within);
      await this.#signed.mined(hash);
      return receipt;
    } catch (error) {
      if (error instanceof OperationFailed && error.reverted) await this.#signed.mined(hash);
      throw error;
    }
  }

  /** Returns which of the account's operations that this browser has signed are open, and which were replaced. */
  fates() {
    return this.#signed.fates((hash) => this.#outcome(hash));
  }

  /** @returns null until it is mined */
  async #outcome(hash: string): Promise<{ reverted: boolean } | null> {
    try {
      return (await this.bundler.receipt(hash)) && { reverted: false };
    } catch (error) {
      if (error instanceof OperationFailed && error.reverted) return error;
      throw error;
    }
  }

  async #paid(callData: string) {
    const unpaid = await this.#unpaid(callData);
    const url = await this.endpoint();
    const usual = await withFees(url, this, { ...unpaid, ...NO_FEES });
    const operation = { ...usual, ...higherFees(usual, unpaid) };
    if (this.policy.sponsored === false) return paidByAccount(url, this, operation, "no sponsor was asked");
    try {
      return await this.#sponsored(operation, usual, unpaid);
    } catch (error) {
      const isFinal = this.policy.maxOwnCostWei === 0n || speaksOfOperation(error);
      if (!(error instanceof OperationFailed) || isFinal) throw error;
      return paidByAccount(url, this, operation, `the sponsor does not pay: ${error.message}`);
    }
  }

  /**
   * Throws if the chain says that a DID has this alias. The registry says so only after a commitment. Without an
   * endpoint of the chain that answers, nothing is thrown.
   * @param alias in the canonical form
   * @throws {OperationFailed}
   */
  async requireFree(alias: string) {
    const url = await this.endpoint();
    const data = url && getAlias(await textHash(this.#client.vault, alias));
    const isTaken =
      url &&
      (await ask(url, "eth_call", [{ to: this.contracts.didRegistry, data }, "latest"])
        .then((answer) => readAlias(answer).didHash !== null)
        .catch(() => false));
    if (!isTaken) return;
    const message = `the alias ${alias} is taken on the chain: choose another`;
    throw Object.assign(new OperationFailed(message), { reason: "AliasTaken" });
  }

  /**
   * Waits for a block above `after` (null: above the newest one); without the chain's endpoint, for three seconds.
   * @returns the newest block's number; `after` without an endpoint or if no block came in time
   */
  async nextBlock(after: number | null): Promise<number> {
    const url = await this.endpoint();
    const found = url ? blockAbove(url, after, performance.now() + BLOCK_WITHIN_MS) : sleep(BLOCK_MS);
    return (await found.catch(() => null)) ?? after ?? 0;
  }

  /** Returns the address of the chain's endpoint, "" if none exists or the service does not say. */
  async endpoint() {
    if (!this.elsewhere && this.policy.rpcUrl) return this.policy.rpcUrl;
    const named = this.elsewhere ?? (await this.#client.status().catch(insteadOf(NetworkError, null)));
    if (!named) return "";
    this.#named = named.rpc ?? "";
    return endpointNamed(this.#named, this.#client.baseUrl);
  }

  /** @returns the same endpoint @throws {NetworkError} none is known, or may be used */
  async knownEndpoint(): Promise<string> {
    const url = await this.endpoint();
    if (url) return url;
    const named = this.#named && `the service names ${printable(this.#named)}, which this page may not call`;
    throw noEndpoint(this, named || "no endpoint of the chain is known", "name one (gas.rpcUrl)");
  }

  async #unpaid(callData: string) {
    const standing = await (this.#facts.permissionId ? this.#spending() : this.#acting());
    const { isDeployed, isNamed } = standing;
    this.#seconds = standing.seconds;
    const placeholders = this.#seconds.slice(0, 1).map((signer) => ({ signer, signature: placeholderAssertion() }));
    const signature = isNamed ? await this.#byName(PLACEHOLDER_SIGNATURE, ...placeholders) : "0x";
    const number = await this.#signed.nonce(standing.nonce, callData, (hash) => this.#outcome(hash));
    const first = isNamed || isDeployed || number > 0n ? {} : this.#creation;
    const fees = await this.#signed.leastFees();
    const nonce = hex(this.#nonceKey * NONCES + number);
    return { ...EMPTY_OPERATION, sender: this.address, nonce, callData, ...first, ...fees, signature };
  }

  /** How the vault's key acts as an owner. `nonce`: that in the account's state. */
  async #acting() {
    const state = await this.state();
    const standing = this.#standing(state);
    if (standing.isNamed) await this.#checkOwner();
    const { kind, keys: seconds } = this.#client.secondKey ? await this.way() : NO_SECOND;
    if (kind === "missing") throw new SecondKeyMissing(this.address, seconds);
    return { nonce: state.nonce, ...standing, isNamed: standing.isNamed || kind === "two", seconds };
  }

  /** Returns the account's state as a permission's spender sees it. Only the chain knows its nonce. */
  async #spending() {
    const url = await this.knownEndpoint();
    const data = GET_NONCE + addressWord(this.address) + number(this.#nonceKey);
    const [nonce] = await words(url, this.contracts.entryPoint, data, 1);
    return { nonce: String(nonce % NONCES), isDeployed: true, isNamed: true, seconds: [] };
  }

  /** Returns which keys sign an operation of the account, or a payment. */
  async way(payment: Payment | null = null): Promise<Way> {
    const url = await this.knownEndpoint();
    const [{ vault, secondKey }, own] = [this.#client, p256Signer(this.key)];
    const chainAccount = { vault, url, address: this.address };
    // The service's account state may be older than the account.
    const threshold = (await hasCode(url, this.address)) ? (await settingsOf(url, this.address)).threshold : 1;
    if (threshold < 2) return NO_SECOND;
    const below = payment && withinSum(await this.#keyId(), await permissionsOf(chainAccount), payment);
    if (below) return below;
    const [owners, seconds] = [await ownersOf(chainAccount, [own]), (await secondKey?.signers()) ?? []];
    return wayOf({ threshold, own, seconds, owners, now: Date.now() / 1000 });
  }

  #bySecond(hash: string): Promise<Signed> {
    const { secondKey } = this.#client;
    if (!secondKey) throw new SecondKeyMissing(this.address, this.#seconds);
    return secondKey.sign(hash, this.#seconds);
  }

  get #nonceKey() {
    return BigInt(this.#facts.permissionId?.slice(0, 2 + KEY_DIGITS) ?? 0);
  }

  /** @returns `isNamed`: the vault's key is not the primary key, so its signature names it */
  #standing({ nonce, pubKeyX, pubKeyY }: AccountState): { isDeployed: boolean; isNamed: boolean } {
    const { x, y } = this.key;
    const isDeployed = BigInt(nonce) > 0n || BigInt(pubKeyX) !== 0n;
    const isReplaced = isDeployed && (BigInt(pubKeyX) !== x || BigInt(pubKeyY) !== y);
    return { isDeployed, isNamed: isReplaced || Boolean(this.#facts.isForeign) };
  }

  /** The call that creates the account. */
  get #creation() {
    return { factory: this.contracts.appFactory, factoryData: createAccount(this.key.x, this.key.y) };
  }

  /**
   * Throws unless the chain says that the vault's key, which is not the account's primary key, alone may act for it.
   * @throws {OperationFailed}
   */
  async #checkOwner() {
    const url = await this.endpoint();
    if (url && this.#facts.isForeign && !(await hasCode(url, this.address)))
      throw new OperationFailed(`the account ${this.address} does not exist on this chain yet`);
    const found = url ? await ownerState(url, this.address, await this.#keyId()) : { isOwner: false, expiry: 0 };
    if (found.isOwner && !this.#client.secondKey && (await settingsOf(url, this.address)).threshold > 1)
      throw new OperationFailed(`two owners of the account ${this.address} must sign`);
    if (!found.isOwner || hasExpired(found))
      throw new OperationFailed(`the account ${this.address} is controlled by another key than this vault's`);
  }

  get #domain() {
    return { address: this.address, chainId: this.contracts.chainId };
  }

  async #signedMessage({ digest, signature }: Nested) {
    const { isDeployed, isNamed } = this.#standing(await this.state());
    if (isNamed) await this.#checkOwner();
    const own = toHex((await this.#client.vault.sign(digest)).signature);
    const made = signature(isNamed ? await this.#byName(own) : own);
    if (isNamed || isDeployed) return made;
    return beforeCreation(made, this.#creation);
  }

  /**
   * @param signature of the vault's key
   * @returns one signature that names who signed
   */
  async #byName(signature: string, ...others: Signed[]): Promise<string> {
    if (!others.length) return byName(p256Signer(this.key), signature);
    const second = others.map(async (it) => ({ ...it, keyId: await this.#client.vault.keccak256(fromHex(it.signer)) }));
    return named([
      { keyId: await this.#keyId(), signer: p256Signer(this.key), signature },
      ...(await Promise.all(second)),
    ]);
  }

  #keyId() {
    return this.#client.vault.keccak256(fromHex(p256Signer(this.key)));
  }

  /**
   * Returns the operation, sponsored with at least the given fees, even if the sponsor sets its own. A sponsor that
   * refuses them is asked for the usual ones: what it approved before can have ended.
   */
  async #sponsored(operation: UserOp, usual: UserOp, least: Fees) {
    const same = (one: Fees, other: Fees) => JSON.stringify(higherFees(one, one)) === JSON.stringify(other);
    try {
      const made = await this.bundler.sponsored(operation);
      const fees = higherFees(made, least);
      return same(made, fees) ? made : await this.bundler.sponsored({ ...operation, ...fees });
    } catch (error) {
      const isFinal = same(operation, higherFees(usual, usual)) || speaksOfOperation(error);
      if (!(error instanceof OperationFailed) || isFinal) throw error;
      return this.bundler.sponsored(usual);
    }
  }
}

/** @param end of `performance.now()` @returns null: there was no such block until then */
async function blockAbove(url: string, number: number | null, end: number): Promise<number | null> {
  const newest = async () => Number(quantity(await ask(url, "eth_blockNumber")));
  const least = number ?? (await newest());
  for (;;) {
    const found = await newest();
    if (found > least) return found;
    if (performance.now() + BLOCK_LOOK_MS > end) return null;
    await sleep(BLOCK_LOOK_MS);
  }
}

/** Whether the operation would be refused even if the account paid: it reverts, or its nonce was used. */
function speaksOfOperation(error: unknown) {
  const data = error instanceof OperationFailed ? revertOf(error) : null;
  return isStale(error) || (data !== null && !data.includes(OF_PAYMASTER));
}

/** Returns the key whose hash is the vault's DID, and its account's address. */
async function keyOf(client: Client) {
  const { vault } = client;
  const { did } = await vault.query();
  const { result: keys } = await vault.exec("resource:enclaves action:list");
  const { x, y } = await ownKey(did, keys, (octets) => vault.keccak256(octets));
  const key = { x: BigInt(`0x${x}`), y: BigInt(`0x${y}`) };
  return { ...key, address: await accountAddress(client, key) };
}
