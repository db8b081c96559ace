/** The owners and guardians of a smart account, and its recovery (docs/contracts.md, "Accounts"). */

import "../core.ts";
import { type Call, execute, isAddress } from "../chain/calls.ts";
import { OperationFailed, SecondKeyMissing } from "../chain/errors.ts";
import type { AccountOnChain } from "../chain/logs.ts";
import { checkedAddress } from "../chain/addresses.ts";
import type { Owner } from "../chain/owner_list.ts";
import { byName, named, ofChanges, p256Signer, type Settings, settingsOf, signaturesIn } from "../chain/owners.ts";
import { wayOf } from "../chain/two_keys.ts";
import type { Client } from "../client.ts";
import { RequestRefused } from "../errors.ts";
import { SmartAccount } from "../flows/account.ts";
import { accountAddress, type Origin } from "../flows/contracts.ts";
import { type CallEnclave, passkeyAmong } from "../passkeys/among.ts";
import type { UseOptions } from "../passkeys/use.ts";
import { accepted } from "./candidates.ts";
import type { Change, SignedChanges } from "./changes.ts";
import { ServiceAlone, changesGuardians, givesServiceAlone, triedRecovery } from "./guardians.ts";
import * as calls from "./changes.ts";
import { type OnProgress, operated } from "./operating.ts";
import * as reads from "./reads.ts";
import type { Recovery } from "./reads.ts";
import type { AccountMessage } from "../vault/vault.ts";
import type { InTurn } from "../vault/turns.ts";

/** 0x-hex */
type Signed = { signer: string; signature: string };

/** an account's owners and guardians on one chain */
export interface AccountView {
  address: string;
  chainId: number;
  /** whether it exists on the chain yet; before that, its first key is the only owner */ deployed: boolean;
  /** oldest first */ owners: Owner[];
  /** signers in 0x-hex, oldest first */ guardians: string[];
  settings: Settings;
  /** the one that is under way */ recovery: Recovery | null;
}

/** Of an account without changes (contracts/src/account/Settings.sol). */
const FIRST: Settings = {
  sequence: 0,
  generation: 0,
  owners: 1,
  threshold: 1,
  guardians: 0,
  quorum: 0,
  delay: 259_200,
  recoveryNonce: 0,
};

/**
 * The keys of one account on one chain of a service. What is signed once for every chain is brought to a chain by the first
 * account of the vault's own key there, which need not be an owner.
 */
export class AccountKeys {
  #client;
  #inTurn;
  #address;
  #chainId;
  #namedGuardians: string[] = [];

  /**
   * @param inTurn runs operations one at a time
   * @param address by default, the account that the client pays from
   * @param chainId by default, the service's main chain
   */
  constructor(
    client: Client,
    inTurn: InTurn,
    address: string | null = client.accountAddress,
    chainId: number | null = null,
  ) {
    this.#client = client;
    this.#inTurn = inTurn;
    this.#address = address;
    this.#chainId = chainId;
  }

  /**
   * Returns the account's owners, guardians, terms and running recovery, as its chain says.
   *
   * @throws {NetworkError} no chain endpoint is known, or it does not answer for the chain's whole history
   */
  async view(): Promise<AccountView> {
    const { own, chainAccount } = await this.#opened();
    const { chainId, appFactory } = own.contracts;
    const first = p256Signer(own.key);
    const of = { address: chainAccount.address, chainId };
    if (!(await reads.exists(chainAccount))) {
      const owners = own.address === chainAccount.address ? [{ signer: first, expiry: 0, isPrimary: true }] : [];
      return { ...of, deployed: false, owners, guardians: [], settings: FIRST, recovery: null };
    }
    const created = await reads.originOf(chainAccount, appFactory);
    const [owners, guardians, settings, recovery] = await Promise.all([
      reads.ownersOf(chainAccount, [created ? p256Signer(created) : first]),
      reads.guardiansOf(chainAccount),
      settingsOf(chainAccount.url, chainAccount.address),
      reads.recoveryOf(chainAccount),
    ]);
    return { ...of, deployed: true, owners, guardians, settings, recovery };
  }

  /** @returns whether an endpoint of the chain is known, without which owners are neither read nor changed */
  async knowsChain(): Promise<boolean> {
    return Boolean(await (await this.#ownAccount()).endpoint());
  }

  /** @returns the signer of the vault's key, by which others name it as an owner or guardian, 0x-hex */
  async signer(): Promise<string> {
    return p256Signer((await this.#opened()).own.key);
  }

  /** @returns the recovery that is under way */
  async recovery(): Promise<Recovery | null> {
    const { chainAccount } = await this.#opened();
    return (await reads.exists(chainAccount)) ? reads.recoveryOf(chainAccount) : null;
  }

  /**
   * Signs changes of the account's owners or guardians with the vault's key, once for every chain. If they remove the
   * primary key and name no other one, the oldest remaining P-256 owner becomes primary.
   *
   * @param changes in their order
   * @param how `sequence`: their place, by default the next one on this chain; `cosigned`: the same changes with
   *   another owner's signature, where two owners must sign; `passkey`: a passkey that is an owner itself signs in the
   *   vault's place, if that is not an owner yet; the person uses it twice, which shows which owner it is;
   *   `serviceAlone`: the person has agreed that the service alone can give the account new owners
   * @throws {TypeError} `cosigned` has other changes, or was signed where one signature suffices
   * @throws {ServiceAlone} the service alone would suffice, and `serviceAlone` is not set
   */
  async sign(
    changes: Change[],
    {
      sequence,
      cosigned,
      passkey,
      serviceAlone = false,
    }: { sequence?: number; cosigned?: SignedChanges; passkey?: UseOptions; serviceAlone?: boolean } = {},
  ): Promise<SignedChanges> {
    const { address: account, settings, owners } = await this.view();
    await this.#checkTyping(changes.map(({ signer }) => signer));
    const inLower = changes.map((it) => (it.signer === undefined ? it : { ...it, signer: it.signer.toLowerCase() }));
    const made = cosigned ? inLower : calls.withPrimary(owners, inLower);
    if (!serviceAlone && (await this.givesServiceAlone(made))) throw new ServiceAlone();
    const unsigned = { account, sequence: sequence ?? settings.sequence, changes: made };
    const encoded = (it: Omit<SignedChanges, "signature">) =>
      it.account.toLowerCase() + calls.applyChanges({ ...it, signature: "0x" }).data;
    if (cosigned && encoded(cosigned) !== encoded(unsigned))
      throw new TypeError("the other owner signed different changes");
    const call: CallEnclave = (fn, args) => this.#client.vault.call(fn, args);
    const owner = passkey ? await passkeyAmong(owners, passkey, call) : { signer: await this.signer(), sign: null };
    const seconds = cosigned ? [] : await this.#seconds(settings.threshold, owners, account, owner.signer);
    const { digest, ...own } = await this.#signed({ message: "changes", sequence: unsigned.sequence, changes: made });
    const signed = owner.sign ? { signer: owner.signer, signature: await owner.sign(digest) } : own;
    const others = cosigned ? signaturesIn(cosigned.signature) : [];
    const { secondKey } = this.#client;
    if (secondKey && seconds.length) others.push(await secondKey.sign(digest, seconds));
    if (others.length) return { ...unsigned, signature: await this.#named([...others, signed]) };
    // How many must sign a later change may depend on earlier changes, which this chain does not have yet.
    const suffices = settings.threshold === 1 && unsigned.sequence === settings.sequence;
    const isPrimary = owners.some((it) => it.isPrimary && it.signer === signed.signer);
    const keyId = await reads.keyIdOf(this.#client, signed.signer);
    return { ...unsigned, signature: ofChanges({ ...signed, keyId }, { suffices, isPrimary }) };
  }

  /**
   * Returns whether the service alone could give the account new owners after these changes, and could not before. The
   * chain's state says which of the service's keys are guardians.
   */
  async givesServiceAlone(changes: Change[]) {
    if (!changesGuardians(changes)) return false;
    const { chainAccount } = await this.#opened();
    const keys = await this.serviceKeys();
    if (!(await reads.exists(chainAccount))) return givesServiceAlone({ keys, present: [], quorum: 0 }, changes);
    const states = await reads.statesOf(chainAccount, keys);
    const present = states.filter(({ isGuardian }) => isGuardian).map(({ signer }) => signer);
    const { quorum } = await settingsOf(chainAccount.url, chainAccount.address);
    return givesServiceAlone({ keys, present, quorum }, changes);
  }

  /**
   * Returns the service's keys as a guardian, the one that it offers first. Keys that it named before stay in the list,
   * so that it cannot offer one and deny it when changes are signed.
   *
   * @returns empty if it is not a guardian
   */
  async serviceKeys(): Promise<string[]> {
    const none = (error: unknown): { guardians: string[] } | Promise<never> =>
      error instanceof RequestRefused && error.status === 404 ? { guardians: [] } : Promise.reject(error);
    const found = (await this.#client.recoveryTerms().catch(none)).guardians.map((it) => it.toLowerCase());
    this.#namedGuardians = [...new Set([...found, ...this.#namedGuardians])];
    return this.#namedGuardians;
  }

  /**
   * Asks the service to sign a recovery as a guardian. It sends a code, which `client.checkRecovery` takes.
   *
   * @param newOwners signers in 0x-hex
   * @param identifier an e-mail address or phone number that is registered for the account's DID
   * @returns the request's number
   * @throws {RequestRefused} `recovery_not_possible`: it is not registered, or the service is not a guardian
   */
  async askService(newOwners: string[], identifier: string, channel: "email" | "sms" = "email"): Promise<string> {
    const { chainAccount } = await this.#opened();
    const request = { account: chainAccount.address, newOwners, identifier, channel };
    return (await this.#client.askRecovery(request)).request;
  }

  /**
   * @param newOwners signers in 0x-hex
   * @returns of the service, for `startRecovery`
   * @throws {RequestRefused} `recovery_waits` before its waiting time is over, `recovery_not_found` without a code
   */
  async serviceSignature(newOwners: string[]): Promise<Signed> {
    const { chainAccount } = await this.#opened();
    return this.#client.signRecovery({ account: chainAccount.address, newOwners });
  }

  /**
   * Tries a recovery without starting it: the account must refuse it only because no one signed.
   *
   * @returns how many guardians must sign; null if the account refuses it for another reason
   */
  async tryRecovery(): Promise<number | null> {
    const { chainAccount } = await this.#opened();
    return (await reads.exists(chainAccount)) ? triedRecovery(chainAccount, [await this.signer()]) : null;
  }

  /**
   * Returns the changes that this chain has, from the first, to bring them to other chains. Anyone can write forged
   * changes into the chain's transactions. They are then returned too, next to the owners' with the same sequence, and
   * `bring` takes those that its chain accepts.
   */
  async history(): Promise<SignedChanges[]> {
    const { chainAccount } = await this.#opened();
    return (await reads.exists(chainAccount)) ? reads.historyOf(chainAccount) : [];
  }

  /** @returns what the account was created for; null before it exists on this chain */
  async origin(): Promise<Required<Origin> | null> {
    const { own, chainAccount } = await this.#opened();
    return reads.originOf(chainAccount, own.contracts.appFactory);
  }

  /**
   * Brings signed changes to the chain, without those that it has, and waits until they are mined. Of several with the
   * same sequence the chain decides.
   *
   * @param signed in any order
   * @param how `origin`: with it, an account of another key that does not exist here is created with the changes, if
   *   they begin with the first
   * @returns `applied`: how many were new; 0: the chain had all
   * @throws {TypeError} there are no changes, or they are another account's
   * @throws {OperationFailed} the chain lacks earlier changes than these, or refused them
   */
  async bring(
    signed: SignedChanges[],
    { origin, onProgress }: { origin?: Origin; onProgress?: OnProgress } = {},
  ): Promise<{ chainId: number; applied: number; userOpHash: string | null }> {
    const { own, chainAccount } = await this.#opened();
    const isOther = ({ account }: SignedChanges) => account.toLowerCase() !== chainAccount.address.toLowerCase();
    if (!signed.length || signed.some(isOther)) throw new TypeError("pass changes of this account");
    const here = await reads.exists(chainAccount);
    if (!here) await this.#checkCreatable(own, chainAccount.address, origin);
    const present = here ? (await settingsOf(chainAccount.url, chainAccount.address)).sequence : 0;
    const given = signed.filter((it) => it.sequence >= present).sort((one, other) => one.sequence - other.sequence);
    const numbers = [...new Set(given.map(({ sequence }) => sequence))];
    if (numbers.some((it, at) => it !== present + at))
      throw new OperationFailed(`this chain lacks the account's changes before ${numbers[0]}: bring them first`);
    const together = (history: SignedChanges[]) =>
      here
        ? calls.applyTogether(chainAccount.address, history)
        : calls.createAccountWith(own.contracts.appFactory, origin ?? own.key, history);
    const left = await accepted(chainAccount.url, given, together);
    const isCreated = left.length && !here && chainAccount.address !== own.address;
    const made = isCreated ? [together(left)] : left.map(calls.applyChanges);
    let userOpHash = null;
    for (const call of made) userOpHash = await this.#operated(own, call, onProgress);
    return { chainId: own.contracts.chainId, applied: left.length, userOpHash };
  }

  /**
   * Signs, as a guardian, the recovery that names new owners.
   *
   * @param newOwners signers in 0x-hex
   * @returns for `startRecovery`
   */
  async signRecovery(newOwners: string[]): Promise<Signed> {
    await this.#checkTyping(newOwners);
    const nonce = await this.#recoveryNonce();
    const { signer, signature } = await this.#signed({ message: "recovery", nonce, new_owners: newOwners });
    return { signer, signature };
  }

  /**
   * Starts a recovery. Any owner can cancel it until its delay is over. It replaces one that fewer guardians signed.
   *
   * @param newOwners signers in 0x-hex
   * @param how `signatures`: of guardians, by default the vault's own
   * @returns the operation's hash
   * @throws {OperationFailed} one is under way that as many guardians signed, or more
   */
  async startRecovery(
    newOwners: string[],
    { signatures, onProgress }: { signatures?: Signed[]; onProgress?: OnProgress } = {},
  ): Promise<string> {
    const signed = signatures?.length ? signatures : [await this.signRecovery(newOwners)];
    const supporters = await reads.supportersOf((await this.#opened()).chainAccount);
    if (supporters >= signed.length)
      throw new OperationFailed(
        `a recovery that ${supporters} guardian(s) signed is under way: only more guardians replace it`,
      );
    const given = await this.#named(signed);
    return this.#relayed((account) => calls.startRecovery(account, newOwners, given), onProgress);
  }

  /**
   * Cancels the recovery that is under way, as an owner.
   *
   * @returns the operation's hash
   */
  async cancelRecovery({ onProgress }: { onProgress?: OnProgress } = {}): Promise<string> {
    const { signer, signature } = await this.#signed({ message: "cancellation", nonce: await this.#recoveryNonce() });
    return this.#relayed((account) => calls.cancelRecovery(account, byName(signer, signature)), onProgress);
  }

  /**
   * Finishes the recovery that is under way, after its delay. Anyone may.
   *
   * @returns the operation's hash
   * @throws {OperationFailed} none is under way, or the endpoint hides its new owners
   */
  async finishRecovery({ onProgress }: { onProgress?: OnProgress } = {}): Promise<string> {
    const recovery = await this.recovery();
    if (!recovery) throw new OperationFailed("no recovery of this account is under way");
    const owners = recovery.newOwners;
    if (!owners)
      throw new OperationFailed(
        "a recovery of this account is under way, but the endpoint does not show its new owners",
      );
    return this.#relayed((account) => calls.finishRecovery(account, owners), onProgress);
  }

  /** The first account of the vault's key on the chain. */
  async #ownAccount() {
    const main = await SmartAccount.open(this.#client);
    return this.#chainId === null ? main : main.on(this.#chainId);
  }

  async #checkTyping(signers: (string | undefined)[]) {
    for (const it of signers.filter(isAddress)) await checkedAddress(this.#client.vault, it, "signer");
  }

  async #opened(): Promise<{ own: SmartAccount; chainAccount: AccountOnChain }> {
    const { vault } = this.#client;
    const own = await this.#ownAccount();
    const url = await own.knownEndpoint();
    const address = this.#address === null ? own.address : await checkedAddress(vault, this.#address, "account");
    return { own, chainAccount: { vault, url, address } };
  }

  async #checkCreatable(own: SmartAccount, address: string, origin?: Origin) {
    if (address === own.address || (origin && (await accountAddress(this.#client, origin)) === address)) return;
    throw new OperationFailed(`the account ${address} does not exist on this chain yet`);
  }

  async #recoveryNonce() {
    const { chainAccount } = await this.#opened();
    return (await settingsOf(chainAccount.url, chainAccount.address)).recoveryNonce;
  }

  /**
   * Returns the second keys that can sign changes of the account; an empty list where one key suffices.
   *
   * @param own the owner that signs first, 0x-hex
   */
  async #seconds(threshold: number, owners: Owner[], account: string, own: string) {
    const { secondKey } = this.#client;
    if (!secondKey) return [];
    const now = Date.now() / 1000;
    const seconds = await secondKey.signers();
    const { kind, keys } = wayOf({ threshold, own, seconds, owners, now });
    if (kind === "missing") throw new SecondKeyMissing(account, keys);
    return keys;
  }

  /** @param message without the account */
  async #signed(message: AccountMessage): Promise<Signed & { digest: string }> {
    const { chainAccount } = await this.#opened();
    const made = await this.#client.vault.signAccountMessage({ account: chainAccount.address, ...message });
    return { signer: made.signer, signature: made.signature, digest: made.digest };
  }

  /** @returns one signature, by name */
  async #named(signatures: Signed[]): Promise<string> {
    const withIds = signatures.map(async (it) => ({ ...it, keyId: await reads.keyIdOf(this.#client, it.signer) }));
    return named(await Promise.all(withIds));
  }

  async #relayed(call: (account: string) => Call, onProgress?: OnProgress) {
    const { own, chainAccount } = await this.#opened();
    return this.#operated(own, call(chainAccount.address), onProgress);
  }

  #operated(account: SmartAccount, call: Call, onProgress?: OnProgress) {
    return this.#inTurn(() => operated(account, execute(call), onProgress));
  }
}
