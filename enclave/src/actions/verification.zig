//! `verify_ucan` and `inspect_ucan`: whether a token is valid, and what it contains.

const std = @import("std");
const args = @import("../call/args.zig");
const cid = @import("../codec/cid.zig");
const dag_json = @import("../codec/dag_json.zig");
const encoding = @import("../codec/encoding.zig");
const codec_errors = @import("../call/codec_errors.zig");
const host = @import("../platform/host.zig");
const ipld = @import("../codec/ipld.zig");
const json = @import("../codec/json.zig");
const ucan = @import("../ucan/ucan.zig");
const values = @import("../call/values.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

const max_revoked = 4096;

/// {token, proofs?, audience?, subject?, command?, args?, added_args?, now?, revoked?} -> {valid: true, path,
/// ...claims}. An invalid token fails with the code of the check that failed. With `command`, a chain of
/// delegations must allow that command with `args` on its subject; without it, the chain needs only to be valid in
/// itself. An invocation already contains its command and arguments.
pub fn verify(ctx: *Ctx, input: Json) Error!Json {
    const bundle = try read(ctx, input);
    const facts: ucan.chain.Facts = .{
        .now_s = try nowOf(ctx, input),
        .revoked = try revoked(ctx, input),
        .added = try addedArgs(ctx, input),
    };
    const told = bundle.invocation orelse try leaf(ctx, bundle);
    const subject = try args.optionalString(ctx, input, "subject", 512);
    const audience = try args.optionalString(ctx, input, "audience", 512);
    if (bundle.invocation) |invocation| {
        try checkInvocation(ctx, invocation, bundle, subject, audience, facts);
        try matchDemand(ctx, invocation, input);
    } else try checkDelegations(ctx, bundle, subject, audience, input, facts);
    var answer = try claims(ctx, told);
    try json.put(ctx.arena, &answer, "path", try pathOf(ctx, bundle));
    try json.put(ctx.arena, &answer, "valid", .{ .bool = true });
    return answer;
}

/// The canonical CIDs of all delegations in the chain and of the token itself, root first.
fn pathOf(ctx: *Ctx, bundle: ucan.Bundle) Error!Json {
    var list = std.json.Array.init(ctx.arena);
    const delegations = (if (bundle.invocation) |token|
        ucan.chain.proofsOf(ctx.arena, token, bundle.delegations)
    else
        ucan.chain.order(ctx.arena, bundle.delegations)) catch |err| return codec_errors.token(ctx, err);
    for (delegations) |token| try list.append(.{ .string = try values.cidText(ctx, &token.envelope.canonical) });
    if (bundle.invocation) |token| try list.append(.{ .string = try values.cidText(ctx, &token.envelope.canonical) });
    return .{ .array = list };
}

fn checkInvocation(
    ctx: *Ctx,
    token: ucan.payload.Token,
    bundle: ucan.Bundle,
    subject: ?[]const u8,
    audience: ?[]const u8,
    facts: ucan.chain.Facts,
) Error!void {
    if (subject) |wanted| if (!std.mem.eql(u8, token.sub.?, wanted)) return error.WrongSubject;
    if (audience) |wanted| if (!std.mem.eql(u8, token.aud orelse token.sub.?, wanted)) return error.WrongAudience;
    ucan.chain.checkInvocation(ctx.arena, token, bundle.delegations, token.args.?, facts) catch |err|
        return codec_errors.token(ctx, err);
}

/// Refuses an invocation whose command or arguments are not those in `input`.
fn matchDemand(ctx: *Ctx, token: ucan.payload.Token, input: Json) Error!void {
    if (try args.optionalString(ctx, input, "command", 1024)) |command| {
        if (!std.mem.eql(u8, command, token.cmd)) return error.CommandDenied;
    }
    const given = args.field(input, "args") orelse return;
    const wanted = try values.canonical(ctx, given, "args");
    if (!token.args.?.eql(wanted)) return codec_errors.token(ctx, error.UcanArgumentsMismatch);
}

fn checkDelegations(
    ctx: *Ctx,
    bundle: ucan.Bundle,
    subject: ?[]const u8,
    audience: ?[]const u8,
    input: Json,
    facts: ucan.chain.Facts,
) Error!void {
    const path = ucan.chain.order(ctx.arena, bundle.delegations) catch |err| return codec_errors.token(ctx, err);
    const command = try args.optionalString(ctx, input, "command", 1024);
    const root_subject = path[0].sub orelse return codec_errors.token(ctx, error.UcanNotRooted);
    const demand: ucan.chain.Demand = .{
        .subject = subject orelse root_subject,
        .command = command orelse path[path.len - 1].cmd,
        .args = if (args.field(input, "args")) |given| try values.canonical(ctx, given, "args") else .{ .map = &.{} },
    };
    const asked = command != null;
    ucan.chain.checkGrant(path, audience, demand, facts) catch |err| return codec_errors.token(ctx, err);
    if (asked)
        ucan.chain.checkPolicies(ctx.arena, path, demand.args, facts) catch |err| return codec_errors.token(ctx, err);
}

fn leaf(ctx: *Ctx, bundle: ucan.Bundle) Error!ucan.payload.Token {
    const path = ucan.chain.order(ctx.arena, bundle.delegations) catch |err| return codec_errors.token(ctx, err);
    return path[path.len - 1];
}

/// {token} -> {tokens: [claims]}: the claims of each token in a container. Nothing is verified.
pub fn inspect(ctx: *Ctx, input: Json) Error!Json {
    const bytes = try values.tokenBytes(ctx, try args.required(ctx, input, "token"), "token");
    const tokens = ucan.container.tokens(ctx.arena, bytes) catch |err| return codec_errors.token(ctx, err);
    var list = std.json.Array.init(ctx.arena);
    for (tokens) |one| {
        const token = ucan.payload.decode(ctx.arena, one) catch |err| return codec_errors.token(ctx, err);
        try list.append(try claims(ctx, token));
    }
    return json.object(ctx.arena, .{ .tokens = Json{ .array = list } });
}

fn read(ctx: *Ctx, input: Json) Error!ucan.Bundle {
    var all: std.ArrayList([]const u8) = .empty;
    try unpackInto(ctx, &all, try args.required(ctx, input, "token"), "token");
    for (try args.items(ctx, input, "proofs", ucan.container.max_tokens)) |proof| {
        try unpackInto(ctx, &all, proof, "proofs");
    }
    if (all.items.len > ucan.container.max_tokens) return ctx.fail(error.ValueTooLarge, "proofs");
    return ucan.Bundle.of(ctx.arena, all.items) catch |err| codec_errors.token(ctx, err);
}

fn unpackInto(ctx: *Ctx, all: *std.ArrayList([]const u8), given: Json, name: []const u8) Error!void {
    const bytes = try values.tokenBytes(ctx, given, name);
    const tokens = ucan.container.tokens(ctx.arena, bytes) catch |err| return codec_errors.token(ctx, err);
    try all.appendSlice(ctx.arena, tokens);
}

fn nowOf(ctx: *Ctx, input: Json) Error!i64 {
    const limit = (1 << 53) - 1;
    return try args.optionalInteger(ctx, input, "now", 0, limit) orelse @divFloor(try host.timeMs(), 1000);
}

fn revoked(ctx: *Ctx, input: Json) Error![]const []const u8 {
    const given = try args.items(ctx, input, "revoked", max_revoked);
    const out = try ctx.arena.alloc([]const u8, given.len);
    for (given, out) |item, *slot| {
        if (item != .string) return ctx.fail(error.InvalidField, "revoked");
        slot.* = cid.fromText(ctx.arena, item.string) catch |err| return codec_errors.identifier(ctx, err, "revoked");
    }
    return out;
}

/// {"<canonical CID>": {…}}: fields that are added to the arguments when that delegation's policy is checked.
fn addedArgs(ctx: *Ctx, input: Json) Error![]const ucan.chain.Added {
    const given = try args.optionalObject(ctx, input, "added_args") orelse return &.{};
    if (given.object.count() > ucan.container.max_tokens) return ctx.fail(error.ValueTooLarge, "added_args");
    const out = try ctx.arena.alloc(ucan.chain.Added, given.object.count());
    for (given.object.keys(), given.object.values(), out) |text, fields, *slot| {
        const bytes = cid.fromText(ctx.arena, text) catch |err| return codec_errors.identifier(ctx, err, "added_args");
        slot.* = .{ .cid = bytes, .fields = try values.canonical(ctx, fields, "added_args") };
        if (slot.fields != .map) return ctx.fail(error.InvalidField, "added_args");
    }
    return out;
}

fn claims(ctx: *Ctx, token: ucan.payload.Token) Error!Json {
    const proofs = try ctx.arena.alloc([]const u8, token.prf.len);
    for (token.prf, proofs) |link, *slot| slot.* = try values.cidText(ctx, link);
    return json.object(ctx.arena, .{
        .kind = token.envelope.kind,
        .cid = try values.cidText(ctx, &token.envelope.canonical),
        .issuer = token.iss,
        .audience = token.aud,
        .subject = if (token.sub) |sub| Json{ .string = sub } else Json.null,
        .command = token.cmd,
        .policy = if (token.envelope.kind == .delegation) try shown(ctx, token.pol) else null,
        .args = if (token.args) |a| try shown(ctx, a) else null,
        .proofs = if (token.envelope.kind == .invocation) try json.array(ctx.arena, proofs) else null,
        .nonce = try encoding.base64(ctx.arena, token.nonce),
        .not_before = token.nbf,
        .expiration = if (token.exp) |exp| Json{ .integer = exp } else Json.null,
        .meta = if (token.meta) |meta| try shown(ctx, meta) else null,
    });
}

fn shown(ctx: *Ctx, value: ipld.Value) Error!Json {
    return dag_json.fromValue(ctx.arena, value) catch |err| codec_errors.value(ctx, err, "token");
}
