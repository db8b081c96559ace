/** Which hosts are this machine, as a URL writes them. */

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

export function isLoopback(hostname: string) {
  return LOOPBACK.test(hostname);
}

/** Like `isLoopback`; browsers find the names below `localhost` here, too (Secure Contexts, section 3.1). */
export function isThisMachine(hostname: string) {
  return isLoopback(hostname) || hostname.endsWith(".localhost");
}
