//! Checks the arguments of an action, and adds alternative names and default values. A token's policy is
//! applied to the completed arguments, so the caller's spelling does not change the policy's result.

const std = @import("std");
const args = @import("../call/args.zig");
const filling_file = @import("filling.zig");
const json = @import("../codec/json.zig");
const resources = @import("../vault/resources.zig");
const rows = @import("../vault/rows.zig");
const table = @import("table.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Filling = filling_file.Filling;
const Json = json.Json;
const Resource = resources.Resource;

/// Whether the action reads an argument with that name.
pub fn has(resource: Resource, action: []const u8, name: []const u8) bool {
    if (table.find(resource.name, action)) |particular| {
        return isKey(resource, name) or
            contains(particular.takes, name) or (particular.makes_row and makes(resource, name));
    }
    return switch (commonOf(resource, action) orelse return false) {
        .list => contains(&.{ "limit", "offset" }, name),
        .get, .delete, .revoke => isKey(resource, name),
        .create => isKey(resource, name) or makes(resource, name),
        .update => isKey(resource, name) or if (resource.column(name)) |column| column.mutable else false,
    };
}

/// Refuses arguments that the action does not have.
pub fn checkKnown(ctx: *Ctx, resource: Resource, action: []const u8, given: Json) Error!void {
    for (given.object.keys()) |name| {
        if (!has(resource, action, name))
            return ctx.fail(error.InvalidField, "an argument that the action does not have");
    }
}

/// The arguments as the action will read them: without nulls, with the row's key as `id` and under its column's
/// name, and with every default. A value that cannot be filled in stays absent, and then the action fails.
pub fn resolved(ctx: *Ctx, database: Database, resource: Resource, action: []const u8, given: Json) Error!Json {
    var full = try json.object(ctx.arena, .{});
    for (given.object.keys(), given.object.values()) |name, value| {
        if (value != .null) try json.put(ctx.arena, &full, name, value);
    }
    const filling: Filling = .{ .ctx = ctx, .database = database, .resource = resource, .args = &full };
    if (table.find(resource.name, action)) |particular| {
        if (particular.fill) |fill| try fill(filling);
    } else if (std.mem.eql(u8, action, "list")) {
        try filling.default("limit", .{ .integer = rows.max_listed });
        try filling.default("offset", .{ .integer = 0 });
    } else if (std.mem.eql(u8, action, "create")) try filling_file.columnDefaults(filling);
    if (!std.mem.eql(u8, action, "list")) try filling.nameKey();
    return full;
}

fn isKey(resource: Resource, name: []const u8) bool {
    return std.mem.eql(u8, name, "id") or std.mem.eql(u8, name, resource.key);
}

fn makes(resource: Resource, name: []const u8) bool {
    return if (resource.column(name)) |column| column.origin != .system else false;
}

pub fn contains(names: []const []const u8, name: []const u8) bool {
    for (names) |each| if (std.mem.eql(u8, each, name)) return true;
    return false;
}

pub fn commonOf(resource: Resource, name: []const u8) ?resources.Common {
    for (resource.actions) |common| if (std.mem.eql(u8, @tagName(common), name)) return common;
    return null;
}
