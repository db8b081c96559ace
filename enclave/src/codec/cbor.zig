//! Strict CBOR (RFC 8949) in two canonical profiles: DAG-CBOR and CTAP2.
//!
//! Both refuse indefinite lengths, arguments longer than needed, map keys out of order or twice, invalid UTF-8,
//! trailing bytes, and nesting and sizes over the limits. So each value has exactly one encoding, and a hash or
//! signature of the encoding is one of the value.

const reader = @import("cbor_decode.zig");
const rules = @import("cbor_rules.zig");
const writer = @import("cbor_encode.zig");

pub const Profile = rules.Profile;
pub const Error = rules.Error;
pub const max_bytes = rules.max_bytes;

pub const decode = reader.decode;
pub const decodePrefix = reader.decodePrefix;
pub const encode = writer.encode;
