//! Opens, saves and locks the vault, and locks it after it has been idle.

const std = @import("std");
const args = @import("../call/args.zig");
const curves = @import("../crypto/curves.zig");
const host = @import("../platform/host.zig");
const keyring = @import("keyring.zig");
const memory = @import("../platform/memory.zig");
const meta = @import("meta.zig");
const schema = @import("schema.zig");
const sealed = @import("../storage/sealed.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = @import("../codec/json.zig").Json;
const Scratch = @import("../platform/scratch.zig").Scratch;
const state = @import("../call/state.zig");

pub const max_sealed = 16 << 20;

/// The open vault. The call counts as activity. Fails with VaultLocked or VaultUninitialized.
pub fn require(ctx: *Ctx) Error!*state.Open {
    if (ctx.state.open) |*open| {
        ctx.state.last_activity_ms = host.nowMs();
        return open;
    }
    return if (ctx.state.sealed.len == 0) error.VaultUninitialized else error.VaultLocked;
}

/// The `key` field {kind: "secret" | "prf" | "password", id?, secret | password}, or null when absent.
pub fn hostKey(ctx: *Ctx, input: Json, field: []const u8) Error!?sealed.HostKey {
    return try keyIn(ctx, try args.optionalObject(ctx, input, field) orelse return null);
}

fn keyIn(ctx: *Ctx, given: Json) Error!sealed.HostKey {
    const kind_name = try args.string(ctx, given, "kind", 16);
    const kind = std.meta.stringToEnum(sealed.Kind, kind_name) orelse return ctx.fail(error.InvalidField, "key kind");
    const id = try args.optionalString(ctx, given, "id", sealed.max_wrap_id) orelse "";
    if (kind == .password) {
        const password = try args.string(ctx, given, "password", 1024);
        if (password.len == 0) return ctx.fail(error.InvalidField, "password");
        return .{ .kind = kind, .id = id, .secret = password };
    }
    const secret = try args.bytes(ctx, given, "secret", 128);
    if (secret.len < 32) return ctx.fail(error.InvalidField, "secret"); // fewer could be found by brute force
    return .{ .kind = kind, .id = id, .secret = secret };
}

/// The `keys` field, an array of keys, which is empty if absent.
pub fn hostKeys(ctx: *Ctx, input: Json) Error![]const sealed.HostKey {
    const given = try args.items(ctx, input, "keys", sealed.max_wraps);
    const keys = try ctx.arena.alloc(sealed.HostKey, given.len);
    for (given, keys) |item, *key| {
        if (item != .object) return ctx.fail(error.InvalidField, "keys");
        key.* = try keyIn(ctx, item);
    }
    return keys;
}

/// Like `hostKey`, but fails with KeyRequired if the field is absent.
pub fn requireKey(ctx: *Ctx, input: Json) Error!sealed.HostKey {
    return try hostKey(ctx, input, "key") orelse error.KeyRequired;
}

/// Makes `database` the open vault of `did` with a fresh data key, wrapped for `key` if there is one.
pub fn adopt(ctx: *Ctx, database: Database, did: []const u8, key: ?sealed.HostKey) Error!void {
    var open: state.Open = .{
        .database = database,
        .data_key = try host.randomBytes(32),
        .revision = 0,
        .wraps_arena = .init(memory.allocator),
        .wraps = .empty,
    };
    errdefer open.wraps_arena.deinit();
    if (key) |given| try wrapFor(ctx, did, &open, given);
    try ctx.state.keepDid(did);
    ctx.state.open = open;
    ctx.state.last_activity_ms = host.nowMs();
}

/// Makes an unencrypted database, from an export or another device, the open vault. Nothing changes unless the database
/// is a valid vault.
pub fn restore(ctx: *Ctx, image: []const u8, key: ?sealed.HostKey) Error!void {
    const database = try Database.load(image);
    errdefer database.close();
    schema.check(database, ctx.arena) catch |err| return switch (err) {
        error.OutOfMemory => err,
        else => error.InvalidDatabase,
    };
    try schema.migrate(database, ctx.arena);
    const did = try meta.get(database, ctx.arena, "did") orelse return error.InvalidDatabase;
    if (did.len == 0 or did.len > sealed.max_did) return error.InvalidDatabase;
    try own(ctx, database, did);
    try adopt(ctx, database, did, key);
    memory.allocator.free(ctx.state.sealed);
    ctx.state.forgetPending();
    ctx.state.sealed = &.{}; // of another vault, or of an older state of this one
}

/// Opens sealed bytes with a host's key, and makes their vault the open vault.
pub fn open_(ctx: *Ctx, bytes: []const u8, key: sealed.HostKey) Error!void {
    const header = try sealed.parse(ctx.arena, bytes);
    var data_key = try sealed.unwrap(ctx.arena, header, key);
    defer memory.wipe(&data_key);
    const image = try sealed.open(ctx.arena, header, data_key);
    const database = try Database.load(image);
    errdefer database.close();
    try schema.migrate(database, ctx.arena);
    try own(ctx, database, header.did);
    var open: state.Open = .{
        .database = database,
        .data_key = data_key,
        .revision = header.revision,
        .wraps_arena = .init(memory.allocator),
        .wraps = .empty,
    };
    errdefer open.wraps_arena.deinit();
    for (header.wraps) |wrap| try keepWrap(&open, wrap);
    try ctx.state.keepDid(header.did);
    try ctx.state.keepSealed(bytes);
    ctx.state.forgetPending();
    ctx.state.close();
    ctx.state.open = open;
    ctx.state.last_activity_ms = host.nowMs();
}

/// Refuses a vault whose DID is not the hash of one of its keys, or whose database has a different DID. If such a
/// vault were opened, the tokens of the DID's real owner would control it.
fn own(ctx: *Ctx, database: Database, did: []const u8) Error!void {
    const entry = keyring.ofDid(ctx, database, did) catch |err|
        return if (err == error.OutOfMemory) err else error.InvalidDatabase;
    _ = curves.PublicKey.fromUncompressed(entry.public.curve, &entry.public.uncompressed()) catch
        return error.InvalidDatabase;
    const told = try meta.get(database, ctx.arena, "did") orelse return error.InvalidDatabase;
    if (!std.mem.eql(u8, told, did)) return error.InvalidDatabase;
}

/// Stores sealed bytes without opening them. The header is not trusted until the bytes are opened.
pub fn keepLocked(ctx: *Ctx, bytes: []const u8) Error!void {
    const header = try sealed.parse(ctx.arena, bytes);
    try ctx.state.keepDid(header.did);
    try ctx.state.keepSealed(bytes);
    ctx.state.forgetPending();
}

/// Seals the open vault with the next revision number and a fresh nonce. The state keeps a copy of the bytes.
pub fn save(current: *state.State, scratch: std.mem.Allocator) Error![]const u8 {
    const open = &(current.open orelse return error.VaultLocked);
    if (open.wraps.items.len == 0) return error.KeyRequired; // without a wrap it could never be opened again
    try open.database.abandon();
    if (open.revision >= sealed.max_revision) return error.ValueTooLarge;
    const image = try open.database.serialize(scratch);
    const revision = open.revision + 1;
    const bytes = try sealed.seal(
        memory.allocator,
        current.did,
        revision,
        host.nowMs(),
        open.wraps.items,
        open.data_key,
        image,
    );
    memory.allocator.free(current.sealed);
    current.sealed = bytes;
    open.revision = revision;
    open.saved_changes = open.database.changesInAll();
    open.rewrapped = false;
    return bytes;
}

/// Locks a vault that has been idle too long, after sealing unsaved changes into the state.
pub fn lockWhenIdle(current: *state.State) void {
    if (current.open == null or current.idle_ms == 0) return;
    const now = host.nowMs();
    const idle = now - current.last_activity_ms;
    // Setting the clock back must not keep a vault open forever.
    if (idle >= 0 and idle < current.idle_ms) return;
    if (idle < 0) {
        current.last_activity_ms = now;
        return;
    }
    var scratch: Scratch = .{};
    defer scratch.deinit();
    // If memory or randomness is unavailable, the last saved state is kept, and the vault is locked anyway.
    _ = save(current, scratch.allocator()) catch {};
    current.close();
}

/// Lets a key open the vault, too. Fails with ValueTooLarge. Not inlined, to keep the module small.
pub noinline fn wrapFor(ctx: *Ctx, did: []const u8, open: *state.Open, key: sealed.HostKey) Error!void {
    if (open.wraps.items.len >= sealed.max_wraps) return ctx.fail(error.ValueTooLarge, "wraps");
    try keepWrap(open, try sealed.wrap(ctx.arena, did, key, open.data_key));
    open.rewrapped = true;
}

/// Copies a wrap into the open vault's memory.
pub fn keepWrap(open: *state.Open, wrap: sealed.Wrap) Error!void {
    const arena = open.wraps_arena.allocator();
    var kept = wrap;
    kept.id = try arena.dupe(u8, wrap.id);
    try open.wraps.append(arena, kept);
}
