//! Another data key for the open vault: what a removed key opened once does not open what follows.

const std = @import("std");
const host = @import("../host.zig");
const sealed = @import("sealed.zig");
const state = @import("../state.zig");
const Ctx = @import("../context.zig").Ctx;
const Error = @import("../errors.zig").Error;

/// Takes the wrap at `removed` away and wraps a fresh data key for the others. A wrap can be made only with its key's
/// secret, so `keys` must be exactly those that remain, each opening its wrap; else nothing changes.
pub fn without(ctx: *Ctx, open: *state.Open, removed: usize, keys: []const sealed.HostKey) Error!void {
    const remaining = open.wraps.items.len - 1;
    if (keys.len > remaining) return ctx.fail(error.InvalidField, "keys");
    var data_key = try host.randomBytes(32);
    defer std.crypto.secureZero(u8, &data_key);
    const fresh = try ctx.arena.alloc(sealed.Wrap, remaining);
    var at: usize = 0;
    for (open.wraps.items, 0..) |wrap, index| {
        if (index == removed) continue;
        fresh[at] = try again(ctx, wrap, keys, data_key);
        at += 1;
    }
    open.wraps.clearRetainingCapacity();
    open.wraps.appendSliceAssumeCapacity(fresh);
    open.data_key = data_key;
}

/// The wrap of another data key under the same key. Its identifier stays where it lies, in the open vault's memory.
fn again(ctx: *Ctx, wrap: sealed.Wrap, keys: []const sealed.HostKey, data_key: [32]u8) Error!sealed.Wrap {
    const key = for (keys) |candidate| {
        if (candidate.kind == wrap.kind and std.mem.eql(u8, candidate.id, wrap.id)) break candidate;
    } else return ctx.fail(error.KeyRequired, "keys");
    var opened = try sealed.unwrapOne(ctx.arena, ctx.state.did, wrap, key);
    std.crypto.secureZero(u8, &opened);
    var made = try sealed.wrap(ctx.arena, ctx.state.did, key, data_key);
    made.id = wrap.id;
    return made;
}
