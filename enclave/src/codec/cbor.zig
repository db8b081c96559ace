//! Strict CBOR (RFC 8949) in two canonical profiles: DAG-CBOR and CTAP2.
//!
//! Both profiles refuse indefinite lengths, arguments longer than needed, unordered or duplicate map keys, invalid
//! UTF-8, trailing bytes, and excessive nesting and sizes. So each value has exactly one encoding, and hashing or
//! signing the encoding means hashing or signing the value.

const reader = @import("cbor_decode.zig");
const rules = @import("cbor_rules.zig");
const writer = @import("cbor_encode.zig");

pub const Profile = rules.Profile;
pub const Error = rules.Error;
pub const max_bytes = rules.max_bytes;

pub const decode = reader.decode;
pub const decodePrefix = reader.decodePrefix;
pub const encode = writer.encode;
