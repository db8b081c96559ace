//! The standard library's AES-256-GCM, which is compiled for speed (fast.zig) in the module and called directly in
//! native unit tests.

const std = @import("std");
const builtin = @import("builtin");

const Aes256Gcm = std.crypto.aead.aes_gcm.Aes256Gcm;

pub const Key = [32]u8;
pub const Nonce = [12]u8;
pub const tag_length = Aes256Gcm.tag_length;

const fast = builtin.cpu.arch.isWasm();

extern fn fast_gcm_seal(
    out: [*]u8,
    plain: [*]const u8,
    len: usize,
    associated: [*]const u8,
    associated_len: usize,
    nonce: *const Nonce,
    key: *const Key,
) void;
extern fn fast_gcm_open(
    out: [*]u8,
    sealed: [*]const u8,
    len: usize,
    associated: [*]const u8,
    associated_len: usize,
    nonce: *const Nonce,
    key: *const Key,
) bool;

/// Writes the ciphertext and tag of `plain` into `out`, which is `tag_length` longer.
pub fn seal(out: []u8, plain: []const u8, associated: []const u8, nonce: Nonce, key: Key) void {
    std.debug.assert(out.len == plain.len + tag_length);
    if (!fast)
        return Aes256Gcm.encrypt(out[0..plain.len], out[plain.len..][0..tag_length], plain, associated, nonce, key);
    fast_gcm_seal(out.ptr, plain.ptr, plain.len, associated.ptr, associated.len, &nonce, &key);
}

/// Writes the plain bytes of `sealed` into `out`, which is `tag_length` shorter. Returns false and writes nothing if
/// the key, the nonce, the associated data or any bit of `sealed` is wrong.
pub fn open(out: []u8, sealed: []const u8, associated: []const u8, nonce: Nonce, key: Key) bool {
    std.debug.assert(sealed.len == out.len + tag_length);
    if (fast) return fast_gcm_open(out.ptr, sealed.ptr, out.len, associated.ptr, associated.len, &nonce, &key);
    const tag = sealed[out.len..][0..tag_length].*;
    Aes256Gcm.decrypt(out, sealed[0..out.len], tag, associated, nonce, key) catch return false;
    return true;
}
