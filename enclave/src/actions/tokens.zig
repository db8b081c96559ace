//! Mints UCANs with a vault's keys, records them in its tables, and verifies them against its revocations.

const std = @import("std");
const args = @import("../call/args.zig");
const encoding = @import("../codec/encoding.zig");
const codec_errors = @import("../call/codec_errors.zig");
const host = @import("../platform/host.zig");
const iso8601 = @import("../codec/iso8601.zig");
const json = @import("../codec/json.zig");
const minting = @import("minting.zig");
const resources = @import("../vault/resources.zig");
const revocations = @import("../vault/revocations.zig");
const rows = @import("../vault/rows.zig");
const session = @import("../vault/session.zig");
const ucan = @import("../ucan/ucan.zig");
const verification = @import("verification.zig");
const values = @import("../call/values.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

/// {kind?: "delegation" | "invocation"} and the fields of `delegate` or `invocation` -> MintUcanResult.
pub fn mint(ctx: *Ctx, input: Json) Error!Json {
    const open = try session.require(ctx);
    const kind = try args.optionalString(ctx, input, "kind", 16) orelse "delegation";
    if (std.mem.eql(u8, kind, "delegation")) return delegate(ctx, open.database, input);
    if (std.mem.eql(u8, kind, "invocation")) return invocation(ctx, open.database, input);
    return ctx.fail(error.InvalidField, "kind");
}

/// `mint_ucan` for an invocation.
pub fn invoke(ctx: *Ctx, input: Json) Error!Json {
    const open = try session.require(ctx);
    return invocation(ctx, open.database, input);
}

/// DelegationOptions and {not_before?, policy?, meta?, token?, subject?, enclave_id?, val_share?}
/// -> {signed_dag_cbor, cid, issuer, container}.
pub fn delegate(ctx: *Ctx, database: Database, input: Json) Error!Json {
    return recorded(ctx, database, "delegations", try minting.delegation(ctx, database, input));
}

/// InvocationOptions and {audience?, expiration?, meta?, subject?, enclave_id?, val_share?, record?}
/// -> {signed_dag_cbor, cid, issuer, container}. With `record` false the vault does not change, the audience is
/// required, and the lifetime is at most ten minutes.
pub fn invocation(ctx: *Ctx, database: Database, input: Json) Error!Json {
    if (!try args.boolean(ctx, input, "record", true))
        return unrecorded(ctx, try minting.briefInvocation(ctx, database, input));
    return recorded(ctx, database, "invocations", try minting.invocation(ctx, database, input));
}

fn unrecorded(ctx: *Ctx, made: minting.Minted) Error!Json {
    const token = ucan.payload.decode(ctx.arena, made.token) catch |err| return codec_errors.token(ctx, err);
    return answer(ctx, token, made.container);
}

fn recorded(ctx: *Ctx, database: Database, comptime table: []const u8, minted: minting.Minted) Error!Json {
    var whole = try record(ctx, database, table, minted.token);
    try json.put(ctx.arena, &whole, "container", .{ .string = minted.container });
    return whole;
}

/// The recorded delegation of `command` from the vault's DID to `audience` that has no policy or time bounds and is not
/// revoked. Null if none exists.
pub fn unlimited(ctx: *Ctx, database: Database, audience: []const u8, command: []const u8) Error!?Json {
    const statement = try database.query(
        \\SELECT token FROM delegations
        \\WHERE audience = ? AND command = ? AND subject = ? AND expiration IS NULL AND not_before IS NULL
        \\AND revoked_at IS NULL ORDER BY rowid
    , &.{ .{ .text = audience }, .{ .text = command }, .{ .text = ctx.state.did } });
    defer statement.finish();
    while (try statement.next()) {
        const bytes = try statement.blob(ctx.arena, 0);
        const token = ucan.payload.decode(ctx.arena, bytes) catch return error.DatabaseFailure;
        const own = ucan.chain.names(ctx.state.did, token);
        if (own and token.pol.list.len == 0) return try alone(ctx, token);
    }
    return null;
}

fn alone(ctx: *Ctx, token: ucan.payload.Token) Error!Json {
    const container = ucan.container.pack(ctx.arena, &.{token.envelope.bytes}) catch |err|
        return codec_errors.token(ctx, err);
    return answer(ctx, token, container);
}

fn answer(ctx: *Ctx, token: ucan.payload.Token, container: []const u8) Error!Json {
    return json.object(ctx.arena, .{
        .signed_dag_cbor = try encoding.base64(ctx.arena, token.envelope.bytes),
        .cid = try values.cidText(ctx, &token.envelope.canonical),
        .issuer = token.iss,
        .container = container,
    });
}

/// {token} -> the recorded row. The token is a delegation from another party to this vault.
pub fn receive(ctx: *Ctx, database: Database, input: Json) Error!Json {
    const bytes = try values.tokenBytes(ctx, try args.required(ctx, input, "token"), "token");
    const tokens = ucan.container.tokens(ctx.arena, bytes) catch |err| return codec_errors.token(ctx, err);
    if (tokens.len != 1) return ctx.fail(error.InvalidToken, "one token at a time");
    return record(ctx, database, "ucans", tokens[0]);
}

/// {cid} | {token}, {proofs?, audience?, command?, args?} -> {valid, ...}: `verify_ucan` with the vault's revocations.
pub fn verify(ctx: *Ctx, database: Database, resource: resources.Resource, input: Json) Error!Json {
    var question = input;
    question.object = try input.object.clone(ctx.arena);
    if (args.field(input, "token") == null) {
        const key = try rows.keyOf(ctx, resource, input);
        const sql = try std.fmt.allocPrint(ctx.arena, "SELECT token FROM {s} WHERE cid = ?", .{resource.name});
        const found = try database.query(sql, &.{.{ .text = key }});
        defer found.finish();
        if (!try found.next()) return ctx.fail(error.NotFound, "cid");
        const token = try encoding.base64(ctx.arena, try found.blob(ctx.arena, 0));
        try question.object.put(ctx.arena, "token", .{ .string = token });
    }
    var list = std.json.Array.init(ctx.arena);
    for (try revocations.texts(ctx, database)) |text| try list.append(.{ .string = text });
    try question.object.put(ctx.arena, "revoked", .{ .array = list });
    return verification.verify(ctx, question);
}

/// The request of a token's bearer. `given` are the arguments as received, which an invocation must contain;
/// `resolved` are the completed arguments, which policies judge.
pub const Wish = struct { command: []const u8, given: Json, resolved: Json, audience: ?[]const u8 };

/// Succeeds if the token allows the request. Otherwise fails with an error that states the reason.
pub fn authorize(ctx: *Ctx, database: Database, token: Json, wish: Wish) Error!void {
    const bytes = try values.tokenBytes(ctx, token, "token");
    const bundle = ucan.Bundle.read(ctx.arena, bytes) catch |err| return codec_errors.token(ctx, err);
    // An invocation must be addressed to this vault, so the audience that the host supplies is ignored.
    const hearer = if (bundle.invocation != null) ctx.state.did else wish.audience;
    ucan.authorize(ctx.arena, bytes, .{
        .subject = ctx.state.did,
        .command = wish.command,
        .args = try values.canonical(ctx, wish.given, "args"),
        .resolved = try values.canonical(ctx, wish.resolved, "args"),
        .audience = hearer,
        .now_s = @divFloor(try host.timeMs(), 1000),
        .revoked = try revocations.known(ctx, database),
    }) catch |err| return codec_errors.token(ctx, err);
}

fn record(ctx: *Ctx, database: Database, comptime table: []const u8, bytes: []const u8) Error!Json {
    const token = ucan.payload.decode(ctx.arena, bytes) catch |err| return codec_errors.token(ctx, err);
    const text = try values.cidText(ctx, &token.envelope.canonical);
    var fields: rows.Fields = .{ .ctx = ctx };
    try fields.add("cid", .{ .text = text });
    try fields.add("issuer", .{ .text = token.iss });
    try fields.add(
        "audience",
        if (token.aud) |aud| .{ .text = aud } else if (token.envelope.kind == .delegation) .{ .text = "" } else .null,
    );
    try fields.add("subject", if (token.sub) |sub| .{ .text = sub } else .null);
    try fields.add("command", .{ .text = token.cmd });
    try fields.add("expiration", if (token.exp) |exp| .{ .integer = exp } else .null);
    try fields.add("token", .{ .blob = bytes });
    try fields.add("created_at", .{ .text = try iso8601.format(ctx.arena, host.nowMs()) });
    if (!std.mem.eql(u8, table, "invocations")) {
        try fields.add("not_before", if (token.nbf) |nbf| .{ .integer = nbf } else .null);
    }
    try fields.insert(database, table);
    return json.object(ctx.arena, .{
        .signed_dag_cbor = try encoding.base64(ctx.arena, bytes),
        .cid = text,
        .issuer = token.iss,
    });
}
