//! AES-256-GCM, HKDF-SHA256 and Argon2id as the vault's formats use them.

const std = @import("std");
const memory = @import("../platform/memory.zig");
const argon2 = @import("argon2id.zig");
const gcm = @import("gcm.zig");
const Error = @import("../platform/errors.zig").Error;

pub const Key = gcm.Key;
pub const Nonce = gcm.Nonce;
pub const tag_length = gcm.tag_length;

/// The ciphertext and tag of `plain`, in memory from `allocator`.
pub fn seal(
    allocator: std.mem.Allocator,
    plain: []const u8,
    associated: []const u8,
    nonce: Nonce,
    key: Key,
) Error![]u8 {
    const out = try allocator.alloc(u8, plain.len + tag_length);
    sealInto(out, plain, associated, nonce, key);
    return out;
}

/// Like `seal`, but writes into a buffer of the right length.
pub fn sealInto(out: []u8, plain: []const u8, associated: []const u8, nonce: Nonce, key: Key) void {
    gcm.seal(out, plain, associated, nonce, key);
}

/// The plain bytes, or `failure` if the key, the nonce, the associated data or any bit of `sealed` is wrong.
pub fn open(
    allocator: std.mem.Allocator,
    sealed: []const u8,
    associated: []const u8,
    nonce: Nonce,
    key: Key,
    failure: Error,
) Error![]u8 {
    if (sealed.len < tag_length) return failure;
    const plain = try allocator.alloc(u8, sealed.len - tag_length);
    errdefer allocator.free(plain);
    try openInto(plain, sealed, associated, nonce, key, failure);
    return plain;
}

/// Like `open`, but writes into a buffer of the right length.
pub fn openInto(
    plain: []u8,
    sealed: []const u8,
    associated: []const u8,
    nonce: Nonce,
    key: Key,
    failure: Error,
) Error!void {
    if (!gcm.open(plain, sealed, associated, nonce, key)) return failure;
}

/// Derives 32 bytes with HKDF-SHA256 (RFC 5869).
pub fn hkdf(secret: []const u8, salt: []const u8, info: []const u8) Key {
    const Hkdf = std.crypto.kdf.hkdf.HkdfSha256;
    var extracted = Hkdf.extract(salt, secret);
    defer memory.wipe(&extracted);
    var key: Key = undefined;
    Hkdf.expand(&key, info, extracted);
    return key;
}

/// Parameters of Argon2id.
pub const Argon2 = argon2.Parameters;

/// Derives 32 bytes with Argon2id. Fails with ParametersOutOfBounds.
pub fn argon2id(password: []const u8, salt: []const u8, parameters: Argon2) Error!Key {
    var key: Key = undefined;
    try argon2.fill(&key, .{ .password = password, .salt = salt }, parameters);
    return key;
}
