//! Creates the output `{success: false, error}` of functions whose interface type has these fields.

const std = @import("std");
const errors = @import("../platform/errors.zig");
const json = @import("../codec/json.zig");
const Ctx = @import("context.zig").Ctx;
const Error = errors.Error;
const Json = json.Json;

/// The output {success: false, error: code}; for a malformed call, the function itself returns the error.
pub fn of(ctx: *Ctx, err: Error) Error!Json {
    return switch (err) {
        error.OutOfMemory, error.MissingField, error.InvalidField, error.InvalidEncoding, error.ValueTooLarge => err,
        else => failure(ctx, err),
    };
}

/// The output for `exec`, in which malformed arguments are an expected failure, too.
pub fn failure(ctx: *Ctx, err: Error) Error!Json {
    if (err == error.OutOfMemory) return err;
    return json.object(ctx.arena, .{ .success = false, .@"error" = try reason(ctx, err) });
}

/// The code, followed by the detail if there is one: `unknown_action: accounts has list get ...`.
fn reason(ctx: *Ctx, err: Error) Error![]const u8 {
    const code = errors.row(err).code;
    return if (ctx.detail.len == 0) code else std.mem.concat(ctx.arena, u8, &.{ code, ": ", ctx.detail });
}
