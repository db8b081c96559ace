//! Strict CBOR (RFC 8949) in two canonical profiles: DAG-CBOR and CTAP2.
//!
//! What both refuse: indefinite lengths, arguments longer than needed, map keys out of order or twice, invalid UTF-8,
//! trailing bytes, nesting and sizes over the limits. One byte string therefore has at most one encoding, which is what
//! makes hashes and signatures over it mean something.

const reader = @import("cbor_decode.zig");
const rules = @import("cbor_rules.zig");
const writer = @import("cbor_encode.zig");

pub const Profile = rules.Profile;
pub const Error = rules.Error;
pub const max_bytes = rules.max_bytes;

pub const decode = reader.decode;
pub const decodePrefix = reader.decodePrefix;
pub const encode = writer.encode;
