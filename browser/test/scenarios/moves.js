/** Plays the scenarios of moves to another service. Effects are what the new passkey, the services and the account do. */

import { toBase64, toBase64url } from "../../src/bytes.ts";
import { SecondKeyMissing } from "../../src/chain/errors.ts";
import { move } from "../../src/flows/move.ts";
import { VaultStore } from "../../src/vault/store.ts";
import "./clients.js"; // keeps the stores in memory
import { Player, Script, told } from "./script.js";

const DID = "did:new:0x01";
/** A passkey whose signatures accounts do not verify. */
const WITHOUT_KEY = "passkey without key";
const FIELDS = { chain_id: "chainId", did_registry: "didRegistry" };
const utf8 = (text) => new TextEncoder().encode(text);
/** The signer of a passkey, or of another owner, by its name. */
const signerOf = (name) => `0x${Buffer.from(utf8(name)).toString("hex").padEnd(128, "0")}`;
const nameOf = (signer) => Buffer.from(signer.slice(2), "hex").toString().replace(/\0+$/, "");
const publicKey = (name) => Buffer.from(`04${signerOf(name).slice(2)}`, "hex").toString("base64");
const namedIn = ({ changes }, wanted) =>
  changes.filter(({ kind }) => kind === wanted).map(({ signer }) => nameOf(signer));
let players = 0;

/** Returns what each attempt led to: its effects, who has what after it, its result and its error. */
export async function playMove(scenario) {
  return new MovePlayer(scenario.given).outcomes(scenario);
}

/** One person's vault, the passkeys that are made, and the services, which differ in their hosts. */
export class MovePlayer extends Player {
  dbName = `move ${++players}`;
  made = 0;
  credentials = ["former"];
  wraps = ["former"];

  constructor(given = {}) {
    super();
    const { name = "ada", channel = "handle", others: more = [], registered = true, taken = {} } = given;
    const { owners = ["vault"], flags = 5, chain = true, threshold = 1, deployed = true, chains = [] } = given;
    const { expired = [] } = given; // owners until a time that is over
    const others = Object.fromEntries(chains.map((it) => [it, [...owners]]));
    const account = { owners, chain, threshold, deployed, others, place: deployed ? 3 : 0, history: [], held: null };
    Object.assign(this, { name, channel, flags, expired, ...account });
    const all = registered ? Object.fromEntries([name, ...more].map((it) => [it, DID])) : {};
    this.rows = {
      old: { names: all, passkeys: registered ? ["former"] : [] },
      new: { names: { ...taken }, passkeys: [] },
      gone: { names: {}, passkeys: [] },
    };
  }

  /** Makes one attempt, which knows only what is stored. */
  async turn({ answers, to = "https://new.example", owner, endFormer, second }, stopAfter) {
    const script = (this.script = new Script(answers, stopAfter));
    this.keys = second ? 2 : 1;
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (work) => setTimeout(work, 0);
    let [result, error] = [null, null];
    try {
      const options = { owner, ...(endFormer !== undefined && { endFormer: () => endFormer }) };
      const services = [this.service("https://old.example"), this.service(to)];
      result = await script.run(() => move(...services, this.#passkeys(), options));
    } catch (raised) {
      error = raised;
    }
    globalThis.setTimeout = setTimeout;
    return { effects: script.effects, state: await this.#state(), result: this.#shown(result), ...told(error) };
  }

  /** A service with names and passkeys. What it says of them may be scripted; it is not an effect. */
  service(baseUrl) {
    const { vault } = this;
    const host = new URL(baseUrl).hostname.split(".")[0];
    const { names, passkeys } = this.rows[host];
    const said = (what, truth) => ({ ...truth, ...this.script.scripted(`${host} says: ${what}`) });
    const known = { found: true, identifier: this.name, channel: this.channel, did: DID, txHash: "0x02" };
    const register = ({ passkey, known: { identifier } }) =>
      this.answer(`${host}: register`, ` ${identifier}`, () => {
        names[identifier] = DID;
        passkeys.push(passkey);
      });
    return {
      baseUrl,
      vault,
      register,
      ownDid: async () => said("DID", { id: `did:web:${host}.example` }).id,
      contracts: async () => {
        const given = Object.entries(said("contracts", { chain_id: 8453, did_registry: "0xBB" }));
        return Object.fromEntries(given.map(([name, value]) => [FIELDS[name] ?? name, value]));
      },
      lookupDid: async ({ credentialId }) =>
        passkeys.includes(credentialId) ? said("passkey", known) : { found: false },
      checkSession: async ({ identifier }) => said("name", { available: !(identifier in names), reason: "taken" }),
      checkAlias: async ({ alias }) => ({ did: names[alias] ?? null }),
      snapshots: async () => ({
        copyTo: async () => (await this.answer(`${host}: copy`), "root"),
        continueHere: () => this.answer(`${host}: continue`),
      }),
      chains: async () => ({
        chains: [
          { main: true, payments: true },
          ...Object.keys(this.others).map((it) => ({ chainId: it, name: it, main: false, payments: true })),
        ],
      }),
      accountKeys: async (_, chainId) => this.#accountKeys(host, chainId),
      _call: ({ path }, _, { authorization }) => this.#ofPerson(host, path, authorization),
    };
  }

  /** The account on the main chain, as one service shows it, or on another chain of the service. */
  #accountKeys(host, chainId) {
    const said = (what, truth) => this.script.scripted(`${host} says: ${what}`) ?? truth;
    return {
      knowsChain: async () => this.chain,
      view: async () => {
        const ends = [...this.expired.map((it) => [it, 1]), ...said("owners", this.owners).map((it) => [it, 0])];
        return { owners: [...new Map(ends)].map(([it, expiry]) => ({ signer: signerOf(it), expiry })) };
      },
      sign: async (changes) => {
        const keys = said("threshold", this.threshold);
        if (keys > this.keys) throw new SecondKeyMissing("0x01", []);
        return { place: said("place", this.place), keys, changes };
      },
      history: async () => this.history,
      origin: async () => null,
      bring: async ([change]) => {
        if (chainId === undefined) return this.#changed(change);
        await this.answer(`${chainId}: bring`, "", () => (this.others[chainId] = [...this.owners]));
      },
    };
  }

  /** A change that ends passkeys of earlier attempts has no effect to compare: the clients make other ones. */
  async #changed(change) {
    const [adds, ends] = ["add_owner", "remove_owner"].map((kind) => namedIn(change, kind));
    const how = this.script.scripted("account");
    const begun = this.deployed ? "account" : "account, created";
    if (this.held && how === "held first") this.#takes(this.held);
    if (how === "elsewhere")
      this.#takes({ place: this.place, keys: 2, changes: [{ kind: "add_owner", signer: signerOf("another") }] });
    const then = () => (how === "held" ? (this.held = change) : this.#takes(change));
    if (ends.some((it) => it !== "former")) return void then();
    const told = [...adds.map((it) => `add ${this.#symbol(it)}`), ...ends.map((it) => `end ${it}`)];
    await this.answer("account", `: ${told.join(", ")}`, then, begun);
  }

  /** Lets the account take a change, if enough keys have signed it for this sequence. */
  #takes(change) {
    if (change.place !== this.place || change.keys < this.threshold) return;
    this.place += 1;
    this.history.push(change);
    this.deployed = true;
    const ends = namedIn(change, "remove_owner");
    this.owners = [...new Set([...this.owners, ...namedIn(change, "add_owner")])].filter((it) => !ends.includes(it));
  }

  async #ofPerson(host, path, authorization) {
    const rows = this.rows[host];
    if (path === "/api/person") return { identifiers: Object.keys(rows.names).map((given) => ({ given })) };
    const { audience, identifier, credentialId } = JSON.parse(authorization.slice("Bearer ".length));
    if (audience !== `did:web:${host}.example`) throw new TypeError(`${host} got a token for ${audience}`);
    const takeBack = () => rows.passkeys.splice(0, Infinity, ...rows.passkeys.filter((it) => it !== credentialId));
    if (identifier) await this.answer(`${host}: free`, ` ${identifier}`, () => delete rows.names[identifier]);
    else if (host === "old") await this.answer(`${host}: take back`, ` ${credentialId}`, takeBack);
    else takeBack(); // of an interrupted attempt; the Python client uses the same passkey again
    return { identifiers: 0, credentials: 0, snapshots: 0, pins: 0 };
  }

  get vault() {
    const without = (list, id) => list.filter((it) => it !== id);
    const actions = {
      create: ({ credential_id: id }) => (this.credentials.includes(id) ? "exists" : void this.credentials.push(id)),
      delete: ({ credential_id: id }) => void (this.credentials = without(this.credentials, id)),
      verify: async ({ assertion }) =>
        (await this.answer("passkey signs")) ?? {
          valid: true,
          credential_id: JSON.parse(Buffer.from(assertion, "base64")).id,
        },
      list: () =>
        this.credentials.map((id) => ({ credential_id: id, public_key: id === WITHOUT_KEY ? null : publicKey(id) })),
    };
    return {
      dbName: this.dbName,
      query: async () => ({ did: DID, credentials: this.credentials.map((id) => ({ credential_id: id })) }),
      keys: async () => ({ wraps: this.wraps.map((id) => ({ kind: "prf", id })) }),
      addKey: async ({ id }) => void this.wraps.push(id),
      removeKey: async (_, id) => void (this.wraps = without(this.wraps, id)),
      parse: async (name) => ({ parsed: { aaguid: "", transports: [], cose_key: publicKey(name) } }),
      publishingKey: async () => ({ public_key: "0x01" }),
      invoke: async ({ audience, args }) => ({ container: JSON.stringify({ audience, ...args }) }),
      exec: async (filter, args) => {
        const result = await actions[filter.split("action:")[1]](args);
        return result === "exists" ? { success: false, error: result } : { success: true, result };
      },
    };
  }

  #passkeys() {
    const make = async ({ challenge }) => {
      this.made += 1;
      const credentialId = this.script.scripted("passkey made") ?? `passkey ${this.made}`;
      const client = JSON.stringify({ type: "webauthn.get", challenge: toBase64url(challenge) });
      const data = new Uint8Array(37).fill(this.flags, 32, 33);
      const response = { authenticatorData: toBase64(data), clientDataJSON: toBase64(utf8(client)) };
      const assertion = toBase64(utf8(JSON.stringify({ id: credentialId, response })));
      return { credential: credentialId, credentialId, assertion, secret: new Uint8Array(32) };
    };
    return { origin: "https://new.example", rpId: "new.example", make };
  }

  async #state() {
    const have = ({ names, passkeys }) => [
      ...Object.keys(names).filter((name) => names[name] === DID),
      ...passkeys.map((it) => this.#symbol(it)),
    ];
    const services = Object.fromEntries(Object.entries(this.rows).map(([host, rows]) => [host, have(rows)]));
    const noted = (await new VaultStore({ dbName: this.dbName }).note(`moving:${DID}`)) !== null;
    const lists = { opens: this.wraps, records: this.credentials, owners: this.owners };
    const named = Object.entries({ ...lists, ...this.others }).map(([name, them]) => [
      name,
      them.map((it) => this.#symbol(it)),
    ]);
    return { ...services, ...Object.fromEntries(named), noted };
  }

  #shown(result) {
    if (!result) return null;
    const { credentialId, identifier, channel, leftBehind, isOwner, formerIsOwner, missingOn } = result;
    const owned = { isOwner, formerIsOwner, missingOn };
    return { identifier, channel, passkey: this.#symbol(credentialId), leftBehind, ...owned };
  }

  /** The name of a passkey: how many attempts it took differs between the clients. */
  #symbol(credentialId) {
    return credentialId === `passkey ${this.made}` ? "new passkey" : credentialId;
  }
}
