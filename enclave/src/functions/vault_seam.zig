//! What synchronisation asks of the vault: all of it in the clear, and to become it.

const session = @import("../vault/session.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const HostKey = @import("../storage/sealed.zig").HostKey;

/// Succeeds when there is an unlocked vault to send.
pub fn available(ctx: *Ctx) Error!void {
    _ = try session.require(ctx);
}

/// The vault in the clear; the arena wipes it after the call.
pub fn snapshot(ctx: *Ctx) Error![]const u8 {
    const open = try session.require(ctx);
    return open.database.serialize(ctx.arena);
}

/// Makes `clear` this instance's open vault, under a data key of its own wrapped for `key`, and returns its DID.
/// An instance that has a vault open keeps it: Conflict.
pub fn restore(ctx: *Ctx, clear: []const u8, key: HostKey) Error![]const u8 {
    if (ctx.state.open != null) return error.Conflict;
    try session.restore(ctx, clear, key);
    return ctx.state.did;
}
