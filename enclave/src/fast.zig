//! Compiled on its own for speed rather than size: what runs over a whole vault, and the compiler's helper functions.
//!
//! A save spends its time in AES-GCM and base64, which the small form of the standard library makes a third slower. The
//! 64-bit multiplication with a 128-bit product is a helper function: WebAssembly has no instruction for it, and all
//! curve arithmetic rests on it. In its small form signing takes a fifth longer. Nothing here parses.

const std = @import("std");

const Aes256Gcm = std.crypto.aead.aes_gcm.Aes256Gcm;

pub const panic = std.debug.no_panic;

pub const std_options: std.Options = .{
    // As in enclave.zig: this object has a separate copy of the standard library.
    .side_channels_mitigations = .full,
};

/// AES-256-GCM of `len` bytes at `plain` into `out`, the tag after them.
export fn fast_gcm_seal(out: [*]u8, plain: [*]const u8, len: usize, associated: [*]const u8, associated_len: usize, nonce: *const [12]u8, key: *const [32]u8) void {
    Aes256Gcm.encrypt(out[0..len], out[len..][0..16], plain[0..len], associated[0..associated_len], nonce.*, key.*);
}

/// The `len` bytes that `sealed` and the tag after them hold, into `out`; false where anything was changed.
export fn fast_gcm_open(out: [*]u8, sealed: [*]const u8, len: usize, associated: [*]const u8, associated_len: usize, nonce: *const [12]u8, key: *const [32]u8) bool {
    Aes256Gcm.decrypt(out[0..len], sealed[0..len], sealed[len..][0..16].*, associated[0..associated_len], nonce.*, key.*) catch return false;
    return true;
}

/// Standard base64 with padding of `len` bytes at `data` into `out`, which has room for it.
export fn fast_base64(out: [*]u8, out_len: usize, data: [*]const u8, len: usize) void {
    _ = std.base64.standard.Encoder.encode(out[0..out_len], data[0..len]);
}
