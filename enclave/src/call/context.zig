//! The context that a function of the module receives in addition to its arguments.

const std = @import("std");
const Error = @import("../platform/errors.zig").Error;
const State = @import("state.zig").State;

pub const Ctx = struct {
    /// The call's allocator, whose memory is wiped and freed at the end of the call, so no `free` is needed.
    arena: std.mem.Allocator,
    /// The state that persists between calls, which contains the instance's only vault.
    state: *State,
    /// The field or fact that is wrong, for the error's message. Contains only fixed words and never any input.
    detail: []const u8 = "",

    /// Fails with `err` and a detail that names what is wrong: `return ctx.fail(error.InvalidField, "digest");`
    pub fn fail(ctx: *Ctx, err: Error, detail: []const u8) Error {
        ctx.detail = detail;
        return err;
    }
};
