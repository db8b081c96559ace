//! `export` and `import`: the vault in the password-protected format MTRV. docs/formats.md describes the bytes.

const std = @import("std");
const memory = @import("../platform/memory.zig");
const aead = @import("../crypto/aead.zig");
const args = @import("../call/args.zig");
const encoding = @import("../codec/encoding.zig");
const host = @import("../platform/host.zig");
const iso8601 = @import("../codec/iso8601.zig");
const json = @import("../codec/json.zig");
const outcome = @import("../call/outcome.zig");
const session = @import("../vault/session.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

const magic = "MTRV";
const version = 1;
const argon2id = 1;
const header_length = 56;
const max_password = 1024;

/// VaultExportOptions -> VaultExportOutput.
pub fn exportVault(ctx: *Ctx, input: Json) Error!Json {
    const password = try passwordOf(ctx, input);
    const data = seal(ctx, password) catch |err| return outcome.of(ctx, err);
    return json.object(ctx.arena, .{
        .success = true,
        .data = try encoding.base64(ctx.arena, data),
        .did = ctx.state.did,
        .exported_at = try iso8601.format(ctx.arena, host.nowMs()),
    });
}

/// VaultImportOptions and {key?} -> VaultImportOutput. The imported vault is open afterwards; after an error, nothing
/// has changed. Without `key`, `add_wrap` must add a key before the vault can be saved.
pub fn importVault(ctx: *Ctx, input: Json) Error!Json {
    const data = try args.bytes(ctx, input, "data", session.max_sealed + header_length);
    const password = try passwordOf(ctx, input);
    const key = try session.hostKey(ctx, input, "key");
    if (ctx.state.open != null) return outcome.of(ctx, error.Conflict);
    const image = open(ctx, data, password) catch |err| return outcome.of(ctx, err);
    session.restore(ctx, image, key) catch |err| return outcome.of(ctx, switch (err) {
        error.InvalidDatabase => error.ExportRejected,
        else => err,
    });
    const database = ctx.state.open.?.database;
    return json.object(ctx.arena, .{
        .success = true,
        .did = ctx.state.did,
        .accounts = try count(database, "accounts"),
        .credentials = try count(database, "credentials"),
    });
}

fn seal(ctx: *Ctx, password: []const u8) Error![]const u8 {
    const opened = try session.require(ctx);
    const image = try opened.database.serialize(ctx.arena);
    const parameters: aead.Argon2 = .{};
    const out = try ctx.arena.alloc(u8, header_length + image.len + aead.tag_length);
    var writer = std.Io.Writer.fixed(out[0..header_length]);
    const salt = try host.randomBytes(16);
    const nonce = try host.randomBytes(12);
    writeHeader(&writer, parameters, salt, nonce, image.len + aead.tag_length) catch return error.CryptoFailure;
    var key = try aead.argon2id(password, &salt, parameters);
    defer memory.wipe(&key);
    aead.sealInto(out[header_length..], image, out[0..header_length], nonce, key);
    return out;
}

fn writeHeader(out: *std.Io.Writer, parameters: aead.Argon2, salt: [16]u8, nonce: [12]u8, length: u64) !void {
    try out.writeAll(magic);
    try out.writeAll(&.{ version, argon2id, 0, 0 });
    try out.writeInt(u32, parameters.memory_kib, .big);
    try out.writeInt(u32, parameters.passes, .big);
    try out.writeInt(u32, parameters.lanes, .big);
    try out.writeAll(&salt);
    try out.writeAll(&nonce);
    try out.writeInt(u64, length, .big);
}

/// The vault's bytes. Errors in the clear header have specific codes. A wrong password cannot be distinguished from a
/// damaged file.
fn open(ctx: *Ctx, data: []const u8, password: []const u8) Error![]const u8 {
    if (data.len < header_length + aead.tag_length) return error.InvalidFormat;
    if (!std.mem.eql(u8, data[0..4], magic)) return error.InvalidFormat;
    if (data[4] != version or data[5] != argon2id) return error.UnsupportedVersion;
    if (data[6] != 0 or data[7] != 0) return error.UnsupportedVersion;
    const length = std.mem.readInt(u64, data[48..56], .big);
    if (length != data.len - header_length) return error.InvalidFormat;
    var key = try aead.argon2id(password, data[20..36], .{
        .memory_kib = std.mem.readInt(u32, data[8..12], .big),
        .passes = std.mem.readInt(u32, data[12..16], .big),
        .lanes = std.mem.readInt(u32, data[16..20], .big),
    });
    defer memory.wipe(&key);
    return aead.open(
        ctx.arena,
        data[header_length..],
        data[0..header_length],
        data[36..48].*,
        key,
        error.ExportRejected,
    );
}

fn passwordOf(ctx: *Ctx, input: Json) Error![]const u8 {
    const password = try args.string(ctx, input, "password", max_password);
    return if (password.len == 0) ctx.fail(error.InvalidField, "password") else password;
}

fn count(database: Database, comptime table: []const u8) Error!i64 {
    const statement = try database.query("SELECT count(*) FROM " ++ table, &.{});
    defer statement.finish();
    return if (try statement.next()) statement.integer(0) else 0;
}
