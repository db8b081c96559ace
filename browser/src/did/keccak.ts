/** Keccak-256 as in Ethereum (FIPS 202 with the padding 0x01), for programs that check a DID without the enclave. */

const RATE = 136;
const ROUNDS = 24;
const MASK = (1n << 64n) - 1n;

/** @returns 32 bytes */
export function keccak256(data: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array((Math.floor(data.length / RATE) + 1) * RATE);
  padded.set(data);
  padded[data.length] |= 0x01;
  padded[padded.length - 1] |= 0x80;
  const words = new DataView(padded.buffer);
  const state: bigint[] = Array(25).fill(0n);
  for (let block = 0; block < padded.length; block += RATE) {
    for (let at = 0; at < RATE; at += 8) state[at / 8] ^= words.getBigUint64(block + at, true);
    permute(state);
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (let at = 0; at < 32; at += 8) digest.setBigUint64(at, state[at / 8], true);
  return new Uint8Array(digest.buffer);
}

/** @param state 25 lanes; lane (x, y) is at x + 5y */
function permute(state: bigint[]) {
  let register = 1; // of the generator of round constants (FIPS 202, section 3.2.5)
  for (let round = 0; round < ROUNDS; round++) {
    mixColumns(state);
    moveLanes(state);
    mixRows(state);
    for (let bit = 0; bit < 7; bit++) {
      if (register & 1) state[0] ^= 1n << BigInt((1 << bit) - 1);
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0);
    }
  }
}

function mixColumns(state: bigint[]) {
  const columns = [0, 1, 2, 3, 4].map((x) => state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20]);
  for (let at = 0; at < 25; at++) state[at] ^= columns[(at + 4) % 5] ^ rotated(columns[(at + 1) % 5], 1);
}

function moveLanes(state: bigint[]) {
  let [x, y, lane] = [1, 0, state[1]];
  for (let step = 1; step <= ROUNDS; step++) {
    [x, y] = [y, (2 * x + 3 * y) % 5];
    const next = state[x + 5 * y];
    state[x + 5 * y] = rotated(lane, ((step * (step + 1)) / 2) % 64);
    lane = next;
  }
}

function mixRows(state: bigint[]) {
  for (let row = 0; row < 25; row += 5) {
    const lanes = state.slice(row, row + 5);
    for (let x = 0; x < 5; x++) state[row + x] = lanes[x] ^ (~lanes[(x + 1) % 5] & MASK & lanes[(x + 2) % 5]);
  }
}

function rotated(lane: bigint, bits: number) {
  return ((lane << BigInt(bits)) | (lane >> BigInt(64 - bits))) & MASK;
}
