//! Normalises a user operation for a token's policy: only the hashed fields remain, each in one spelling, so that
//! a different spelling of the same bytes cannot evade a policy.

const std = @import("std");
const args = @import("../call/args.zig");
const json = @import("../codec/json.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

const byte_fields = [_][]const u8{ "sender", "factory", "factoryData", "callData", "paymaster", "paymasterData" };
const quantities = [_][]const u8{
    "nonce",        "callGasLimit",         "verificationGasLimit",          "preVerificationGas",
    "maxFeePerGas", "maxPriorityFeePerGas", "paymasterVerificationGasLimit", "paymasterPostOpGasLimit",
};

/// The operation with lower-case hex, quantities without leading zeros, and no unknown fields. A value that is not an
/// object is returned unchanged.
pub fn normal(ctx: *Ctx, op: Json) Error!Json {
    if (op != .object) return op;
    var shown = try json.object(ctx.arena, .{});
    for (byte_fields) |name| {
        const value = args.field(op, name) orelse continue;
        try json.put(ctx.arena, &shown, name, if (value == .string) try lowered(ctx, value.string) else value);
    }
    for (quantities) |name| {
        const value = args.field(op, name) orelse continue;
        try json.put(ctx.arena, &shown, name, if (value == .string) try shortest(ctx, value.string) else value);
    }
    return shown;
}

pub fn lowered(ctx: *Ctx, text: []const u8) Error!Json {
    return .{ .string = try std.ascii.allocLowerString(ctx.arena, text) };
}

fn shortest(ctx: *Ctx, text: []const u8) Error!Json {
    if (!std.mem.startsWith(u8, text, "0x")) return .{ .string = text };
    const digits = std.mem.trimStart(u8, text[2..], "0");
    const kept = if (digits.len == 0 and text.len > 2) "0" else digits;
    return lowered(ctx, try std.mem.concat(ctx.arena, u8, &.{ "0x", kept }));
}
