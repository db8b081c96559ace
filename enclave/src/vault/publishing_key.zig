//! The vault's publishing key: an Ed25519 key that signs only IPNS records. Only its public part leaves the module.
//!
//! A passkey's user handle is the public part, so the key must exist before the vault. The key stays in the instance's
//! state until `generate` stores it in the new vault's database.

const std = @import("std");
const aead = @import("../crypto/aead.zig");
const ed25519 = @import("../crypto/ed25519.zig");
const host = @import("../platform/host.zig");
const iso8601 = @import("../codec/iso8601.zig");
const memory = @import("../platform/memory.zig");
const rows = @import("rows.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;

const sealed_length = ed25519.seed_length + aead.tag_length;
const binding = "holdfast/publishing-key/v1";

/// The public key of the pending key, which the instance holds for the next vault. The first call creates the key.
pub fn pending(ctx: *Ctx) Error!ed25519.PublicKey {
    if (ctx.state.pending_publishing_seed == null)
        ctx.state.pending_publishing_seed = try host.randomBytes(ed25519.seed_length);
    return ed25519.publicOf(ctx.state.pending_publishing_seed.?);
}

/// Stores the pending key, if there is one, in the database of a new vault. The key stays pending until
/// `State.forgetPending`, so that a failed `generate` can be repeated for the same passkey.
pub fn adopt(ctx: *Ctx, database: Database) Error!void {
    const seed = ctx.state.pending_publishing_seed orelse return;
    try insert(ctx, database, seed);
}

/// The public part of the open vault's publishing key. A vault created without a publishing key gets one now.
pub fn public(ctx: *Ctx, database: Database) Error!ed25519.PublicKey {
    var seed = try open(ctx, database);
    defer memory.wipe(&seed);
    return ed25519.publicOf(seed);
}

/// Signs with the open vault's publishing key. The caller must have built the message itself, because bytes from
/// outside are never signed.
pub fn sign(ctx: *Ctx, database: Database, message: []const u8) Error!ed25519.Signature {
    var seed = try open(ctx, database);
    defer memory.wipe(&seed);
    return ed25519.sign(seed, message);
}

fn open(ctx: *Ctx, database: Database) Error!ed25519.Seed {
    if (try read(database)) |seed| return seed;
    var seed = try host.randomBytes(ed25519.seed_length);
    defer memory.wipe(&seed);
    try insert(ctx, database, seed);
    return seed;
}

fn insert(ctx: *Ctx, database: Database, seed: ed25519.Seed) Error!void {
    const key = try host.randomBytes(32);
    const nonce = try host.randomBytes(12);
    const public_key = try ed25519.publicOf(seed);
    var sealed: [sealed_length]u8 = undefined;
    aead.sealInto(&sealed, &seed, binding, nonce, key);
    var fields: rows.Fields = .{ .ctx = ctx };
    try fields.add("id", .{ .integer = 1 });
    try fields.add("public_key", .{ .blob = &public_key });
    try fields.add("sealed", .{ .blob = &sealed });
    try fields.add("nonce", .{ .blob = &nonce });
    try fields.add("key", .{ .blob = &key });
    try fields.add("created_at", .{ .text = try iso8601.format(ctx.arena, host.nowMs()) });
    try fields.insert(database, "publishing_keys");
}

/// Fails with KeyMismatch if the public key does not match the seed, so an imported database cannot change the name.
fn read(database: Database) Error!?ed25519.Seed {
    const statement = try database.query("SELECT public_key, sealed, nonce, key FROM publishing_keys", &.{});
    defer statement.finish();
    if (!try statement.next()) return null;
    const told = try statement.fixed(32, 0);
    const sealed = try statement.fixed(sealed_length, 1);
    var seed: ed25519.Seed = undefined;
    errdefer memory.wipe(&seed);
    try aead.openInto(
        &seed,
        &sealed,
        binding,
        try statement.fixed(12, 2),
        try statement.fixed(32, 3),
        error.ShareRejected,
    );
    if (!std.mem.eql(u8, &told, &try ed25519.publicOf(seed))) return error.KeyMismatch;
    return seed;
}
