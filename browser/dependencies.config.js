/**
 * Which module of src/ may import which, statically or on demand: never in a circle, and only downwards. `make check`
 * applies it with dependency-cruiser.
 */

/**
 * The rooms of each floor, from the highest to the lowest. A module may import modules of its own room and of lower
 * floors; rooms on the same floor must not import each other.
 */
const FLOORS = [
  ["admin", "exit", "pages", "pay"],
  ["connect.js", "did-resolver.js", "holdfast.js", "worker.js"],
  ["client.js", "connect", "payment"],
  ["account", "kit", "pairing", "snapshots"],
  ["flows"],
  ["core.js"],
  ["passkeys", "vault"],
  ["chain", "enclave-host.js"],
  ["http"],
  ["trusted.js"],
  ["bytes.js", "did", "errors.js", "generated", "texts"],
];
/** The modules that the build bundles with npm packages, because a page cannot load those. */
const BUNDLED = ["kit/qr.js", "pairing/libp2p.js", "snapshots/cbor.js"];

/** @param {string[]} names of rooms or modules; the expression's first group is the name */
const within = (names) => `^src/(${names.join("|").replaceAll(".", "\\.")})(?:/|$)`;

const floors = FLOORS.map((rooms, at) => ({
  name: `only-below-floor-${FLOORS.length - at}`,
  comment: `${rooms.join(", ")}: import only lower floors and the own room (browser/dependencies.config.js)`,
  severity: "error",
  from: { path: within(rooms) },
  to: { path: "^src/", pathNot: ["^src/$1(?:/|$)", ...FLOORS.slice(at + 1).map(within)] },
}));

export default {
  forbidden: [
    { name: "no-circle", severity: "error", from: {}, to: { circular: true } },
    { name: "no-missing-module", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "a-floor-for-each-room",
      severity: "error",
      from: { path: "^src/", pathNot: within(FLOORS.flat()) },
      to: {},
    },
    {
      name: "a-floor-for-each-room",
      severity: "error",
      from: {},
      to: { path: "^src/", pathNot: within(FLOORS.flat()) },
    },
    {
      name: "packages-only-in-bundles",
      severity: "error",
      from: { path: "^src/", pathNot: within(BUNDLED) },
      to: { pathNot: ["^src/", "^[.]"] },
    },
    ...floors,
  ],
  options: {
    moduleSystems: ["es6"],
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import"] },
  },
};
