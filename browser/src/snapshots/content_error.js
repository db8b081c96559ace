/**
 * The error that all content-addressed formats share, with the same codes as in the Python client (docs/formats.md).
 */

/**
 * @typedef {"invalid_cid" | "other_cid" | "block_mismatch" | "block_too_large" | "invalid_dag_cbor" | "invalid_varint" |
 *   "invalid_header" | "header_too_large" | "other_roots" | "section_too_large" | "section_too_short" | "car_too_large" |
 *   "cut_short" | "invalid_root" | "invalid_manifest" | "other_size" | "block_missing" | "block_unlinked" |
 *   "vault_too_large" | "invalid_name" | "record_too_large" | "invalid_record" | "other_key" | "invalid_signature" |
 *   "v1_mismatch" | "invalid_data" | "invalid_value" | "invalid_validity" | "unsupported"} ContentCode which rule the
 *   bytes violate; `unsupported`: this browser cannot verify Ed25519 signatures
 */

/** Malformed bytes or text. */
export class ContentError extends Error {
  /**
   * @param {ContentCode} code
   * @param {string} message
   * @param {ErrorOptions} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    this.name = "ContentError";
    this.code = code;
  }
}
