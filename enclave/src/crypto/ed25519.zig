//! Ed25519 keys (RFC 8032) from a 32-byte seed, with the standard library.

const std = @import("std");
const Ed25519 = std.crypto.sign.Ed25519;
const memory = @import("../platform/memory.zig");
const Error = @import("../platform/errors.zig").Error;

pub const seed_length = Ed25519.KeyPair.seed_length;
pub const Seed = [seed_length]u8;
pub const PublicKey = [Ed25519.PublicKey.encoded_length]u8;
pub const Signature = [Ed25519.Signature.encoded_length]u8;

/// The public key of a seed. Fails with InvalidKey if the seed does not yield a valid key (probability 2^-252).
pub fn publicOf(seed: Seed) Error!PublicKey {
    var pair = Ed25519.KeyPair.generateDeterministic(seed) catch return error.InvalidKey;
    defer memory.wipe(std.mem.asBytes(&pair.secret_key));
    return pair.public_key.toBytes();
}

/// The deterministic signature of RFC 8032, verified before it is returned. Fails with CryptoFailure.
pub fn sign(seed: Seed, message: []const u8) Error!Signature {
    var pair = Ed25519.KeyPair.generateDeterministic(seed) catch return error.InvalidKey;
    defer memory.wipe(std.mem.asBytes(&pair.secret_key));
    const made = pair.sign(message, null) catch return error.CryptoFailure;
    made.verify(message, pair.public_key) catch return error.CryptoFailure;
    return made.toBytes();
}
