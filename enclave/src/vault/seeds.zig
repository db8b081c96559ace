//! The vault's seed: 64 random bytes from which keys are derived, and which are sealed like a key's shares.

const aead = @import("../crypto/aead.zig");
const host = @import("../platform/host.zig");
const memory = @import("../platform/memory.zig");
const iso8601 = @import("../codec/iso8601.zig");
const rows = @import("rows.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;

pub const length = 64;
const sealed_length = length + aead.tag_length;
const binding = "holdfast/seed/v1";

/// Stores a fresh seed in a vault without one.
pub fn make(ctx: *Ctx, database: Database) Error!void {
    var seed = try host.randomBytes(length);
    defer memory.wipe(&seed);
    const key = try host.randomBytes(32);
    const nonce = try host.randomBytes(12);
    var sealed: [sealed_length]u8 = undefined;
    aead.sealInto(&sealed, &seed, binding, nonce, key);
    var fields: rows.Fields = .{ .ctx = ctx };
    try fields.add("id", .{ .integer = 1 });
    try fields.add("sealed", .{ .blob = &sealed });
    try fields.add("nonce", .{ .blob = &nonce });
    try fields.add("key", .{ .blob = &key });
    try fields.add("created_at", .{ .text = try iso8601.format(ctx.arena, host.nowMs()) });
    try fields.insert(database, "seeds");
}

/// The seed, which the caller must wipe after one operation. A vault created without a seed gets one now.
pub fn open(ctx: *Ctx, database: Database) Error![length]u8 {
    return try read(database) orelse {
        try make(ctx, database);
        return try read(database) orelse error.DatabaseFailure;
    };
}

fn read(database: Database) Error!?[length]u8 {
    const statement = try database.query("SELECT sealed, nonce, key FROM seeds", &.{});
    defer statement.finish();
    if (!try statement.next()) return null;
    const sealed = try statement.fixed(sealed_length, 0);
    var seed: [length]u8 = undefined;
    try aead.openInto(
        &seed,
        &sealed,
        binding,
        try statement.fixed(12, 1),
        try statement.fixed(32, 2),
        error.ShareRejected,
    );
    return seed;
}
