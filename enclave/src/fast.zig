//! Code compiled for speed instead of size: functions that process a whole vault, and the compiler's helper functions.
//! A save spends its time on AES-GCM and base64, which are a third slower when compiled for size. All curve arithmetic
//! multiplies 64-bit numbers into 128-bit products; WebAssembly lacks an instruction for this, so a helper does it.
//! Compiled for size, signing takes a fifth longer. Nothing here parses input.

const std = @import("std");

const Aes256Gcm = std.crypto.aead.aes_gcm.Aes256Gcm;

pub const panic = std.debug.no_panic;

pub const std_options: std.Options = .{
    // Same setting as in enclave.zig, because this object contains its own copy of the standard library.
    .side_channels_mitigations = .full,
};

/// Encrypts the `len` bytes at `plain` with AES-256-GCM into `out`, followed by the tag.
export fn fast_gcm_seal(
    out: [*]u8,
    plain: [*]const u8,
    len: usize,
    associated: [*]const u8,
    associated_len: usize,
    nonce: *const [12]u8,
    key: *const [32]u8,
) void {
    Aes256Gcm.encrypt(out[0..len], out[len..][0..16], plain[0..len], associated[0..associated_len], nonce.*, key.*);
}

/// Decrypts the `len` bytes at `sealed`, which are followed by the tag, into `out`. Returns false if anything was
/// changed.
export fn fast_gcm_open(
    out: [*]u8,
    sealed: [*]const u8,
    len: usize,
    associated: [*]const u8,
    associated_len: usize,
    nonce: *const [12]u8,
    key: *const [32]u8,
) bool {
    Aes256Gcm.decrypt(
        out[0..len],
        sealed[0..len],
        sealed[len..][0..16].*,
        associated[0..associated_len],
        nonce.*,
        key.*,
    ) catch return false;
    return true;
}

/// Encodes the `len` bytes at `data` as padded standard base64 into `out`, which has room for it.
export fn fast_base64(out: [*]u8, out_len: usize, data: [*]const u8, len: usize) void {
    _ = std.base64.standard.Encoder.encode(out[0..out_len], data[0..len]);
}
