/** Plays the scenarios of registrations and payments, at the level of HTTP requests and of calls to the vault. */

import { readFile } from "node:fs/promises";
import { Client } from "../../src/client.ts";
import { instantiate } from "../../src/enclave-host.ts";
import { PluginCallError } from "../../src/errors.ts";
import { VaultStore } from "../../src/vault/store.ts";
import { MemoryStore } from "./memory_store.js";
import { Player, Script, told } from "./script.js";
import { World } from "./world.js";

/** The stores of all scenarios, by the name of the database. */
const STORES = new Map();
const storeOf = (/** @type {string} */ dbName) => {
  if (!STORES.has(dbName)) STORES.set(dbName, new MemoryStore());
  return STORES.get(dbName);
};
for (const name of ["note", "setNote", "changeNote", "replaceNotes", "close"])
  VaultStore.prototype[name] = function (...given) {
    return storeOf(this.dbName)[name](...given);
  };

let enclave = null;

/** Returns what each event led to: its effects, the state that is stored after it, its result and its error. */
export async function playClient(scenario, { defaults, enclave: module }) {
  enclave ??= await instantiate(await readFile(module));
  return new ClientPlayer(`scenario ${STORES.size}`, defaults, scenario.given ?? {}).outcomes(scenario);
}

class ClientPlayer extends Player {
  constructor(dbName, defaults, given) {
    super();
    this.dbName = dbName;
    this.world = new World(defaults, given, this.script);
    this.facts = defaults.facts;
    for (const [name, note] of Object.entries(given.notes ?? {}))
      storeOf(dbName).notes.set(`${name}:${this.facts.did}`, note);
  }

  /** Performs one event with a new client, which knows only what is stored. */
  async turn(event, stopAfter) {
    const { world } = this;
    const script = (this.script = world.script = new Script(event.answers, stopAfter));
    const client = new Client({
      baseUrl: "https://service.example",
      vault: this.#vault(event),
      gas: policyOf(event.policy ?? {}),
      ...(event.account && { account: this.facts[event.account] ?? event.account }),
      snapshots: { automatic: false, serviceDid: event.service_did },
      subsystems: { helia: async () => {} },
      fetch: world.fetch,
    });
    const restore = skipping(world, this.facts.now_s + (event.clock_s ?? 0));
    let [result, error] = [null, null];
    try {
      result = await script.run(() => this[event.do](client, event));
    } catch (raised) {
      error = raised;
    } finally {
      restore();
    }
    return { effects: script.effects, state: this.#state(), result: this.#shown(result), ...this.#told(error, event) };
  }

  register(client, { handle, email, sms, codes = ["111111"] }) {
    const left = [...(codes ?? [])];
    const { script } = this.world;
    const code = async (message) => {
      await script.perform(`ask: ${message}`);
      return left.shift() ?? null;
    };
    const asked = codes && { code };
    return client.register({
      handle,
      email,
      sms,
      ...asked,
      onProgress: (step) => void script.perform(`tell: ${step}`),
    });
  }

  async pay(client, { to = "payee", amount, token = "native", ucan, payments = 1, chain_id: chainId = 84532 }) {
    const { script } = this.world;
    const asked = { to: this.facts[to] ?? to, amount, token, chainId, ...(ucan && { ucan }) };
    const options = { onProgress: (step) => script.perform(`tell: ${step}`) };
    for (let left = payments; left > 1; left -= 1) await client.pay(asked, options);
    return client.pay(asked, options);
  }

  async set_did_active(client, { active }) {
    const { script } = this.world;
    const did = await client.accountDid();
    await did.setActive(active, { onProgress: (step) => void script.perform(`tell: ${step}`) });
  }

  /** A vault with one key; each call that signs is recorded as an effect. */
  #vault({ locked = false, curve = "P-256", passkeys = [this.facts.credential] }) {
    const { world, facts, dbName } = this;
    const used = async (what, fn, then = () => {}) => {
      if (locked) throw new PluginCallError(fn, "the vault is locked", "vault_locked");
      await world.performed(`vault: ${what}`, "", then);
    };
    const point = `04${facts.x.slice(2)}${facts.y.slice(2)}`;
    return {
      dbName,
      status: async () => ({ locked, did: facts.did }),
      query: async () => ({ did: facts.did, credentials: passkeys.map((it) => ({ credential_id: it })) }),
      keccak256: async (data) => enclave.call("keccak256", { data: [...data] }).hash,
      deriveAddress: async (chain, options) => enclave.call("derive_address", { chain, ...options }),
      exec: async (filter, question) => {
        if (filter === "resource:enclaves action:list")
          return { success: true, result: [{ curve, public_key: point }] };
        const answer = await world.performed("vault: verify", askedAbout(question), () => {});
        if (answer?.error) return { success: false, error: answer.error };
        return { success: true, result: answer ?? world.defaults.answers["vault: verify"] };
      },
      createRegistration: async ({ step, alias }) => {
        const other = ["", facts.alias].includes(alias) ? "" : ` of ${alias}`;
        await used(step + other, "create_registration");
        return { call_data: facts[step] };
      },
      signUserOp: async (operation) => {
        const nonce = BigInt(operation.nonce);
        const hash = enclave.call("keccak256", { data: [...Buffer.from(JSON.stringify(operation))] }).hash;
        await used(`sign nonce ${nonce}`, "sign_user_op", () => world.signed.push(hash));
        return { signature: `0x${"01".repeat(64)}`, user_op_hash: hash };
      },
      invoke: async ({ audience }) => {
        const other = audience === "did:web:service.example" ? "" : ` for ${audience}`;
        await used(`token${other}`, "mint_invocation");
        return { container: "token" };
      },
      close() {},
    };
  }

  #state() {
    const notes = [...storeOf(this.dbName).notes];
    const of = (prefix) => notes.filter(([name]) => name.startsWith(prefix));
    const [[, row] = []] = of("registration:");
    const [[, signed] = []] = of("signed:");
    return {
      registration: row ? this.#row(row) : null,
      signed: signed
        ? { nonce: Number(signed.nonce), operations: Object.keys(signed.calls).map((it) => this.world.symbol(it)) }
        : null,
      fees: signed ? Object.values(signed.fees).map((it) => `${BigInt(it)}`) : null,
      spent: Object.fromEntries(
        of("spent:").map(([name, value]) => [name.slice(6), value === true ? "1" : `${value}`]),
      ),
    };
  }

  #row({ did: _did, ...row }) {
    const shown = Object.entries(row).filter(([, value]) => value);
    return Object.fromEntries(
      shown.map(([name, value]) => [name, typeof value === "object" ? true : this.world.symbol(value)]),
    );
  }

  #shown(result) {
    return result && Object.fromEntries(Object.entries(result).map(([name, it]) => [name, this.world.named(it)]));
  }

  #told(error, { expect }) {
    return Object.fromEntries(Object.entries(told(error, expect)).map(([name, it]) => [name, this.world.named(it)]));
  }
}

function policyOf({ max_own_cost_wei: most, rpc_url: rpcUrl, sponsored }) {
  return {
    ...(most !== undefined && { maxOwnCostWei: BigInt(most) }),
    ...(rpcUrl !== undefined && { rpcUrl }),
    ...(sponsored !== undefined && { sponsored }),
  };
}

/** Lets waiting times pass at once, and records them as effects; the clock is set to a time in seconds since 1970. */
function skipping(world, nowS) {
  const { script } = world;
  const real = { setTimeout: globalThis.setTimeout, fetch: globalThis.fetch };
  const [dateNow, performanceNow] = [Date.now, performance.now.bind(performance)];
  let skippedMs = 0;
  globalThis.fetch = world.fetch;
  globalThis.setTimeout = (work, ms = 0) => {
    void script.perform(`wait ${Number((ms / 1000).toPrecision(6))}`).then(() => {
      skippedMs += ms;
      work();
    });
    return 0;
  };
  Date.now = () => nowS * 1000 + skippedMs;
  performance.now = () => performanceNow() + skippedMs;
  return () => {
    Object.assign(globalThis, real);
    Date.now = dateNow;
    performance.now = performanceNow;
  };
}

/** Returns the totals that a question about a delegation contains: the invocation's own, and that of each delegation. */
function askedAbout({ args, audience, added_args: added = {} }) {
  const totals = Object.entries(added).map(([cid, { total }]) => `${total} of ${cid}`);
  const own = args && "total" in args ? [`a total of ${args.total}`] : [];
  const all = [...totals, ...own, ...(audience ? ["for this vault"] : [])];
  return all.length ? `: ${all.join(", ")}` : "";
}
