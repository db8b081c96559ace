//! Exports the module's sealing, HKDF and Argon2id to a test that runs the standards' vectors. Never shipped:
//! tests/enclave/conftest.py puts this file next to a copy of enclave/src and compiles both with the module's flags.
//!
//! The parts of an input are concatenated in one buffer, and the result overwrites them. Each function returns the
//! result's length, or -1 for a refusal.

const std = @import("std");
const aead = @import("crypto/aead.zig");
const argon2id = @import("crypto/argon2id.zig");
const assertion = @import("webauthn/assertion.zig");
const ed25519 = @import("crypto/ed25519.zig");
const memory = @import("platform/memory.zig");
const pairing = @import("pairing/protocol.zig");

pub const std_options = @import("enclave.zig").std_options;
pub const panic = std.debug.no_panic;

var buffer: [1 << 17]u8 = undefined;

export fn vector_buffer() [*]u8 {
    return &buffer;
}

/// key ‖ nonce ‖ associated data ‖ plain -> ciphertext ‖ tag.
export fn vector_seal(associated: u32, plain: u32) i32 {
    const input = Sealing.read(associated, plain);
    const out = aead.seal(memory.allocator, input.text, input.associated, input.nonce, input.key) catch return -1;
    return answer(out);
}

/// key ‖ nonce ‖ associated data ‖ ciphertext ‖ tag -> plain.
export fn vector_open(associated: u32, sealed: u32) i32 {
    const input = Sealing.read(associated, sealed);
    const refusal = error.WrongKey;
    const out = aead.open(memory.allocator, input.text, input.associated, input.nonce, input.key, refusal) catch return -1;
    return answer(out);
}

/// secret ‖ salt ‖ info -> 32 bytes.
export fn vector_hkdf(secret: u32, salt: u32, info: u32) i32 {
    const key = aead.hkdf(part(0, secret), part(secret, salt), part(secret + salt, info));
    @memcpy(buffer[0..key.len], &key);
    return key.len;
}

/// password ‖ salt -> 32 bytes, if the parameters are within the module's bounds.
export fn vector_argon2id(password: u32, salt: u32, memory_kib: u32, passes: u32, lanes: u32) i32 {
    const parameters: aead.Argon2 = .{ .memory_kib = memory_kib, .passes = passes, .lanes = lanes };
    const key = aead.argon2id(part(0, password), part(password, salt), parameters) catch return -1;
    @memcpy(buffer[0..key.len], &key);
    return key.len;
}

/// password ‖ salt ‖ secret ‖ associated data -> `length` bytes. Ignores the bounds of `aead.argon2id`, for vectors
/// with little memory, other lengths or parameters that the module does not use.
export fn vector_argon2id_unbounded(password: u32, salt: u32, secret: u32, associated: u32, memory_kib: u32, passes: u32, lanes: u32, length: u32) i32 {
    var out: [64]u8 = undefined;
    const blocks = memory.allocator.alloc(u8, memory_kib * 1024) catch return -1;
    defer memory.allocator.free(blocks);
    argon2id.fillWith(blocks, out[0..length], .{
        .password = part(0, password),
        .salt = part(password, salt),
        .secret = part(password + salt, secret),
        .associated = part(password + salt + secret, associated),
    }, .{ .memory_kib = memory_kib, .passes = passes, .lanes = lanes }) catch return -1;
    @memcpy(buffer[0..length], out[0..length]);
    return @intCast(length);
}

/// COSE key ‖ message ‖ signature -> 0 bytes if the signature is valid for a passkey with that key.
export fn vector_passkey(cose: u32, message: u32, signature: u32) i32 {
    var arena = std.heap.ArenaAllocator.init(memory.allocator);
    defer arena.deinit();
    const key = assertion.keyOf(arena.allocator(), part(0, cose)) catch return -1;
    return if (assertion.verifies(key, part(cose, message), part(cose + message, signature))) 0 else -1;
}

/// seed ‖ message -> signature ‖ public key.
export fn vector_ed25519_sign(message: u32) i32 {
    const seed = buffer[0..ed25519.seed_length].*;
    const signature = ed25519.sign(seed, part(seed.len, message)) catch return -1;
    const public = ed25519.publicOf(seed) catch return -1;
    buffer[0..96].* = signature ++ public;
    return 96;
}

/// secret scalar ‖ the other's compressed key ‖ transcript -> an empty vault sealed for the other side: zero nonce, tag
export fn vector_pairing() i32 {
    const channel: pairing.Channel = .{ .secret = buffer[0..32].*, .peer = buffer[32..65].*, .transcript = buffer[65..97].* };
    var arena = std.heap.ArenaAllocator.init(memory.allocator);
    defer arena.deinit();
    const sealed = pairing.seal(arena.allocator(), channel, @splat(0), "") catch return -1;
    @memcpy(buffer[0..sealed.len], sealed);
    return @intCast(sealed.len);
}

const Sealing = struct {
    key: aead.Key,
    nonce: aead.Nonce,
    associated: []const u8,
    text: []const u8,

    fn read(associated: u32, text: u32) Sealing {
        return .{
            .key = buffer[0..32].*,
            .nonce = buffer[32..44].*,
            .associated = part(44, associated),
            .text = part(44 + associated, text),
        };
    }
};

fn part(start: u32, length: u32) []const u8 {
    return buffer[start..][0..length];
}

fn answer(out: []u8) i32 {
    defer memory.allocator.free(out);
    @memcpy(buffer[0..out.len], out);
    return @intCast(out.len);
}
