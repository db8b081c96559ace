// A minimal server for comparison: four endpoints, on Fastify and better-sqlite3. This peer uses JSON schemas for
// responses, prepared statements, and one transaction per registration, which is durable before the response. The peer
// sends only the headers, and makes only the checks, that the interface requires.
import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import Fastify from "fastify";

const LIMIT_PER_IP = 3;
const CONTRACTS = {
  chainId: 84532,
  entryPoint: "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
  didRegistry: "0x1111111111111111111111111111111111111111",
  accountHelper: "0x2222222222222222222222222222222222222222",
  sessionSBT: "0x3333333333333333333333333333333333333333",
  appFactory: "0x4444444444444444444444444444444444444444",
};

const reserved = new Set(
  readFileSync(process.env.RESERVED, "utf8")
    .split("\n")
    .map((line) => line.split("#")[0].trim())
    .filter(Boolean),
);

const database = new Database(process.env.DATABASE);
// `exec` instead of `pragma`: it leaves no statement to the garbage collector, which occasionally crashes Node 24.
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");

const sql = {
  taken: database.prepare("SELECT 1 FROM sessions WHERE channel = ? AND identifier = ?"),
  countByIp: database.prepare("SELECT count(*) AS made FROM sessions WHERE ip = ?"),
  insert: database.prepare("INSERT INTO sessions (channel, identifier, did, ip, created_at) VALUES (?, ?, ?, ?, ?)"),
  lookup: database.prepare("SELECT * FROM registered_dids WHERE credential_id = ?"),
};

class Refused extends Error {
  constructor(statusCode, message) {
    super(message);
    this.statusCode = statusCode;
  }
}

const register = database.transaction((channel, identifier, did, ip) => {
  if (sql.taken.get(channel, identifier)) throw new Refused(409, "identifier_taken");
  if (sql.countByIp.get(ip).made >= LIMIT_PER_IP) throw new Refused(429, "ip_limit_reached");
  sql.insert.run(channel, identifier, did, ip, new Date().toISOString());
});

const string = { type: "string" };
const boolean = { type: "boolean" };
const object = (properties) => ({ type: "object", properties });
const answers = (properties) => ({ response: { 200: object(properties) } });

const schemas = {
  contracts: answers({
    chainId: { type: "integer" },
    entryPoint: string,
    didRegistry: string,
    accountHelper: string,
    sessionSBT: string,
    appFactory: string,
  }),
  check: {
    querystring: object({ identifier: string, channel: string }),
    ...answers({ available: boolean, reason: { type: "string", nullable: true }, message: string }),
  },
  lookup: {
    querystring: object({ credentialId: string }),
    ...answers({
      found: boolean,
      identifier: string,
      channel: string,
      did: string,
      txHash: string,
      blockNumber: { type: "integer" },
      smartAccount: string,
      createdAt: string,
    }),
  },
  sessions: {
    body: object({ identifier: string, channel: string, did: string }),
    ...answers({ ok: boolean, identifier: string, channel: string, did: string }),
  },
};

const keyOf = (identifier) => identifier.normalize("NFKC").trim().toLowerCase();

const app = Fastify({ logger: false, trustProxy: "127.0.0.1" });

app.addHook("onRequest", (request, reply, done) => {
  reply.header("access-control-allow-origin", "*");
  done();
});

app.setErrorHandler((error, request, reply) => {
  reply.code(error.statusCode ?? 500).send({ error: error.statusCode ? error.message : "internal_error" });
});

app.get("/healthz", (request, reply) => reply.send({ ok: true }));

app.get("/api/contracts", { schema: schemas.contracts }, (request, reply) => {
  reply.header("cache-control", "public, max-age=86400").send(CONTRACTS);
});

app.get("/api/sessions/check", { schema: schemas.check }, (request, reply) => {
  const { identifier, channel = "handle" } = request.query;
  if (!identifier) throw new Refused(400, "Missing query parameter: identifier");
  const key = keyOf(identifier);
  if (channel === "handle" && reserved.has(key)) {
    reply.send({ available: false, reason: "reserved", message: "This name is reserved." });
  } else if (sql.taken.get(channel, key)) {
    reply.send({ available: false, reason: "taken" });
  } else {
    reply.send({ available: true, reason: null });
  }
});

app.get("/api/dids/lookup", { schema: schemas.lookup }, (request, reply) => {
  const { credentialId } = request.query;
  if (!credentialId) throw new Refused(400, "Missing query parameter: credentialId");
  const row = sql.lookup.get(credentialId);
  if (!row) return reply.send({ found: false });
  return reply.send({
    found: true,
    identifier: row.identifier,
    channel: row.channel,
    did: row.did,
    txHash: row.tx_hash,
    blockNumber: row.block_number,
    smartAccount: row.smart_account,
    createdAt: row.created_at,
  });
});

app.post("/api/sessions", { schema: schemas.sessions }, (request, reply) => {
  const { identifier, channel, did } = request.body;
  if (!identifier || !channel || !did) throw new Refused(400, "Missing required fields: identifier, channel, did");
  const key = keyOf(identifier);
  if (channel === "handle" && reserved.has(key)) throw new Refused(409, "identifier_reserved");
  register.immediate(channel, key, did, request.ip);
  reply.send({ ok: true, identifier, channel, did });
});

await app.listen({ host: "127.0.0.1", port: Number(process.env.PORT) });
