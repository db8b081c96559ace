//! The vault's tables, and the migrations that create them. Released migrations are never edited; a change needs a new
//! migration.

const std = @import("std");
const iso8601 = @import("../codec/iso8601.zig");
const host = @import("../platform/host.zig");
const repaired = @import("repairs.zig");
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;

/// The database's `user_version`. `VaultManifest.schemaVersion` is the manifest's version, which the interface fixes at
/// 1.
pub const version = 3;

const migrations = [_][:0]const u8{
    \\CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    \\CREATE TABLE migrations (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL) STRICT;
    \\CREATE TABLE enclaves (
    \\  enclave_id TEXT PRIMARY KEY, curve TEXT NOT NULL CHECK (curve IN ('P-256', 'secp256k1')),
    \\  public_key BLOB NOT NULL UNIQUE CHECK (length(public_key) = 65),
    \\  val_share BLOB CHECK (length(val_share) = 48), user_share BLOB NOT NULL CHECK (length(user_share) = 48),
    \\  nonce BLOB NOT NULL CHECK (length(nonce) = 24),
    \\  val_key BLOB NOT NULL CHECK (length(val_key) = 32), user_key BLOB NOT NULL CHECK (length(user_key) = 32),
    \\  generation INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL) STRICT;
    \\CREATE TABLE accounts (
    \\  id TEXT PRIMARY KEY, address TEXT NOT NULL, chain_id TEXT NOT NULL, coin_type INTEGER NOT NULL DEFAULT 60,
    \\  account_index INTEGER NOT NULL DEFAULT 0, address_index INTEGER NOT NULL DEFAULT 0, label TEXT NOT NULL DEFAULT '',
    \\  is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
    \\  enclave_id TEXT REFERENCES enclaves (enclave_id), created_at TEXT NOT NULL, UNIQUE (address, chain_id)) STRICT;
    \\CREATE UNIQUE INDEX accounts_one_default ON accounts (is_default) WHERE is_default = 1;
    \\CREATE TABLE credentials (
    \\  credential_id TEXT PRIMARY KEY, device_name TEXT NOT NULL DEFAULT '',
    \\  device_type TEXT NOT NULL DEFAULT 'platform' CHECK (device_type IN ('platform', 'cross-platform')),
    \\  authenticator TEXT NOT NULL DEFAULT '', transports TEXT NOT NULL DEFAULT '[]',
    \\  public_key BLOB, sign_count INTEGER NOT NULL DEFAULT 0,
    \\  created_at TEXT NOT NULL, last_used TEXT NOT NULL) STRICT;
    \\CREATE TABLE sessions (
    \\  id TEXT PRIMARY KEY, credential_id TEXT REFERENCES credentials (credential_id) ON DELETE CASCADE,
    \\  name TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL, expires_at TEXT, revoked_at TEXT) STRICT;
    \\CREATE TABLE grants (
    \\  id TEXT PRIMARY KEY, session_id TEXT REFERENCES sessions (id) ON DELETE CASCADE, grantee TEXT NOT NULL,
    \\  command TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT, revoked_at TEXT) STRICT;
    \\CREATE TABLE delegations (
    \\  cid TEXT PRIMARY KEY, issuer TEXT NOT NULL, audience TEXT NOT NULL, subject TEXT, command TEXT NOT NULL,
    \\  not_before INTEGER, expiration INTEGER, token BLOB NOT NULL, created_at TEXT NOT NULL, revoked_at TEXT) STRICT;
    \\CREATE TABLE ucans (
    \\  cid TEXT PRIMARY KEY, issuer TEXT NOT NULL, audience TEXT, subject TEXT, command TEXT NOT NULL,
    \\  not_before INTEGER, expiration INTEGER, token BLOB NOT NULL, created_at TEXT NOT NULL, revoked_at TEXT) STRICT;
    \\CREATE TABLE verification_methods (
    \\  id TEXT PRIMARY KEY, type TEXT NOT NULL, controller TEXT NOT NULL, public_key TEXT NOT NULL,
    \\  purpose TEXT NOT NULL, enclave_id TEXT REFERENCES enclaves (enclave_id), created_at TEXT NOT NULL) STRICT;
    \\CREATE TABLE services (
    \\  id TEXT PRIMARY KEY, type TEXT NOT NULL, endpoint TEXT NOT NULL, name TEXT NOT NULL DEFAULT '',
    \\  created_at TEXT NOT NULL) STRICT;
    \\CREATE TABLE service_configs (
    \\  id TEXT PRIMARY KEY, service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE, name TEXT NOT NULL,
    \\  value TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE (service_id, name)) STRICT;
    \\CREATE TABLE tokens (
    \\  id TEXT PRIMARY KEY, service_id TEXT REFERENCES services (id) ON DELETE CASCADE, kind TEXT NOT NULL,
    \\  value TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT, revoked_at TEXT) STRICT;
    \\CREATE TABLE invocations (
    \\  cid TEXT PRIMARY KEY, issuer TEXT NOT NULL, audience TEXT, subject TEXT, command TEXT NOT NULL,
    \\  expiration INTEGER, token BLOB NOT NULL, created_at TEXT NOT NULL) STRICT;
    \\CREATE TABLE sync (
    \\  id TEXT PRIMARY KEY, device TEXT NOT NULL DEFAULT '', role TEXT NOT NULL, status TEXT NOT NULL,
    \\  created_at TEXT NOT NULL, completed_at TEXT) STRICT;
    \\CREATE TABLE oidc (
    \\  id TEXT PRIMARY KEY, issuer TEXT NOT NULL, client_id TEXT NOT NULL, subject TEXT NOT NULL DEFAULT '',
    \\  scopes TEXT NOT NULL DEFAULT '[]', created_at TEXT NOT NULL, revoked_at TEXT, UNIQUE (issuer, client_id, subject))
    \\  STRICT;
    ,
    \\CREATE TABLE seeds (
    \\  id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL CHECK (length(sealed) = 80),
    \\  nonce BLOB NOT NULL CHECK (length(nonce) = 12), key BLOB NOT NULL CHECK (length(key) = 32),
    \\  created_at TEXT NOT NULL) STRICT;
    ,
    \\CREATE TABLE publishing_keys (
    \\  id INTEGER PRIMARY KEY CHECK (id = 1), public_key BLOB NOT NULL CHECK (length(public_key) = 32),
    \\  sealed BLOB NOT NULL CHECK (length(sealed) = 48), nonce BLOB NOT NULL CHECK (length(nonce) = 12),
    \\  key BLOB NOT NULL CHECK (length(key) = 32), created_at TEXT NOT NULL) STRICT;
    ,
};

/// A function that corrects rows after a migration has changed the tables.
const Repair = *const fn (database: Database, arena: std.mem.Allocator) Error!void;
const repairs = [migrations.len]?Repair{ null, repaired.addresses, null };

comptime {
    std.debug.assert(migrations.len == version);
}

/// Migrates a database of any earlier version to `version`. Fails with UnsupportedVersion for a later version.
pub fn migrate(database: Database, arena: std.mem.Allocator) Error!void {
    const from = try userVersion(database);
    if (from < 0 or from > version) return error.UnsupportedVersion;
    return advance(database, arena, @intCast(from), version);
}

fn advance(database: Database, arena: std.mem.Allocator, from: usize, to: usize) Error!void {
    for (from..to) |step| {
        try database.execute("BEGIN");
        errdefer database.execute("ROLLBACK") catch {};
        try database.execute(migrations[step]);
        if (repairs[step]) |repair| try repair(database, arena);
        try database.run("INSERT INTO migrations VALUES (?, ?)", &.{
            .{ .integer = @intCast(step + 1) },
            .{ .text = try iso8601.format(arena, host.nowMs()) },
        });
        try database.run(try std.fmt.allocPrint(arena, "PRAGMA user_version = {d}", .{step + 1}), &.{});
        try database.execute("COMMIT");
    }
}

/// Refuses a damaged database, and one whose tables, indexes, views or triggers are not exactly those of its version,
/// because an import can come from anyone and its triggers would run here.
pub fn check(database: Database, arena: std.mem.Allocator) Error!void {
    const fresh = try Database.create();
    defer fresh.close();
    const found = try userVersion(database);
    if (found < 1 or found > version) return error.InvalidDatabase;
    try advance(fresh, arena, 0, @intCast(found));
    if (!std.mem.eql(u8, &try fingerprint(fresh, arena), &try fingerprint(database, arena)))
        return error.InvalidDatabase;
    const verdict = try database.query("PRAGMA quick_check(1)", &.{});
    defer verdict.finish();
    if (!try verdict.next()) return error.InvalidDatabase;
    if (!std.mem.eql(u8, try verdict.text(arena, 0), "ok")) return error.InvalidDatabase;
    const orphans = try database.query("PRAGMA foreign_key_check", &.{});
    defer orphans.finish();
    if (try orphans.next()) return error.InvalidDatabase;
}

fn userVersion(database: Database) Error!i64 {
    const statement = try database.query("PRAGMA user_version", &.{});
    defer statement.finish();
    return if (try statement.next()) statement.integer(0) else 0;
}

fn fingerprint(database: Database, arena: std.mem.Allocator) Error![32]u8 {
    var state = std.crypto.hash.sha2.Sha256.init(.{});
    const statement = try database.query(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name",
        &.{},
    );
    defer statement.finish();
    while (try statement.next()) {
        for (0..4) |column| {
            state.update(try statement.text(arena, @intCast(column)));
            state.update("\x00");
        }
    }
    return state.finalResult();
}
