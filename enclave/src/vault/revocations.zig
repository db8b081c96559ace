//! Reads which tokens the vault has revoked. A revocation is recorded only in the token's row.

const std = @import("std");
const cid = @import("../codec/cid.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;

/// The revoked tokens, as binary CIDs.
pub fn known(ctx: *Ctx, database: Database) Error![]const []const u8 {
    const found = try texts(ctx, database);
    const revoked = try ctx.arena.alloc([]const u8, found.len);
    for (found, revoked) |text, *slot| slot.* = cid.fromText(ctx.arena, text) catch return error.DatabaseFailure;
    return revoked;
}

/// The revoked tokens, as CID texts.
pub fn texts(ctx: *Ctx, database: Database) Error![]const []const u8 {
    var found: std.ArrayList([]const u8) = .empty;
    inline for (.{ "delegations", "ucans" }) |table| {
        const statement = try database.query("SELECT cid FROM " ++ table ++ " WHERE revoked_at IS NOT NULL", &.{});
        defer statement.finish();
        while (try statement.next()) try found.append(ctx.arena, try statement.text(ctx.arena, 0));
    }
    return found.items;
}
