/**
 * Writes, stores, publishes and reads snapshots of sealed vaults. Loaded when a client first needs them.
 *
 *     const snapshots = await client.snapshots();
 *     console.log((await snapshots.state()).status);
 */

import "../core.js";
export { readCar, writeCar } from "./cars.js";
export { ContentError } from "./content_error.js";
export { RecoveryRefused, SnapshotConflict, SnapshotRolledBack, reasonOf } from "./errors.js";
export { Gateways } from "./gateway.js";
export { VaultSnapshots } from "./keeping.js";
export { nameOf, publicKeyOf } from "./names.js";
export { Pinning } from "./pinning.js";
export { didOfService } from "../flows/signature.js";
export { isExpired, readRecord } from "./records.js";
export { readRoot, sealedOf, snapshotOf, snapshotOfCar } from "./roots.js";

/** @typedef {import("./state.js").SnapshotState} SnapshotState */
