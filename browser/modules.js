/** Writes each module of the folder FROM, without its types, to the folder TO: `node modules.js FROM TO`. Lines stay. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";

const SPECIFIER = /\b(from |import |import\()"(\.[^"]+)\.ts"/g;
const [from, to] = process.argv.slice(2);

for (const name of readdirSync(from, { recursive: true }).filter((it) => it.endsWith(".ts"))) {
  const target = join(to, name.replace(/\.ts$/, ".js"));
  const script = stripTypeScriptTypes(readFileSync(join(from, name), "utf8"));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, script.replace(SPECIFIER, '$1"$2.js"'));
}
