#!/usr/bin/env node
// Lets forge use the pinned solc-js as if it were a solc binary: `--version`, and standard JSON from stdin to stdout.
import { readFileSync } from 'node:fs';
import { compile, version } from './solc.mjs';

if (process.argv.includes('--version')) {
  process.stdout.write(`solc, the solidity compiler commandline interface\nVersion: ${version()}\n`);
} else {
  process.stdout.write(compile(readFileSync(0, 'utf8')));
}
