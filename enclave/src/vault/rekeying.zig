//! Gives the open vault a new data key, so that a removed key cannot open later revisions.

const std = @import("std");
const memory = @import("../platform/memory.zig");
const host = @import("../platform/host.zig");
const sealed = @import("../storage/sealed.zig");
const state = @import("../call/state.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;

/// Wraps a fresh data key for every key except the one at `removed`, whose wrap the caller removes. Wrapping requires
/// each key's secret, so `keys` must be exactly the remaining keys, each of which opens its wrap. Otherwise nothing
/// changes.
pub fn anew(ctx: *Ctx, open: *state.Open, removed: usize, keys: []const sealed.HostKey) Error!void {
    const wraps = open.wraps.items;
    if (keys.len != wraps.len - 1) return ctx.fail(error.KeyRequired, "keys");
    var data_key = try host.randomBytes(32);
    defer memory.wipe(&data_key);
    const fresh = try ctx.arena.dupe(sealed.Wrap, wraps);
    for (fresh, 0..) |*wrap, index| {
        if (index != removed) wrap.* = try again(ctx, wrap.*, keys, data_key);
    }
    @memcpy(wraps, fresh);
    open.data_key = data_key;
}

/// Wraps the new data key with the key that opens `wrap`. The wrap's identifier stays in the open vault's memory.
fn again(ctx: *Ctx, wrap: sealed.Wrap, keys: []const sealed.HostKey, data_key: [32]u8) Error!sealed.Wrap {
    for (keys) |key| {
        if (key.kind != wrap.kind or !std.mem.eql(u8, key.id, wrap.id)) continue;
        var opened = try sealed.unwrapOne(ctx.arena, ctx.state.did, wrap, key);
        memory.wipe(&opened);
        var made = try sealed.wrap(ctx.arena, ctx.state.did, key, data_key);
        made.id = wrap.id;
        return made;
    }
    return ctx.fail(error.KeyRequired, "keys");
}
