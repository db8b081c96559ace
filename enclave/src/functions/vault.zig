//! `load`, `unlock`, `lock`, `save`, `status`, `query`, and the functions for the wraps of the data key.

const std = @import("std");
const args = @import("../call/args.zig");
const encoding = @import("../codec/encoding.zig");
const iso8601 = @import("../codec/iso8601.zig");
const json = @import("../codec/json.zig");
const meta = @import("../vault/meta.zig");
const outcome = @import("../call/outcome.zig");
const proofs = @import("../vault/proofs.zig");
const rekeying = @import("../vault/rekeying.zig");
const resources = @import("../vault/resources.zig");
const rows = @import("../vault/rows.zig");
const sealed = @import("../storage/sealed.zig");
const session = @import("../vault/session.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

/// {database, key?, min_revision?} -> LoadOutput. Without `key`, the vault is loaded but stays locked.
pub fn load(ctx: *Ctx, input: Json) Error!Json {
    const bytes = try args.bytes(ctx, input, "database", session.max_sealed);
    const key = try session.hostKey(ctx, input, "key");
    if (ctx.state.open != null) return outcome.of(ctx, error.Conflict);
    checkRevision(ctx, input, bytes) catch |err| return outcome.of(ctx, err);
    if (key) |given| {
        session.open_(ctx, bytes, given) catch |err| return outcome.of(ctx, err);
    } else session.keepLocked(ctx, bytes) catch |err| return outcome.of(ctx, err);
    return json.object(ctx.arena, .{ .success = true, .did = ctx.state.did });
}

/// {database?, key, min_revision?} -> UnlockOutput. Without `database`, opens the vault that this instance locked.
pub fn unlock(ctx: *Ctx, input: Json) Error!Json {
    const given = try args.optionalBytes(ctx, input, "database", session.max_sealed);
    const key = session.requireKey(ctx, input) catch |err| return outcome.of(ctx, err);
    const bytes = given orelse try ctx.arena.dupe(u8, ctx.state.sealed);
    if (bytes.len == 0) return outcome.of(ctx, error.VaultUninitialized);
    if (ctx.state.open != null) return outcome.of(ctx, error.Conflict);
    checkRevision(ctx, input, bytes) catch |err| return outcome.of(ctx, err);
    session.open_(ctx, bytes, key) catch |err| return outcome.of(ctx, err);
    return json.object(ctx.arena, .{ .success = true, .did = ctx.state.did });
}

/// {} -> LockOutput: seals the vault and erases it from memory. For a locked vault, returns its sealed bytes again.
pub fn lock(ctx: *Ctx, _: Json) Error!Json {
    if (ctx.state.open != null) {
        _ = session.save(ctx.state, ctx.arena) catch |err| return outcome.of(ctx, err);
        ctx.state.close();
    }
    if (ctx.state.sealed.len == 0) return outcome.of(ctx, error.VaultUninitialized);
    return json.object(
        ctx.arena,
        .{ .success = true, .database = try encoding.base64Json(ctx.arena, ctx.state.sealed) },
    );
}

/// {} -> {database, revision}: the sealed bytes with the next revision number. The vault stays open.
pub fn save(ctx: *Ctx, _: Json) Error!Json {
    const open = try session.require(ctx);
    const bytes = try session.save(ctx.state, ctx.arena);
    return json.object(ctx.arena, .{
        .database = try encoding.base64Json(ctx.arena, bytes),
        .revision = open.revision,
    });
}

/// {} -> StatusOutput, with `revision`, `unsaved` and `idle_seconds`. The call does not count as activity.
pub fn status(ctx: *Ctx, _: Json) Error!Json {
    const known = ctx.state.did.len > 0;
    return json.object(ctx.arena, .{
        .locked = ctx.state.open == null,
        .initialized = known,
        .did = if (known) ctx.state.did else null,
        .last_activity = if (known and
            ctx.state.last_activity_ms > 0) try iso8601.format(ctx.arena, ctx.state.last_activity_ms) else null,
        .revision = if (ctx.state.open) |open| open.revision else null,
        .unsaved = if (ctx.state.open) |*open| open.unsaved() else null,
        .idle_seconds = @divFloor(ctx.state.idle_ms, 1000),
    });
}

/// {idle_seconds} -> {idle_seconds}: the vault locks itself after that time without a call, or never if it is 0.
pub fn setAutoLock(ctx: *Ctx, input: Json) Error!Json {
    _ = try session.require(ctx);
    const seconds = try args.optionalInteger(ctx, input, "idle_seconds", 0, 7 * 24 * 3600) orelse
        return ctx.fail(error.MissingField, "idle_seconds");
    ctx.state.idle_ms = seconds * 1000;
    return json.object(ctx.arena, .{ .idle_seconds = seconds });
}

/// {did?} -> QueryOutput for the vault's DID, with `identifier` if one is recorded. Any other DID is unknown.
pub fn query(ctx: *Ctx, input: Json) Error!Json {
    const open = try session.require(ctx);
    const wanted = try args.optionalString(ctx, input, "did", 512) orelse "";
    if (wanted.len > 0 and !std.mem.eql(u8, wanted, ctx.state.did)) return ctx.fail(error.NotFound, "did");
    const database = open.database;
    return json.object(ctx.arena, .{
        .did = ctx.state.did,
        .controller = try meta.get(database, ctx.arena, "controller") orelse ctx.state.did,
        .verification_methods = try rows.documented(ctx, database, resources.find("verification_methods").?),
        .accounts = try rows.documented(ctx, database, resources.find("accounts").?),
        .credentials = try rows.documented(ctx, database, resources.find("credentials").?),
        .identifier = try proofs.recorded(ctx, database),
    });
}

/// {key} -> {wraps}: lets this key open the vault too, from the next save on.
pub fn addWrap(ctx: *Ctx, input: Json) Error!Json {
    const open = try session.require(ctx);
    const key = try session.requireKey(ctx, input);
    if (findWrap(open.wraps.items, key.kind, key.id) != null) return ctx.fail(error.Conflict, "key");
    try session.wrapFor(ctx, ctx.state.did, open, key);
    return listWraps(ctx, input);
}

/// {kind, id?, keys?} -> {wraps}: from the next save on, this key no longer opens the vault. The last wrap cannot be
/// removed. With `keys`, which must contain all remaining keys, the vault gets a new data key.
pub fn removeWrap(ctx: *Ctx, input: Json) Error!Json {
    const open = try session.require(ctx);
    const kind = std.meta.stringToEnum(sealed.Kind, try args.string(ctx, input, "kind", 16)) orelse
        return ctx.fail(error.InvalidField, "kind");
    const id = try args.optionalString(ctx, input, "id", sealed.max_wrap_id) orelse "";
    const index = findWrap(open.wraps.items, kind, id) orelse return ctx.fail(error.NotFound, "key");
    if (open.wraps.items.len == 1) return error.LastWrap;
    const remaining = try session.hostKeys(ctx, input);
    if (remaining.len > 0) try rekeying.anew(ctx, open, index, remaining);
    _ = open.wraps.orderedRemove(index);
    open.rewrapped = true;
    return listWraps(ctx, input);
}

/// {} -> {wraps: [{kind, id}]}.
pub fn listWraps(ctx: *Ctx, _: Json) Error!Json {
    const open = try session.require(ctx);
    var list = std.json.Array.init(ctx.arena);
    for (open.wraps.items) |wrap| try list.append(try json.object(ctx.arena, .{ .kind = wrap.kind, .id = wrap.id }));
    return json.object(ctx.arena, .{ .wraps = Json{ .array = list } });
}

fn checkRevision(ctx: *Ctx, input: Json, bytes: []const u8) Error!void {
    const seen = try args.optionalInteger(ctx, input, "min_revision", 0, std.math.maxInt(i64)) orelse return;
    const header = try sealed.parse(ctx.arena, bytes);
    if (header.revision < @as(u64, @intCast(seen))) return error.StaleRevision;
}

fn findWrap(wraps: []const sealed.Wrap, kind: sealed.Kind, id: []const u8) ?usize {
    for (wraps, 0..) |wrap, index| {
        if (wrap.kind == kind and std.mem.eql(u8, wrap.id, id)) return index;
    }
    return null;
}
