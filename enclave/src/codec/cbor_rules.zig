//! The rules of canonical CBOR in the two profiles: limits, key order, and the errors of reading and writing.

const std = @import("std");

pub const Profile = enum {
    /// IPLD: text keys, 64-bit finite floats, tag 42 for links.
    dag,
    /// WebAuthn and COSE: integer or text keys, no floats, no tags.
    ctap2,
};

pub const Error = error{
    CborTruncated,
    CborTrailingBytes,
    CborNotCanonical,
    CborTooDeep,
    CborTooLarge,
    CborUnsupported,
    CborDuplicateKey,
    CborInvalidUtf8,
    CborInvalidLink,
    OutOfMemory,
};

/// Longest input that is decoded, and longest output that is encoded, in bytes.
pub const max_bytes = 1 << 20;

/// The low bits of the initial byte for the shortest encoding of an argument.
pub fn shortest(argument: u64) u5 {
    if (argument < 24) return @intCast(argument);
    if (argument <= 0xff) return 24;
    if (argument <= 0xffff) return 25;
    if (argument <= 0xffff_ffff) return 26;
    return 27;
}

/// The order of encoded keys in both profiles: first by major type, then by length, then bytewise.
pub fn keyOrder(a: []const u8, b: []const u8) std.math.Order {
    if (a[0] >> 5 != b[0] >> 5) return std.math.order(a[0] >> 5, b[0] >> 5);
    if (a.len != b.len) return std.math.order(a.len, b.len);
    return std.mem.order(u8, a, b);
}
