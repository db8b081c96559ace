//! The vault's keys, stored in the table `enclaves` and opened only during an operation.

const std = @import("std");
const curves = @import("../crypto/curves.zig");
const ecdsa = @import("../crypto/ecdsa.zig");
const encoding = @import("../codec/encoding.zig");
const host = @import("../platform/host.zig");
const iso8601 = @import("../codec/iso8601.zig");
const json = @import("../codec/json.zig");
const rows = @import("rows.zig");
const shares_file = @import("../crypto/shares.zig");
const Ctx = @import("../call/context.zig").Ctx;
const database_file = @import("../storage/database.zig");
const Database = database_file.Database;
const Statement = database_file.Statement;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

/// One key as stored in the database. `val` is null if the val share is stored elsewhere.
pub const Entry = struct {
    enclave_id: []const u8,
    public: curves.PublicKey,
    val: ?[shares_file.sealed_length]u8,
    user: [shares_file.sealed_length]u8,
    nonce: [24]u8,
    keys: shares_file.Keys,
};

/// Stores a key's sealed shares in the database. With `keep_val` false, the val share is left out.
pub fn insert(
    ctx: *Ctx,
    database: Database,
    public: curves.PublicKey,
    sealed: shares_file.Sealed,
    keys: shares_file.Keys,
    keep_val: bool,
) Error![]const u8 {
    const enclave_id = try rows.randomId(ctx);
    const point = try ctx.arena.dupe(u8, &public.uncompressed());
    var fields: rows.Fields = .{ .ctx = ctx };
    try fields.add("enclave_id", .{ .text = enclave_id });
    try fields.add("curve", .{ .text = public.curve.name() });
    try fields.add("public_key", .{ .blob = point });
    try fields.add("val_share", if (keep_val) .{ .blob = try ctx.arena.dupe(u8, &sealed.val) } else .null);
    try fields.add("user_share", .{ .blob = try ctx.arena.dupe(u8, &sealed.user) });
    try fields.add("nonce", .{ .blob = try ctx.arena.dupe(u8, &sealed.nonce) });
    try fields.add("val_key", .{ .blob = try ctx.arena.dupe(u8, &keys.val) });
    try fields.add("user_key", .{ .blob = try ctx.arena.dupe(u8, &keys.user) });
    try fields.add("created_at", .{ .text = try iso8601.format(ctx.arena, host.nowMs()) });
    try fields.insert(database, "enclaves");
    return enclave_id;
}

const select = "SELECT enclave_id, curve, public_key, val_share, user_share, nonce, val_key, user_key FROM enclaves ";

/// `did:new:0x` and Keccak-256 of X‖Y.
pub fn didOf(ctx: *Ctx, public: curves.PublicKey) Error![]const u8 {
    return std.mem.concat(ctx.arena, u8, &.{ "did:new:", try encoding.hex(ctx.arena, &public.hash()) });
}

/// The key with that identifier or, if it is null, the key of the open vault's DID. Fails with NotFound.
pub fn load(ctx: *Ctx, database: Database, enclave_id: ?[]const u8) Error!Entry {
    const wanted = enclave_id orelse return ofDid(ctx, database, ctx.state.did);
    const statement = try database.query(select ++ "WHERE enclave_id = ?", &.{.{ .text = wanted }});
    defer statement.finish();
    if (!try statement.next()) return ctx.fail(error.NotFound, "enclave_id");
    return read(ctx, statement);
}

/// The key whose hash is `did`. Fails with NotFound without that key, because the DID would then be another's.
pub fn ofDid(ctx: *Ctx, database: Database, did: []const u8) Error!Entry {
    const statement = try database.query(select ++ "ORDER BY rowid", &.{});
    defer statement.finish();
    while (try statement.next()) {
        const entry = try read(ctx, statement);
        if (std.mem.eql(u8, did, try didOf(ctx, entry.public))) return entry;
    }
    return error.NotFound;
}

/// The identifier of a public key, or null if the vault does not have the key.
pub fn named(ctx: *Ctx, database: Database, public: curves.PublicKey) Error!?[]const u8 {
    const point = public.uncompressed();
    const statement = try database.query(
        "SELECT enclave_id FROM enclaves WHERE public_key = ?",
        &.{.{ .blob = &point }},
    );
    defer statement.finish();
    return if (try statement.next()) try statement.text(ctx.arena, 0) else null;
}

fn read(ctx: *Ctx, statement: Statement) Error!Entry {
    const curve = try curves.Curve.parse(try statement.text(ctx.arena, 1));
    const point = try statement.fixed(65, 2);
    return .{
        .enclave_id = try statement.text(ctx.arena, 0),
        .public = .{ .curve = curve, .x = point[1..33].*, .y = point[33..65].* },
        .val = if (statement.isNull(3)) null else try statement.fixed(shares_file.sealed_length, 3),
        .user = try statement.fixed(shares_file.sealed_length, 4),
        .nonce = try statement.fixed(24, 5),
        .keys = .{ .val = try statement.fixed(32, 6), .user = try statement.fixed(32, 7) },
    };
}

/// Signs a digest with the key. `val_share` is the share that is stored elsewhere, if it is not in the vault.
pub fn sign(
    ctx: *Ctx,
    entry: Entry,
    val_share: ?[shares_file.sealed_length]u8,
    digest: [32]u8,
    entropy: []const u8,
) Error!ecdsa.Signature {
    var shares = try opened(ctx, entry, val_share);
    defer shares.wipe();
    return curves.sign(entry.public, shares, digest, entropy);
}

/// Creates new shares of the same key, and, with `rotate`, also new sealing keys for them. Returns EncryptedShares.
pub fn refresh(
    ctx: *Ctx,
    database: Database,
    entry: Entry,
    val_share: ?[shares_file.sealed_length]u8,
    rotate: bool,
) Error!Json {
    var shares = try opened(ctx, entry, val_share);
    defer shares.wipe();
    var fresh = try curves.refresh(entry.public.curve, shares);
    defer fresh.wipe();
    const keys = if (rotate) try shares_file.Keys.generate() else entry.keys;
    const sealed = try shares_file.seal(entry.public, fresh, keys);
    try database.run(
        \\UPDATE enclaves SET val_share = ?, user_share = ?, nonce = ?, val_key = ?, user_key = ?, generation = generation + 1
        \\WHERE enclave_id = ?
    , &.{
        if (entry.val != null) .{ .blob = &sealed.val } else .null,
        .{ .blob = &sealed.user },
        .{ .blob = &sealed.nonce },
        .{ .blob = &keys.val },
        .{ .blob = &keys.user },
        .{ .text = entry.enclave_id },
    });
    return encrypted(ctx, entry.public, sealed);
}

/// The interface's EncryptedShares.
pub fn encrypted(ctx: *Ctx, public: curves.PublicKey, sealed: shares_file.Sealed) Error!Json {
    const point = public.uncompressed();
    return json.object(ctx.arena, .{
        .public_key = try encoding.base64(ctx.arena, &point),
        .public_key_hex = try encoding.bareHex(ctx.arena, &point),
        .val_share = try encoding.base64(ctx.arena, &sealed.val),
        .user_share = try encoding.base64(ctx.arena, &sealed.user),
        .nonce = try encoding.base64(ctx.arena, &sealed.nonce),
        .curve = public.curve.name(),
        .pubkey_x = try encoding.bareHex(ctx.arena, &public.x),
        .pubkey_y = try encoding.bareHex(ctx.arena, &public.y),
    });
}

fn opened(ctx: *Ctx, entry: Entry, val_share: ?[shares_file.sealed_length]u8) Error!curves.Shares {
    const val = val_share orelse entry.val orelse return ctx.fail(error.MissingField, "val_share");
    return shares_file.open(entry.public, .{ .val = val, .user = entry.user, .nonce = entry.nonce }, entry.keys);
}
