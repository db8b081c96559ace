/** Checks P-256 public keys (NIST SP 800-186, section 3.2.1.3). */

const PRIME = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/** Whether (x, y) is a valid public key: both are less than p, and the point is on the curve. */
export function onCurve(x: bigint, y: bigint) {
  return x < PRIME && y < PRIME && (y * y - (x * x * x - 3n * x + B)) % PRIME === 0n;
}
