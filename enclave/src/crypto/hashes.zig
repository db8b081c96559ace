//! Keccak-256 as Ethereum uses it (not SHA3-256), and the hash of a public key that Bitcoin uses.

const std = @import("std");
const Error = @import("../platform/errors.zig").Error;

/// The 32-byte digest.
pub fn keccak(data: []const u8) [32]u8 {
    var digest: [32]u8 = undefined;
    std.crypto.hash.sha3.Keccak256.hash(data, &digest, .{});
    return digest;
}

/// RIPEMD-160 of SHA-256. Fails with OutOfMemory.
pub fn hash160(data: []const u8) Error![20]u8 {
    var inner: [32]u8 = undefined;
    std.crypto.hash.sha2.Sha256.hash(data, &inner, .{});
    var digest: [20]u8 = undefined;
    return if (ripemd160(&digest, &inner, inner.len)) digest else error.OutOfMemory;
}

extern fn ripemd160(out: *[20]u8, data: [*]const u8, length: usize) bool;
