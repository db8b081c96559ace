//! Named values of the vault, such as its DID.

const std = @import("std");
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;

/// The value of `key`, or null.
pub fn get(database: Database, arena: std.mem.Allocator, key: []const u8) Error!?[]const u8 {
    const statement = try database.query("SELECT value FROM meta WHERE key = ?", &.{.{ .text = key }});
    defer statement.finish();
    return if (try statement.next()) try statement.text(arena, 0) else null;
}

/// Sets the value of `key`.
pub fn set(database: Database, key: []const u8, value: []const u8) Error!void {
    try database.run("REPLACE INTO meta VALUES (?, ?)", &.{
        .{ .text = key },
        .{ .text = value },
    });
}
