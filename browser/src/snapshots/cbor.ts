/** What the snapshots use of the npm package cborg, which is bundled here. */

export { Token, Tokenizer, Type, decode, encode } from "cborg";
