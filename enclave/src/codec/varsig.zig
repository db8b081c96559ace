//! Varsig version 1 headers, which state a UCAN envelope's signature algorithm, curve, hash and payload encoding.

const std = @import("std");

/// The algorithms that Holdfast signs with or verifies. All others are refused.
pub const Algorithm = enum { ed25519, p256, secp256k1 };

pub const Error = error{VarsigUnsupported};

// 0x34 is Varsig and 1 its version; then come the algorithm, the curve and the hash as varints, and 0x71, DAG-CBOR.
const rows = std.enums.EnumArray(Algorithm, []const u8).init(.{
    .ed25519 = &.{ 0x34, 0x01, 0xed, 0x01, 0xed, 0x01, 0x13, 0x71 }, // EdDSA, edwards25519, SHA2-512
    .p256 = &.{ 0x34, 0x01, 0xec, 0x01, 0x80, 0x24, 0x12, 0x71 }, // ECDSA, P-256, SHA2-256
    .secp256k1 = &.{ 0x34, 0x01, 0xec, 0x01, 0xe7, 0x01, 0x12, 0x71 }, // ECDSA, secp256k1, SHA2-256
});

pub fn header(algorithm: Algorithm) []const u8 {
    return rows.get(algorithm);
}

pub fn parse(bytes: []const u8) Error!Algorithm {
    for (std.enums.values(Algorithm)) |algorithm| {
        if (std.mem.eql(u8, rows.get(algorithm), bytes)) return algorithm;
    }
    return error.VarsigUnsupported;
}

test "a header names its algorithm and no other" {
    for (std.enums.values(Algorithm)) |algorithm| try std.testing.expectEqual(algorithm, try parse(header(algorithm)));
    try std.testing.expectError(error.VarsigUnsupported, parse(&.{ 0x34, 0x01 }));
    try std.testing.expectError(error.VarsigUnsupported, parse(&.{ 0x34, 0x01, 0xec, 0x01, 0x80, 0x24, 0x12, 0x55 }));
}
