//! `publishing_key`, `publish` and `publishing_delegation`: the IPNS name of the snapshots, and the right to use it.

const std = @import("std");
const args = @import("../call/args.zig");
const codec_errors = @import("../call/codec_errors.zig");
const did_key = @import("../codec/did_key.zig");
const encoding = @import("../codec/encoding.zig");
const host = @import("../platform/host.zig");
const ipns = @import("../codec/ipns.zig");
const iso8601 = @import("../codec/iso8601.zig");
const json = @import("../codec/json.zig");
const publishing_key = @import("../vault/publishing_key.zig");
const session = @import("../vault/session.zig");
const tokens = @import("../actions/tokens.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

/// The command that the vault's key delegates to the publishing key.
const command = "/snapshots/publish";
const max_sequence = (1 << 53) - 1;

/// {} -> {public_key, name, did, pending}. Without a vault, returns the next vault's key, with `pending` true.
pub fn key(ctx: *Ctx, _: Json) Error!Json {
    const waits = ctx.state.open == null and ctx.state.sealed.len == 0;
    const public = if (waits)
        try publishing_key.pending(ctx)
    else
        try publishing_key.public(ctx, (try session.require(ctx)).database);
    return json.object(ctx.arena, .{
        .public_key = try encoding.bareHex(ctx.arena, &public),
        .name = try ipns.name(ctx.arena, public),
        .did = try did_key.format(ctx.arena, .{ .ed25519 = public }),
        .pending = waits,
    });
}

/// {root_cid, sequence, validity, ttl_ns} -> {record, name}: a signed IPNS record of version 2 (protobuf).
pub fn publish(ctx: *Ctx, input: Json) Error!Json {
    const open = try session.require(ctx);
    const encoded = ipns.data(ctx.arena, try entryOf(ctx, input)) catch |err| return codec_errors.dagCbor(ctx, err);
    const public = try publishing_key.public(ctx, open.database);
    const signature = try publishing_key.sign(ctx, open.database, try ipns.signed(ctx.arena, encoded));
    return json.object(ctx.arena, .{
        .record = try encoding.base64(ctx.arena, try ipns.record(ctx.arena, signature, encoded)),
        .name = try ipns.name(ctx.arena, public),
    });
}

fn entryOf(ctx: *Ctx, input: Json) Error!ipns.Entry {
    const root_cid = try args.string(ctx, input, "root_cid", 128);
    if (!try ipns.isRoot(ctx.arena, root_cid)) return ctx.fail(error.InvalidField, "root_cid");
    return .{
        .root_cid = root_cid,
        .sequence = try natural(ctx, input, "sequence", max_sequence),
        .validity = try validityOf(ctx, input),
        .ttl_ns = try natural(ctx, input, "ttl_ns", std.math.maxInt(i64)),
    };
}

fn natural(ctx: *Ctx, input: Json, name: []const u8, max: i64) Error!u64 {
    const given = try args.optionalInteger(ctx, input, name, 0, max) orelse return ctx.fail(error.MissingField, name);
    return @intCast(given);
}

/// The `validity` field, an instant in the future in the only form that records use: `2040-01-01T00:00:00.000000000Z`.
fn validityOf(ctx: *Ctx, input: Json) Error![]const u8 {
    const text = try args.string(ctx, input, "validity", 30);
    if (!iso8601.isNanosecondInstant(text)) return ctx.fail(error.InvalidField, "validity");
    const now = try iso8601.format(ctx.arena, try host.timeMs());
    const milliseconds = try std.mem.concat(ctx.arena, u8, &.{ text[0..23], "Z" });
    if (!try iso8601.isBefore(ctx.arena, now, milliseconds)) return ctx.fail(error.InvalidField, "validity");
    return text;
}

/// {enclave_id?, val_share?} -> {signed_dag_cbor, cid, issuer, container}: the vault's delegation of
/// `/snapshots/publish` to the publishing key's did:key, without expiry. The first call mints and records the
/// delegation.
pub fn delegation(ctx: *Ctx, input: Json) Error!Json {
    const open = try session.require(ctx);
    const audience = try did_key.format(ctx.arena, .{ .ed25519 = try publishing_key.public(ctx, open.database) });
    if (try tokens.unlimited(ctx, open.database, audience, command)) |recorded| return recorded;
    var wanted: Json = .{ .object = .empty };
    try json.put(ctx.arena, &wanted, "to", .{ .string = audience });
    try json.put(ctx.arena, &wanted, "command", .{ .string = command });
    for ([_][]const u8{ "enclave_id", "val_share" }) |name| {
        if (args.field(input, name)) |given| try json.put(ctx.arena, &wanted, name, given);
    }
    return tokens.delegate(ctx, open.database, wanted);
}
