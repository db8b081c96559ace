//! Keccak-256 as Ethereum uses it (not SHA3-256), and what Bitcoin hashes keys with.

const std = @import("std");
const args = @import("../call/args.zig");
const encoding = @import("../codec/encoding.zig");
const json = @import("../codec/json.zig");
const Ctx = @import("../call/context.zig").Ctx;
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

/// {data: binary} or {text: string} -> {hash: 0x-hex}.
pub fn keccak256(ctx: *Ctx, input: json.Json) Error!json.Json {
    const text = try args.optionalString(ctx, input, "text", limit);
    const data = text orelse try args.bytes(ctx, input, "data", limit);
    return json.object(ctx.arena, .{ .hash = try encoding.hex(ctx.arena, &keccak(data)) });
}

const limit = 8 << 20;
