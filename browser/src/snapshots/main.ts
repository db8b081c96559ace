/**
 * Writes, stores, publishes and reads snapshots of sealed vaults. Loaded when a client first needs them.
 *
 *     const snapshots = await client.snapshots();
 *     console.log((await snapshots.state()).status);
 */

import "../core.ts";

export type { SnapshotState } from "./state.ts";

export { readCar, writeCar } from "./cars.ts";
export { ContentError } from "./content_error.ts";
export { RecoveryRefused, SnapshotConflict, SnapshotRolledBack, reasonOf } from "./errors.ts";
export { Gateways } from "./gateway.ts";
export { VaultSnapshots } from "./keeping.ts";
export { nameOf, publicKeyOf } from "./names.ts";
export { Pinning } from "./pinning.ts";
export { didOfService } from "../flows/signature.ts";
export { isExpired, readRecord } from "./records.ts";
export { wrapsOf } from "../vault/sealed_header.ts";
export { readRoot, sealedOf, snapshotOf, snapshotOfCar } from "./roots.ts";
