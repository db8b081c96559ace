/** Identifies the chain's native coin where a token's address is expected. */
export const NATIVE = "native";
