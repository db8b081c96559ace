//! The `{success: false, error}` of functions whose interface type has these fields.

const std = @import("std");
const errors = @import("../platform/errors.zig");
const json = @import("../codec/json.zig");
const Ctx = @import("context.zig").Ctx;
const Error = errors.Error;
const Json = json.Json;

/// The {success: false, error: code} of the interface's outputs. A malformed call stays an error.
pub fn of(ctx: *Ctx, err: Error) Error!Json {
    return switch (err) {
        error.OutOfMemory, error.MissingField, error.InvalidField, error.InvalidEncoding, error.ValueTooLarge => err,
        else => failure(ctx, err),
    };
}

/// The same for `exec`, where malformed arguments are an expected failure too.
pub fn failure(ctx: *Ctx, err: Error) Error!Json {
    if (err == error.OutOfMemory) return err;
    return json.object(ctx.arena, .{ .success = false, .@"error" = try reason(ctx, err) });
}

/// The code, and the detail if a function gave one: `unknown_action: accounts has list get ...`.
fn reason(ctx: *Ctx, err: Error) Error![]const u8 {
    const code = errors.row(err).code;
    return if (ctx.detail.len == 0) code else std.mem.concat(ctx.arena, u8, &.{ code, ": ", ctx.detail });
}
