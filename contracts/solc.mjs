// The pinned solc-js, which compiles the same input once: what it wrote is stored in cache/solc by the input's hash.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const FOLDER = join(dirname(fileURLToPath(import.meta.url)), 'cache', 'solc');

/** The compiler is loaded when it is needed: loading it alone takes a second. */
export const version = () => require('solc').version();

/** Returns solc's JSON output for a standard JSON input that contains all its sources. */
export function compile(input) {
  const release = require('solc/package.json').version;
  const file = join(FOLDER, createHash('sha256').update(`${release}\n${input}`).digest('hex'));
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const output = require('solc').compile(input);
    mkdirSync(FOLDER, { recursive: true });
    // Renamed when complete, because checks and tests compile at the same time.
    writeFileSync(`${file}.${process.pid}`, output);
    renameSync(`${file}.${process.pid}`, file);
    return output;
  }
}
