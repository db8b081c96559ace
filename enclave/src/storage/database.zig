//! The part of SQLite that the vault needs: statements with bound values on a database in memory.

const std = @import("std");
const sqlite_os = @import("sqlite_os.zig");
const Error = @import("../platform/errors.zig").Error;

const Connection = opaque {};
const Prepared = opaque {};

const ok: c_int = 0;
const constraint: c_int = 19;
const no_memory: c_int = 7;
const full: c_int = 13;
const row: c_int = 100;
const done: c_int = 101;
const open_memory: c_int = 0x2 | 0x4 | 0x80; // read and write, create, in memory
const free_on_close_and_resizable: c_uint = 1 | 2;
const null_type: c_int = 5;

extern fn sqlite3_open_v2(name: [*:0]const u8, out: *?*Connection, flags: c_int, vfs: ?[*:0]const u8) c_int;
extern fn sqlite3_close_v2(connection: *Connection) c_int;
extern fn sqlite3_exec(
    connection: *Connection,
    sql: [*:0]const u8,
    callback: ?*const anyopaque,
    context: ?*anyopaque,
    message: ?*anyopaque,
) c_int;
extern fn sqlite3_prepare_v2(
    connection: *Connection,
    sql: [*]const u8,
    len: c_int,
    out: *?*Prepared,
    tail: ?*anyopaque,
) c_int;
extern fn sqlite3_finalize(statement: *Prepared) c_int;
extern fn sqlite3_step(statement: *Prepared) c_int;
extern fn sqlite3_bind_text(
    statement: *Prepared,
    index: c_int,
    text: [*]const u8,
    len: c_int,
    destructor: ?*const anyopaque,
) c_int;
extern fn sqlite3_bind_blob(
    statement: *Prepared,
    index: c_int,
    data: [*]const u8,
    len: c_int,
    destructor: ?*const anyopaque,
) c_int;
extern fn sqlite3_bind_int64(statement: *Prepared, index: c_int, value: i64) c_int;
extern fn sqlite3_bind_null(statement: *Prepared, index: c_int) c_int;
extern fn sqlite3_column_type(statement: *Prepared, column: c_int) c_int;
extern fn sqlite3_column_text(statement: *Prepared, column: c_int) ?[*]const u8;
extern fn sqlite3_column_blob(statement: *Prepared, column: c_int) ?[*]const u8;
extern fn sqlite3_column_bytes(statement: *Prepared, column: c_int) c_int;
extern fn sqlite3_column_int64(statement: *Prepared, column: c_int) i64;
extern fn sqlite3_get_autocommit(connection: *Connection) c_int;
extern fn sqlite3_changes64(connection: *Connection) i64;
extern fn sqlite3_total_changes64(connection: *Connection) i64;
extern fn sqlite3_serialize(connection: *Connection, schema: [*:0]const u8, size: *i64, flags: c_uint) ?[*]u8;
extern fn sqlite3_deserialize(
    connection: *Connection,
    schema: [*:0]const u8,
    data: [*]u8,
    size: i64,
    capacity: i64,
    flags: c_uint,
) c_int;
extern fn sqlite3_malloc64(len: u64) ?[*]u8;
extern fn sqlite3_free(pointer: ?*anyopaque) void;

/// A value for a statement's parameter.
pub const Value = union(enum) {
    null,
    integer: i64,
    text: []const u8,
    blob: []const u8,
};

pub const Database = struct {
    connection: *Connection,

    /// An empty database.
    pub fn create() Error!Database {
        if (!sqlite_os.configure()) return error.OutOfMemory;
        var connection: ?*Connection = null;
        const outcome = sqlite3_open_v2(":memory:", &connection, open_memory, null);
        if (outcome != ok) {
            if (connection) |opened| _ = sqlite3_close_v2(opened);
            return error.OutOfMemory;
        }
        const database: Database = .{ .connection = connection.? };
        errdefer database.close();
        try database.settle();
        return database;
    }

    /// Opens a database from a copy of bytes that `serialize` returned.
    pub fn load(bytes: []const u8) Error!Database {
        const database = try create();
        errdefer database.close();
        // The file must have SQLite's magic and pages of 1,024 bytes, because `settle` assumes pages of that size.
        if (bytes.len < 512 or !std.mem.startsWith(u8, bytes, "SQLite format 3\x00\x04\x00"))
            return error.InvalidDatabase;
        const copy = sqlite3_malloc64(bytes.len) orelse return error.OutOfMemory;
        @memcpy(copy[0..bytes.len], bytes);
        const size: i64 = @intCast(bytes.len);
        // SQLite frees the copy even on failure.
        const outcome = sqlite3_deserialize(database.connection, "main", copy, size, size, free_on_close_and_resizable);
        if (outcome != ok) return error.InvalidDatabase;
        database.settle() catch return error.InvalidDatabase;
        return database;
    }

    /// The database's file image, in memory from `allocator`.
    pub fn serialize(database: Database, allocator: std.mem.Allocator) Error![]u8 {
        var size: i64 = 0;
        const image = sqlite3_serialize(database.connection, "main", &size, 0) orelse return error.OutOfMemory;
        defer sqlite3_free(image);
        return allocator.dupe(u8, image[0..@intCast(size)]);
    }

    /// Closes the database, and so wipes it, because the allocator overwrites all memory that SQLite releases.
    pub fn close(database: Database) void {
        _ = sqlite3_close_v2(database.connection);
    }

    /// Runs statements without parameters.
    pub fn execute(database: Database, sql: [:0]const u8) Error!void {
        try translate(sqlite3_exec(database.connection, sql.ptr, null, null, null));
    }

    /// Rolls back a transaction that an earlier call could neither commit nor roll back because memory had run out.
    pub fn abandon(database: Database) Error!void {
        if (sqlite3_get_autocommit(database.connection) == 0) try database.execute("ROLLBACK");
    }

    /// Runs one statement to completion.
    pub fn run(database: Database, sql: []const u8, values: []const Value) Error!void {
        const statement = try database.query(sql, values);
        defer statement.finish();
        while (try statement.next()) {}
    }

    /// A statement with its values bound. The caller must call `finish`.
    pub fn query(database: Database, sql: []const u8, values: []const Value) Error!Statement {
        var prepared: ?*Prepared = null;
        try translate(sqlite3_prepare_v2(database.connection, sql.ptr, @intCast(sql.len), &prepared, null));
        const statement: Statement = .{ .prepared = prepared orelse return error.DatabaseFailure };
        errdefer statement.finish();
        for (values, 1..) |value, index| try statement.bind(@intCast(index), value);
        return statement;
    }

    /// The number of rows that the last statement changed.
    pub fn changes(database: Database) i64 {
        return sqlite3_changes64(database.connection);
    }

    /// The number of rows that all statements have changed since the database was opened, including those rolled back.
    pub fn changesInAll(database: Database) i64 {
        return sqlite3_total_changes64(database.connection);
    }

    fn settle(database: Database) Error!void {
        // The build's options (enclave/parts.py) turn on foreign keys and turn off functions in a schema. The page
        // limit is 16 MiB less 4 KiB for the largest header, which is what `load` and `import` accept; a larger vault
        // could be saved but never opened. The page limit is set for this database only, because the build's option
        // would also limit how much data a query can sort.
        try database.execute("PRAGMA journal_mode = MEMORY; PRAGMA max_page_count = 16380");
    }
};

pub const Statement = struct {
    prepared: *Prepared,

    /// Advances to the next row, and returns whether there is one.
    pub fn next(statement: Statement) Error!bool {
        const outcome = sqlite3_step(statement.prepared);
        if (outcome == row) return true;
        if (outcome == done) return false;
        try translate(outcome);
        return false;
    }

    pub fn finish(statement: Statement) void {
        _ = sqlite3_finalize(statement.prepared);
    }

    pub fn isNull(statement: Statement, column: c_int) bool {
        return sqlite3_column_type(statement.prepared, column) == null_type;
    }

    pub fn integer(statement: Statement, column: c_int) i64 {
        return sqlite3_column_int64(statement.prepared, column);
    }

    /// A copy of the column's text, which is empty for NULL. An imported database may contain invalid UTF-8, for which
    /// the function fails with DatabaseFailure.
    pub fn text(statement: Statement, arena: std.mem.Allocator, column: c_int) Error![]u8 {
        const start = sqlite3_column_text(statement.prepared, column) orelse return &.{};
        const found = start[0..@intCast(sqlite3_column_bytes(statement.prepared, column))];
        if (!std.unicode.utf8ValidateSlice(found)) return error.DatabaseFailure;
        return arena.dupe(u8, found);
    }

    /// A copy of the column's bytes, which is empty for NULL.
    pub fn blob(statement: Statement, arena: std.mem.Allocator, column: c_int) Error![]u8 {
        const start = sqlite3_column_blob(statement.prepared, column) orelse return &.{};
        return arena.dupe(u8, start[0..@intCast(sqlite3_column_bytes(statement.prepared, column))]);
    }

    /// The column's bytes. Fails with DatabaseFailure unless there are exactly N bytes.
    pub fn fixed(statement: Statement, comptime N: usize, column: c_int) Error![N]u8 {
        const start = sqlite3_column_blob(statement.prepared, column) orelse return error.DatabaseFailure;
        if (sqlite3_column_bytes(statement.prepared, column) != N) return error.DatabaseFailure;
        return start[0..N].*;
    }

    fn bind(statement: Statement, index: c_int, value: Value) Error!void {
        // No destructor is needed: the bytes are in the call's arena, which outlives the statement.
        try translate(switch (value) {
            .null => sqlite3_bind_null(statement.prepared, index),
            .integer => |number| sqlite3_bind_int64(statement.prepared, index, number),
            .text => |bytes| sqlite3_bind_text(statement.prepared, index, bytes.ptr, @intCast(bytes.len), null),
            .blob => |bytes| sqlite3_bind_blob(statement.prepared, index, bytes.ptr, @intCast(bytes.len), null),
        });
    }
};

fn translate(outcome: c_int) Error!void {
    return switch (outcome) {
        ok, row, done => {},
        constraint => error.Conflict,
        no_memory => error.OutOfMemory,
        full => error.ValueTooLarge,
        else => error.DatabaseFailure,
    };
}
