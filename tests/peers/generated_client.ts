/** Registers a handle with the types that openapi-typescript has generated from /openapi.json, in `made.d.ts`. */

import createClient from "openapi-fetch";
import type { paths } from "./made.d.ts";

declare const process: { argv: string[] };
const [address, name, did, other] = process.argv.slice(2) as [string, string, string, string];
const client = createClient<paths>({ baseUrl: address });

const opened = await client.POST("/api/sessions", { body: { identifier: name, channel: "handle", did } });
if (opened.data?.identifier !== name) throw new Error(JSON.stringify(opened.error));
const refused = await client.POST("/api/sessions", { body: { identifier: name, channel: "handle", did: other } });
// A compiler refuses this comparison unless the error is one of the enumeration.
if (refused.error?.error !== "identifier_taken") throw new Error(JSON.stringify(refused));
const txHash = `0x${"00".repeat(32)}`;
const body = { credentialId: name, identifier: name, channel: "handle", did, txHash };
const registered = await client.POST("/api/dids", { body });
if (registered.data?.identifier !== name) throw new Error(JSON.stringify(registered.error));
const found = await client.GET("/api/dids/lookup", { params: { query: { credentialId: name } } });
if (!found.data || !("did" in found.data) || found.data.did !== did) throw new Error(JSON.stringify(found));
