//! What a function of the module is given beside its arguments.

const std = @import("std");
const Error = @import("../platform/errors.zig").Error;
const State = @import("state.zig").State;

pub const Ctx = struct {
    /// Lives until the end of this call and is wiped then: nothing allocated here needs a `free`.
    arena: std.mem.Allocator,
    /// What survives calls: the one vault of this instance.
    state: *State,
    /// Names the field or fact at fault; part of the error's message. Never put input here, only words of our own.
    detail: []const u8 = "",

    /// Fails with `err`, naming what was at fault: `return ctx.fail(error.InvalidField, "digest");`
    pub fn fail(ctx: *Ctx, err: Error, detail: []const u8) Error {
        ctx.detail = detail;
        return err;
    }
};
