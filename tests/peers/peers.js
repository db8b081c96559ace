// Other implementations of the formats and protocols of snapshots. Each task reads JSON from stdin and writes JSON.
import { CarReader, CarWriter } from "@ipld/car";
import { CID } from "multiformats/cid";

const timeout = 20_000;
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytesOf = (text) => new Uint8Array(Buffer.from(text, "hex"));

async function readCar({ car }) {
  const reader = await CarReader.fromBytes(bytesOf(car));
  const blocks = {};
  for await (const { cid, bytes } of reader.blocks()) blocks[cid.toString()] = hex(bytes);
  return { roots: (await reader.getRoots()).map(String), blocks };
}

async function writeCar({ root, blocks }) {
  const { writer, out } = CarWriter.create([CID.parse(root)]);
  const pieces = [];
  const collected = (async () => {
    for await (const piece of out) pieces.push(piece);
  })();
  for (const [cid, bytes] of blocks) await writer.put({ cid: CID.parse(cid), bytes: bytesOf(bytes) });
  await writer.close();
  await collected;
  return { car: hex(Buffer.concat(pieces)) };
}

async function heliaCar({ car }) {
  const { car: carOf } = await import("@helia/car");
  const kept = new Map();
  const blockstore = {
    async *putMany(pairs) {
      for await (const { cid, bytes } of pairs) {
        kept.set(cid.toString(), hex(bytes));
        yield cid;
      }
    },
  };
  const reader = await CarReader.fromBytes(bytesOf(car));
  await carOf({ blockstore, logger: { forComponent: () => () => {} } }).import(reader);
  return { blocks: Object.fromEntries(kept) };
}

async function readRecord({ name, record }) {
  const { unmarshalIPNSRecord, multihashToIPNSRoutingKey } = await import("ipns");
  const { ipnsValidator } = await import("ipns/validator");
  const key = multihashToIPNSRoutingKey(await multihashOf(name));
  await ipnsValidator(key, bytesOf(record));
  const read = unmarshalIPNSRecord(bytesOf(record));
  return { value: read.value, sequence: Number(read.sequence), ttl: Number(read.ttl) };
}

async function writeRecord({ seed, value, sequence, v1 }) {
  const { createIPNSRecord, marshalIPNSRecord } = await import("ipns");
  const { generateKeyPairFromSeed } = await import("@libp2p/crypto/keys");
  const key = await generateKeyPairFromSeed("Ed25519", bytesOf(seed));
  const record = await createIPNSRecord(key, value, sequence, 3_600_000, { v1Compatible: v1 });
  return {
    record: hex(marshalIPNSRecord(record)),
    name: key.publicKey.toCID().toString((await import("multiformats/bases/base36")).base36),
  };
}

// @helia/ipns with a keychain, and with simulated routing instead of a network.
async function heliaIpns(routing) {
  const { ipns } = await import("@helia/ipns");
  const { keychain } = await import("@ipshipyard/keychain");
  const { MemoryDatastore } = await import("datastore-core");
  const { defaultLogger } = await import("@libp2p/logger");
  const { ed25519Crypto } = await import("@ipshipyard/crypto");
  const components = { datastore: new MemoryDatastore(), logger: defaultLogger(), events: new EventTarget(), routing };
  components.getCrypto = ed25519Crypto;
  components.keychain = keychain()(components);
  return ipns(components);
}

async function heliaReadRecord({ name, record }) {
  const names = await heliaIpns({ get: async () => bytesOf(record) });
  const { base36 } = await import("multiformats/bases/base36");
  for await (const { value } of names.resolve(CID.parse(name, base36))) return { value };
}

async function heliaWriteRecord({ value }) {
  const sent = [];
  const names = await heliaIpns({ put: async (_key, record) => sent.push(hex(record)) });
  const { name } = await names.publish("vault", CID.parse(value), { lifetime: 3_600_000 });
  return { record: sent[0], name: name.replace("/ipns/", "") };
}

async function multihashOf(name) {
  const { base36 } = await import("multiformats/bases/base36");
  return CID.parse(name, base36).multihash;
}

async function kubo({ url, token, car }) {
  const { create } = await import("kubo-rpc-client");
  const client = create({ url, headers: { Authorization: `Bearer ${token}` } });
  const roots = [];
  for await (const { root } of client.dag.import([bytesOf(car)], { timeout })) {
    roots.push({ cid: root.cid.toString(), error: root.pinErrorMsg });
  }
  return { roots };
}

async function pins({ url, token, cid }) {
  const { Configuration, RemotePinningServiceClient, Status } = await import("@ipfs-shipyard/pinning-service-client");
  const client = new RemotePinningServiceClient(new Configuration({ endpointUrl: url, accessToken: token }));
  const added = await client.pinsPost({ pin: { cid, name: "from outside", meta: new Map([["app", "x&y"]]) } });
  const found = await client.pinsRequestidGet({ requestid: added.requestid });
  const listed = await client.pinsGet({ limit: 5, status: [Status.Pinned], name: "from outside" });
  await client.pinsRequestidDelete({ requestid: added.requestid });
  const left = await client.pinsGet({ limit: 5, status: [Status.Pinned], name: "from outside" });
  return {
    status: found.status,
    cid: found.pin.cid,
    delegates: [...found.delegates].length,
    listed: listed.count,
    left: left.count,
  };
}

async function verifiedFetch({ url, cids, name }) {
  const { createVerifiedFetch } = await import("@helia/verified-fetch");
  const fetched = await createVerifiedFetch({
    gateways: [url],
    routers: name ? [url] : [],
    allowInsecure: true,
    allowLocal: true,
    libp2pConfig: { peerDiscovery: [], addresses: { listen: [] }, transports: [], services: {} },
  });
  const answers = {};
  try {
    for (const asked of name ? [`ipns://${name}`] : cids.map((cid) => `ipfs://${cid}`)) {
      const response = await fetched(`${asked}?format=raw`, { signal: AbortSignal.timeout(timeout) });
      answers[asked.slice(7)] = { status: response.status, bytes: hex(await response.arrayBuffer()) };
    }
  } finally {
    await fetched.stop();
  }
  return answers;
}

const records = { readRecord, writeRecord, heliaReadRecord, heliaWriteRecord };
const tasks = { readCar, writeCar, heliaCar, ...records, kubo, pins, verifiedFetch };
let given = "";
for await (const piece of process.stdin) given += piece;
try {
  // A list is that many tasks of one kind, because an implementation takes long to load.
  const [task, wanted] = [tasks[process.argv[2]], JSON.parse(given)];
  const answer = JSON.stringify(await (Array.isArray(wanted) ? Promise.all(wanted.map(task)) : task(wanted)));
  process.stdout.write(answer, () => process.exit(0));
} catch (error) {
  const text = error instanceof Response ? `${error.status} ${await error.text()}` : (error.stack ?? String(error));
  process.stderr.write(text);
  process.exit(1);
}
