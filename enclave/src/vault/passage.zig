//! Carries a vault's data key and the wraps of a person's passkeys and passwords to a new device (docs/pairing.md).
//!
//! A wrap can be made only with its key, so the wraps travel unchanged, in the header of the sealed vault. One more
//! wrap is for a random secret, which travels in a row of the database that the enclaves encrypt for each other.

const std = @import("std");
const args = @import("../call/args.zig");
const encoding = @import("../codec/encoding.zig");
const host = @import("../platform/host.zig");
const resources = @import("resources.zig");
const rows = @import("rows.zig");
const sealed = @import("../storage/sealed.zig");
const session = @import("session.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Open = @import("../call/state.zig").Open;

/// The ID of the additional wrap, and the kind of the row.
pub const name = "pairing-passage";

/// `database`: the image, with the row if `vault` is given; `vault`: the sealed vault with the wrap.
pub const Given = struct { database: []const u8, vault: ?[]const u8 = null };

/// What the old device sends. The open vault is as it was before. Fails with ValueTooLarge if it has no room for a
/// wrap.
pub fn give(ctx: *Ctx, open: *Open, row: []const u8) Error!Given {
    const secret = try host.randomBytes(32);
    const rewrapped = open.rewrapped;
    try session.wrapFor(ctx, ctx.state.did, open, .{ .kind = .secret, .id = name, .secret = &secret });
    const vault = sealedNow(ctx, open);
    _ = open.wraps.pop();
    open.rewrapped = rewrapped;
    return .{ .vault = try vault, .database = try withRow(ctx, open, row, secret) };
}

fn sealedNow(ctx: *Ctx, open: *const Open) Error![]u8 {
    const image = try open.database.serialize(ctx.arena);
    return sealed.seal(ctx.arena, ctx.state.did, open.revision, host.nowMs(), open.wraps.items, open.data_key, image);
}

fn withRow(ctx: *Ctx, open: *Open, row: []const u8, secret: [32]u8) Error![]u8 {
    const digits = try encoding.bareHex(ctx.arena, &secret);
    const insert = "INSERT INTO tokens (id, value, kind, created_at) VALUES (?, ?, '" ++ name ++ "', '')";
    try open.database.run(insert, &.{ .{ .text = row }, .{ .text = digits } });
    const image = open.database.serialize(ctx.arena);
    try delete(open.database, row);
    open.saved_changes += 2; // the row came and went, so nothing more has to be saved
    return image;
}

/// Opens the sealed vault in place of the received one, which contains the row, and lets `key` open it instead of the
/// old device's keys of kind `secret`. Without `vault`, only deletes the row; it is empty if the old device did not
/// send it. Fails with SyncRejected if only one of vault and row arrived, or if they do not match.
pub fn take(ctx: *Ctx, row: []const u8, vault: ?[]const u8, key: sealed.HostKey) Error!void {
    const found = try takeRow(ctx, row);
    const given = vault orelse return;
    if (found == null and given.len == 0) return; // an earlier release sends neither
    const secret = found orelse return error.SyncRejected;
    session.open_(ctx, given, .{ .kind = .secret, .id = name, .secret = &secret }) catch |err|
        return if (err == error.OutOfMemory) err else error.SyncRejected;
    try wrapFor(ctx, row, key);
}

fn takeRow(ctx: *Ctx, row: []const u8) Error!?[32]u8 {
    const database = ctx.state.open.?.database;
    const found = rows.get(ctx, database, resources.find("tokens").?, row) catch |err|
        return if (err == error.NotFound) null else err;
    try delete(database, row);
    return try args.fixed(32, ctx, found, "value");
}

fn delete(database: Database, row: []const u8) Error!void {
    try database.run("DELETE FROM tokens WHERE id = ?", &.{.{ .text = row }});
}

/// Drops the wraps that belong to the old device, and wraps the vault for this one. A passkey that both devices have
/// gets a new wrap. Both devices' passwords stay valid: if they have the same name, the new one is renamed.
fn wrapFor(ctx: *Ctx, row: []const u8, key: sealed.HostKey) Error!void {
    const open = &ctx.state.open.?;
    const renamed = "password-".* ++ row[0..8].*;
    var mine = key;
    var kept: usize = 0;
    for (open.wraps.items) |*wrap| {
        const same = wrap.kind == key.kind and std.mem.eql(u8, wrap.id, key.id);
        if (wrap.kind == .secret or (same and wrap.kind == .prf)) continue;
        if (same) mine.id = &renamed;
        open.wraps.items[kept] = wrap.*;
        kept += 1;
    }
    open.wraps.shrinkRetainingCapacity(kept);
    try session.wrapFor(ctx, ctx.state.did, open, mine);
}
