/**
 * The error that all content-addressed formats share, with the same codes as in the Python client (docs/formats.md).
 */

/**
 * Which rule the bytes violate; `unsupported`: this browser cannot verify Ed25519 signatures. Each list is on one line,
 * because TypeScript copies the asterisks of a comment into its declarations.
 */
type BlockCode =
  "invalid_cid" | "other_cid" | "block_mismatch" | "block_too_large" | "invalid_dag_cbor" | "invalid_varint";

type SectionCode = "invalid_header" | "header_too_large" | "other_roots" | "section_too_large" | "section_too_short";

type CarCode = "car_too_large" | "cut_short" | "block_missing" | "block_unlinked" | "other_size" | "vault_too_large";

type RecordCode =
  "invalid_name" | "record_too_large" | "invalid_record" | "other_key" | "invalid_signature" | "v1_mismatch";

type ValueCode =
  "invalid_data" | "invalid_value" | "invalid_validity" | "invalid_root" | "invalid_manifest" | "unsupported";

export type ContentCode = BlockCode | SectionCode | CarCode | RecordCode | ValueCode;

/** Malformed bytes or text. */
export class ContentError extends Error {
  declare code: ContentCode;

  constructor(code: ContentCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ContentError";
    this.code = code;
  }
}
