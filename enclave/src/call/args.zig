//! Reads arguments strictly. The error that a function returns names the refused field.

const std = @import("std");
const encoding = @import("../codec/encoding.zig");
const Ctx = @import("context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = std.json.Value;

/// The field's value, or null when it is absent or JSON null.
pub fn field(args: Json, name: []const u8) ?Json {
    const found = args.object.get(name) orelse return null;
    return if (found == .null) null else found;
}

/// The field's value. Fails with MissingField.
pub fn required(ctx: *Ctx, args: Json, name: []const u8) Error!Json {
    return field(args, name) orelse ctx.fail(error.MissingField, name);
}

/// A string of at most `max` bytes, or null when absent.
pub fn optionalString(ctx: *Ctx, args: Json, name: []const u8, max: usize) Error!?[]const u8 {
    const value = field(args, name) orelse return null;
    if (value != .string) return ctx.fail(error.InvalidField, name);
    if (value.string.len > max) return ctx.fail(error.ValueTooLarge, name);
    return value.string;
}

/// A string of at most `max` bytes.
pub fn string(ctx: *Ctx, args: Json, name: []const u8, max: usize) Error![]const u8 {
    return try optionalString(ctx, args, name, max) orelse ctx.fail(error.MissingField, name);
}

/// A binary field (number[], base64, base64url or 0x-hex) of at most `max` bytes, or null when absent.
pub fn optionalBytes(ctx: *Ctx, args: Json, name: []const u8, max: usize) Error!?[]u8 {
    const value = field(args, name) orelse return null;
    const decoded = encoding.decodeBinary(ctx.arena, value, null) catch |err| return ctx.fail(err, name);
    if (decoded.len > max) return ctx.fail(error.ValueTooLarge, name);
    return decoded;
}

/// A binary field of at most `max` bytes.
pub fn bytes(ctx: *Ctx, args: Json, name: []const u8, max: usize) Error![]u8 {
    return try optionalBytes(ctx, args, name, max) orelse ctx.fail(error.MissingField, name);
}

/// A binary field of exactly `N` bytes, or null when absent. Hex of 2N digits without 0x is accepted too.
pub fn optionalFixed(comptime N: usize, ctx: *Ctx, args: Json, name: []const u8) Error!?[N]u8 {
    const value = field(args, name) orelse return null;
    const decoded = encoding.decodeBinary(ctx.arena, value, N) catch |err| return ctx.fail(err, name);
    if (decoded.len != N) return ctx.fail(error.InvalidField, name);
    return decoded[0..N].*;
}

/// A binary field of exactly `N` bytes.
pub fn fixed(comptime N: usize, ctx: *Ctx, args: Json, name: []const u8) Error![N]u8 {
    return try optionalFixed(N, ctx, args, name) orelse ctx.fail(error.MissingField, name);
}

/// An integer from `min` to `max`, or null when absent.
pub fn optionalInteger(ctx: *Ctx, args: Json, name: []const u8, min: i64, max: i64) Error!?i64 {
    const value = field(args, name) orelse return null;
    if (value != .integer) return ctx.fail(error.InvalidField, name);
    if (value.integer < min or value.integer > max) return ctx.fail(error.InvalidField, name);
    return value.integer;
}

/// A boolean, or `default` when absent.
pub fn boolean(ctx: *Ctx, args: Json, name: []const u8, default: bool) Error!bool {
    const value = field(args, name) orelse return default;
    if (value != .bool) return ctx.fail(error.InvalidField, name);
    return value.bool;
}

/// An object, or null when absent.
pub fn optionalObject(ctx: *Ctx, args: Json, name: []const u8) Error!?Json {
    const value = field(args, name) orelse return null;
    if (value != .object) return ctx.fail(error.InvalidField, name);
    return value;
}

/// An array's items, or an empty slice when absent.
pub fn items(ctx: *Ctx, args: Json, name: []const u8, max: usize) Error![]const Json {
    const value = field(args, name) orelse return &.{};
    if (value != .array) return ctx.fail(error.InvalidField, name);
    if (value.array.items.len > max) return ctx.fail(error.ValueTooLarge, name);
    return value.array.items;
}
