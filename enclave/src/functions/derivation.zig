//! `derive_key`: the public key at a path from a seed, for comparison with other implementations.

const std = @import("std");
const args = @import("../call/args.zig");
const curves = @import("../crypto/curves.zig");
const encoding = @import("../codec/encoding.zig");
const hashes = @import("../crypto/hashes.zig");
const hd = @import("../crypto/hd.zig");
const json = @import("../codec/json.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

const max_steps = 16;

/// {seed, path, curve?} -> {public_key, compressed, chain_code, fingerprint} according to BIP-32, or according to
/// SLIP-0010 on P-256. The secret key is not returned.
pub fn deriveKey(ctx: *Ctx, input: Json) Error!Json {
    const seed = try args.bytes(ctx, input, "seed", 64);
    if (seed.len < 16) return ctx.fail(error.InvalidField, "seed"); // BIP-32's bounds
    const curve = try curves.Curve.parse(try args.optionalString(ctx, input, "curve", 16) orelse "secp256k1");
    const path = try parse(ctx, try args.string(ctx, input, "path", 256));
    var node = try hd.derive(curve, seed, path);
    defer node.wipe();
    const public = switch (curve) {
        inline else => |known| try curves.publicOf(known, node.secret),
    };
    const own = try hashes.hash160(&public.compressed());
    return json.object(ctx.arena, .{
        .public_key = try encoding.bareHex(ctx.arena, &public.uncompressed()),
        .compressed = try encoding.bareHex(ctx.arena, &public.compressed()),
        .chain_code = try encoding.bareHex(ctx.arena, &node.chain_code),
        .fingerprint = try encoding.bareHex(ctx.arena, own[0..4]),
    });
}

/// Reads a path: `m`, and for each step a number below 2^31, followed by `'` if the step is hardened.
fn parse(ctx: *Ctx, text: []const u8) Error![]const u32 {
    var steps: std.ArrayList(u32) = .empty;
    var parts = std.mem.splitScalar(u8, text, '/');
    if (!std.mem.eql(u8, parts.first(), "m")) return ctx.fail(error.InvalidField, "path");
    while (parts.next()) |part| {
        if (steps.items.len == max_steps) return ctx.fail(error.ValueTooLarge, "path");
        try steps.append(ctx.arena, step(part) orelse return ctx.fail(error.InvalidField, "path"));
    }
    return steps.items;
}

fn step(text: []const u8) ?u32 {
    const marked = std.mem.endsWith(u8, text, "'");
    const digits = if (marked) text[0 .. text.len - 1] else text;
    if (digits.len == 0 or digits.len > 10) return null;
    var number: u64 = 0;
    for (digits) |digit| {
        if (!std.ascii.isDigit(digit)) return null;
        number = number * 10 + (digit - '0');
    }
    if (number >= hd.hardened) return null;
    return @as(u32, @intCast(number)) + if (marked) hd.hardened else 0;
}
