//! What a function of the module receives in addition to its arguments.

const std = @import("std");
const Error = @import("../platform/errors.zig").Error;
const State = @import("state.zig").State;

pub const Ctx = struct {
    /// Lives until the end of this call and is wiped then: nothing allocated here needs a `free`.
    arena: std.mem.Allocator,
    /// What survives calls: the instance's one vault.
    state: *State,
    /// Names the field or fact that is wrong, as part of the error's message. Only fixed words: never any input.
    detail: []const u8 = "",

    /// Fails with `err` and names what is wrong: `return ctx.fail(error.InvalidField, "digest");`
    pub fn fail(ctx: *Ctx, err: Error, detail: []const u8) Error {
        ctx.detail = detail;
        return err;
    }
};
