//! list, get, create, update, delete and revoke for every resource. All names in SQL come from the table of resources.

const std = @import("std");
const args = @import("../call/args.zig");
const encoding = @import("../codec/encoding.zig");
const host = @import("../platform/host.zig");
const iso8601 = @import("../codec/iso8601.zig");
const json = @import("../codec/json.zig");
const resources = @import("resources.zig");
const Ctx = @import("../call/context.zig").Ctx;
const database_file = @import("../storage/database.zig");
const Database = database_file.Database;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;
const Resource = resources.Resource;
const Value = database_file.Value;

const max_text = 16 << 10;
const max_blob = 64 << 10;
pub const max_listed = 10_000;

pub fn run(ctx: *Ctx, database: Database, resource: Resource, action: resources.Common, input: Json) Error!Json {
    return switch (action) {
        .list => list(ctx, database, resource, input),
        .get => get(ctx, database, resource, try keyOf(ctx, resource, input)),
        .create => create(ctx, database, resource, input),
        .update => update(ctx, database, resource, input),
        .delete => delete(ctx, database, resource, try keyOf(ctx, resource, input)),
        .revoke => revoke(ctx, database, resource, try keyOf(ctx, resource, input)),
    };
}

/// The row's key in the arguments, under the key column's name or as `id`. Fails with MissingField.
pub fn keyOf(ctx: *Ctx, resource: Resource, input: Json) Error![]const u8 {
    return try optionalKey(ctx, resource, input) orelse ctx.fail(error.MissingField, resource.key);
}

/// Like `keyOf`, but null without a key. Refuses an `id` that differs from the key, because a policy may use either.
pub fn optionalKey(ctx: *Ctx, resource: Resource, input: Json) Error!?[]const u8 {
    const by_id = try args.optionalString(ctx, input, "id", max_text);
    const key = try args.optionalString(ctx, input, resource.key, max_text) orelse return by_id;
    if (by_id) |other| if (!std.mem.eql(u8, key, other)) return ctx.fail(error.InvalidField, "id");
    return key;
}

/// {limit?, offset?} -> rows in order of creation.
pub fn list(ctx: *Ctx, database: Database, resource: Resource, input: Json) Error!Json {
    const limit = try args.optionalInteger(ctx, input, "limit", 0, max_listed) orelse max_listed;
    const offset = try args.optionalInteger(ctx, input, "offset", 0, std.math.maxInt(i32)) orelse 0;
    const sql = try std.fmt.allocPrint(ctx.arena, "SELECT {s} FROM {s} ORDER BY created_at, rowid LIMIT ? OFFSET ?", .{
        try columnList(ctx, resource, false), resource.name,
    });
    return collect(ctx, database, resource, sql, &.{ .{ .integer = limit }, .{ .integer = offset } }, false);
}

/// All rows, with only the fields that the interface documents.
pub fn documented(ctx: *Ctx, database: Database, resource: Resource) Error!Json {
    const sql = try std.fmt.allocPrint(ctx.arena, "SELECT {s} FROM {s} ORDER BY created_at, rowid", .{
        try columnList(ctx, resource, true), resource.name,
    });
    return collect(ctx, database, resource, sql, &.{}, true);
}

/// The row with that key. Fails with NotFound.
pub fn get(ctx: *Ctx, database: Database, resource: Resource, key: []const u8) Error!Json {
    const sql = try std.fmt.allocPrint(ctx.arena, "SELECT {s} FROM {s} WHERE {s} = ?", .{
        try columnList(ctx, resource, false), resource.name, resource.key,
    });
    const found = try collect(ctx, database, resource, sql, &.{.{ .text = key }}, false);
    return if (found.array.items.len == 1) found.array.items[0] else ctx.fail(error.NotFound, resource.name);
}

/// Creates a row from the given fields. Returns the whole row.
pub fn create(ctx: *Ctx, database: Database, resource: Resource, input: Json) Error!Json {
    var fields: Fields = .{ .ctx = ctx };
    const key = try optionalKey(ctx, resource, input) orelse
        if (resource.random_key) try randomId(ctx) else return ctx.fail(error.MissingField, resource.key);
    if (key.len == 0) return ctx.fail(error.InvalidField, resource.key);
    try fields.add(resource.key, .{ .text = key });
    for (resource.columns) |column| {
        if (std.mem.eql(u8, column.name, resource.key) or column.origin == .system) continue;
        if (try read(ctx, input, column)) |value| {
            try fields.add(column.name, value);
        } else if (column.origin == .required) return ctx.fail(error.MissingField, column.name);
    }
    try addTimes(ctx, &fields, resource);
    try fields.insert(database, resource.name);
    return get(ctx, database, resource, key);
}

/// Changes the given mutable fields and returns the whole row. A field that cannot change is refused.
pub fn update(ctx: *Ctx, database: Database, resource: Resource, input: Json) Error!Json {
    const key = try keyOf(ctx, resource, input);
    var sql: std.ArrayList(u8) = .empty;
    var values: std.ArrayList(Value) = .empty;
    for (resource.columns) |column| {
        if (std.mem.eql(u8, column.name, resource.key) or std.mem.eql(u8, column.name, "id")) continue;
        const value = try read(ctx, input, column) orelse continue;
        if (!column.mutable) return ctx.fail(error.InvalidField, column.name);
        if (values.items.len > 0) try sql.appendSlice(ctx.arena, ", ");
        try sql.appendSlice(ctx.arena, column.name);
        try sql.appendSlice(ctx.arena, " = ?");
        try values.append(ctx.arena, value);
    }
    if (values.items.len == 0) return ctx.fail(error.MissingField, "nothing to change");
    try values.append(ctx.arena, .{ .text = key });
    const statement = try std.fmt.allocPrint(
        ctx.arena,
        "UPDATE {s} SET {s} WHERE {s} = ?",
        .{ resource.name, sql.items, resource.key },
    );
    try database.run(statement, values.items);
    return get(ctx, database, resource, key);
}

/// Deletes the row. Fails with NotFound, or with Conflict if another row refers to it or its token must stay revoked.
pub fn delete(ctx: *Ctx, database: Database, resource: Resource, key: []const u8) Error!Json {
    if (resource.column("token") != null and resource.column("revoked_at") != null)
        try keepRevocation(ctx, database, resource, key);
    const sql = try std.fmt.allocPrint(ctx.arena, "DELETE FROM {s} WHERE {s} = ?", .{ resource.name, resource.key });
    try database.run(sql, &.{.{ .text = key }});
    if (database.changes() == 0) return ctx.fail(error.NotFound, resource.name);
    return json.object(ctx.arena, .{ .deleted = key });
}

/// Only a token's row records that the token is revoked, so the row must stay until the token expires.
fn keepRevocation(ctx: *Ctx, database: Database, resource: Resource, key: []const u8) Error!void {
    const statement = "SELECT expiration FROM {s} WHERE {s} = ? AND revoked_at IS NOT NULL";
    const sql = try std.fmt.allocPrint(ctx.arena, statement, .{ resource.name, resource.key });
    const found = try database.query(sql, &.{.{ .text = key }});
    defer found.finish();
    if (!try found.next()) return;
    const over = !found.isNull(0) and found.integer(0) < @divFloor(try host.timeMs(), 1000);
    if (!over) return ctx.fail(error.Conflict, "revoked, but not expired yet");
}

/// Marks the row as revoked. The time of the first revocation stays unchanged. Fails with NotFound.
pub fn revoke(ctx: *Ctx, database: Database, resource: Resource, key: []const u8) Error!Json {
    const statement = "UPDATE {s} SET revoked_at = coalesce(revoked_at, ?) WHERE {s} = ?";
    const sql = try std.fmt.allocPrint(ctx.arena, statement, .{ resource.name, resource.key });
    try database.run(sql, &.{ .{ .text = try iso8601.format(ctx.arena, host.nowMs()) }, .{ .text = key } });
    return get(ctx, database, resource, key);
}

/// The columns and values of a new row.
pub const Fields = struct {
    ctx: *Ctx,
    names: std.ArrayList(u8) = .empty,
    marks: std.ArrayList(u8) = .empty,
    values: std.ArrayList(Value) = .empty,

    pub fn add(fields: *Fields, name: []const u8, value: Value) Error!void {
        const arena = fields.ctx.arena;
        if (fields.values.items.len > 0) {
            try fields.names.appendSlice(arena, ", ");
            try fields.marks.appendSlice(arena, ", ");
        }
        try fields.names.appendSlice(arena, name);
        try fields.marks.append(arena, '?');
        try fields.values.append(arena, value);
    }

    pub fn insert(fields: *Fields, database: Database, table: []const u8) Error!void {
        const sql = try std.fmt.allocPrint(fields.ctx.arena, "INSERT INTO {s} ({s}) VALUES ({s})", .{
            table, fields.names.items, fields.marks.items,
        });
        try database.run(sql, fields.values.items);
    }
};

/// 16 random bytes in hex.
pub fn randomId(ctx: *Ctx) Error![]const u8 {
    return encoding.bareHex(ctx.arena, &try host.randomBytes(16));
}

fn addTimes(ctx: *Ctx, fields: *Fields, resource: Resource) Error!void {
    const now = try iso8601.format(ctx.arena, host.nowMs());
    try fields.add("created_at", .{ .text = now });
    if (resource.column("last_used") != null) try fields.add("last_used", .{ .text = now });
}

fn columnList(ctx: *Ctx, resource: Resource, only_documented: bool) Error![]const u8 {
    var names: std.ArrayList(u8) = .empty;
    for (resource.columns) |column| {
        if (only_documented and !column.documented) continue;
        if (names.items.len > 0) try names.appendSlice(ctx.arena, ", ");
        try names.appendSlice(ctx.arena, column.name);
    }
    return names.items;
}

fn collect(
    ctx: *Ctx,
    database: Database,
    resource: Resource,
    sql: []const u8,
    values: []const Value,
    only_documented: bool,
) Error!Json {
    const statement = try database.query(sql, values);
    defer statement.finish();
    var found = std.json.Array.init(ctx.arena);
    while (try statement.next()) {
        var row: std.json.ObjectMap = .empty;
        var index: c_int = 0;
        for (resource.columns) |column| {
            if (only_documented and !column.documented) continue;
            try row.put(ctx.arena, column.name, try shown(ctx, statement, index, column.kind));
            index += 1;
        }
        try found.append(.{ .object = row });
    }
    return .{ .array = found };
}

fn shown(ctx: *Ctx, statement: database_file.Statement, index: c_int, kind: resources.Kind) Error!Json {
    if (statement.isNull(index)) return .null;
    return switch (kind) {
        .text, .time => .{ .string = try statement.text(ctx.arena, index) },
        .integer => .{ .integer = statement.integer(index) },
        .boolean => .{ .bool = statement.integer(index) != 0 },
        .blob => .{ .string = try encoding.base64(ctx.arena, try statement.blob(ctx.arena, index)) },
        .hex => .{ .string = try encoding.bareHex(ctx.arena, try statement.blob(ctx.arena, index)) },
        .json => jsonOf(ctx, try statement.text(ctx.arena, index)),
    };
}

/// The value of a JSON column, or null if `read` would not accept it, as is possible in an imported database.
fn jsonOf(ctx: *Ctx, text: []const u8) Json {
    if (text.len > max_text or !json.withinDepth(text)) return .null;
    return std.json.parseFromSliceLeaky(Json, ctx.arena, text, .{}) catch .null;
}

fn read(ctx: *Ctx, input: Json, column: resources.Column) Error!?Value {
    switch (column.kind) {
        .text => return if (try args.optionalString(ctx, input, column.name, max_text)) |text|
            .{ .text = text }
        else
            null,
        .time => {
            const text = try args.optionalString(ctx, input, column.name, 24) orelse return null;
            return if (iso8601.isInstant(text)) .{ .text = text } else ctx.fail(error.InvalidField, column.name);
        },
        .integer => {
            const number = try args.optionalInteger(ctx, input, column.name, 0, (1 << 53) - 1);
            return if (number) |given| .{ .integer = given } else null;
        },
        .boolean => {
            if (args.field(input, column.name) == null) return null;
            return .{ .integer = @intFromBool(try args.boolean(ctx, input, column.name, false)) };
        },
        .blob, .hex => return if (try args.optionalBytes(ctx, input, column.name, max_blob)) |data|
            .{ .blob = data }
        else
            null,
        .json => {
            const given = args.field(input, column.name) orelse return null;
            for (try args.items(ctx, input, column.name, max_text)) |item| {
                if (item != .string) return ctx.fail(error.InvalidField, column.name);
            }
            const text = std.json.Stringify.valueAlloc(ctx.arena, given, .{}) catch return error.OutOfMemory;
            if (text.len > max_text) return ctx.fail(error.ValueTooLarge, column.name);
            return .{ .text = text };
        },
    }
}
