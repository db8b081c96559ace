// Reads manifests as a JSON list from standard input; prints for each what the Gateway API's schemas refuse, or "".
//
// The schemas accept fields that they do not know, as an API server does unless it validates strictly. Their validators read
// each field that they know, so a field that was not read is unknown.

import { readFileSync } from "node:fs";
import { validate as validateGateway } from "@kubernetes-models/gateway-api/_schemas/IoK8sSigsGatewayApiApisV1Gateway";
import { validate as validateRoute } from "@kubernetes-models/gateway-api/_schemas/IoK8sSigsGatewayApiApisV1HTTPRoute";

const VALIDATORS = { Gateway: validateGateway, HTTPRoute: validateRoute };

/** Wraps a value so that `unread` has the path of each field that has not been read. */
function watched(value, path, unread) {
  if (value === null || typeof value !== "object") return value;
  const fields = {};
  for (const [name, inner] of Object.entries(value)) {
    const at = `${path}/${name}`;
    fields[name] = watched(inner, at, unread);
    if (!Array.isArray(value)) unread.add(at);
  }
  const target = Array.isArray(value) ? Object.values(fields) : fields;
  return new Proxy(target, {
    get(held, name) {
      unread.delete(`${path}/${String(name)}`);
      return Reflect.get(held, name);
    },
  });
}

function refusal(manifest) {
  const unread = new Set();
  const validate = VALIDATORS[manifest.kind];
  if (!validate(watched(manifest, "", unread))) {
    return validate.errors
      .map(({ instancePath, message, params }) => [instancePath, message, JSON.stringify(params)].join(" "))
      .join("; ");
  }
  const outermost = [...unread].filter((path) => ![...unread].some((other) => path.startsWith(`${other}/`)));
  return outermost.map((path) => `${path} is not a field`).join("; ");
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(refusal)));
