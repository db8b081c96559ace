// Reads manifests as a JSON list from standard input; prints for each what the Gateway API's schemas refuse, or "".

import { readFileSync } from "node:fs";
import { Gateway, HTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";

const KINDS = { Gateway, HTTPRoute };

function refusal(manifest) {
  try {
    new KINDS[manifest.kind](manifest).validate();
    return "";
  } catch (error) {
    return error.message;
  }
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(refusal)));
