/**
 * The service's contracts and chains, and the addresses of accounts, which follow from keys and are computed in the enclave.
 */

import { hex, number } from "../chain/abi.ts";
import type { Client } from "../client.ts";
import { ForeignContracts, RequestRefused, insteadOf } from "../errors.ts";
import { EXPLORERS } from "../generated/chains.ts";
import type { ContractSet, ServedChain } from "../generated/types.ts";
import type { ServiceClient } from "../http/service.ts";

/** what an account is created for: its first key, and a salt */
export type Origin = { x: bigint; y: bigint; salt?: bigint };

/** the service's contracts never change */
const known: WeakMap<Client, Promise<ContractSet>> = new WeakMap();

export function contractsOf(client: Client): Promise<ContractSet> {
  const requested = known.get(client) ?? client.contracts();
  known.set(client, requested);
  requested.catch(() => known.delete(client));
  return requested;
}

/**
 * Returns the address of the account that the service's factory creates for a P-256 key.
 * @returns with its checksum
 * @throws {ForeignContracts} the factory is not this release's, and `foreignContracts` does not allow it
 */
export async function accountAddress(client: Client, { x, y, salt = 0n }: Origin): Promise<string> {
  const { appFactory: factory } = await contractsOf(client);
  const key = { public_key: `04${number(x)}${number(y)}`, salt: hex(salt) };
  const derived = async (options: object) =>
    (await client.vault.deriveAddress("ethereum", { ...key, ...options })).address;
  const address = await derived({ factory });
  // Without a factory, the enclave uses this release's.
  if (client.foreignContracts || address === (await derived({}))) return address;
  throw new ForeignContracts(factory);
}

/** Returns the chains that a service serves; none from an older service, which has one. */
export async function servedChains(client: ServiceClient): Promise<ServedChain[]> {
  return (await client.chains().catch(insteadOf(RequestRefused, { chains: [] }))).chains;
}

/** Returns the service's row for a chain; undefined if it does not serve the chain. */
export async function servedChain(client: ServiceClient, chainId: number) {
  return (await servedChains(client)).find((chain) => chain.chainId === chainId);
}

/** Returns the page that shows a user operation, "" if none exists. The service is asked about unknown chains alone. */
export async function operationPage(client: ServiceClient, chainId: number, hash: string) {
  const explorer = EXPLORERS[chainId] ?? (await servedChain(client, chainId).catch(() => null))?.explorer ?? "";
  return /^https?:\/\//.test(explorer) ? `${explorer}/op/${hash}` : "";
}
