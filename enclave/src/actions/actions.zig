//! The actions that belong to single resources, beside list, get, create, update, delete and revoke.

const std = @import("std");
const accounts = @import("accounts.zig");
const addresses = @import("../chains/addresses.zig");
const args = @import("../call/args.zig");
const arguments = @import("arguments.zig");
const curves = @import("../crypto/curves.zig");
const encoding = @import("../codec/encoding.zig");
const host = @import("../platform/host.zig");
const iso8601 = @import("../codec/iso8601.zig");
const json = @import("../codec/json.zig");
const keyring = @import("../vault/keyring.zig");
const passkeys = @import("passkeys.zig");
const resources = @import("../vault/resources.zig");
const rows = @import("../vault/rows.zig");
const shares_file = @import("../crypto/shares.zig");
const signing = @import("../vault/signing.zig");
const tokens = @import("tokens.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

/// The arguments, and whether a token's bearer brings them: then they are as its policies saw them.
pub const Asked = struct { args: Json, by_token: bool = false };

const Call = struct { ctx: *Ctx, database: Database, resource: resources.Resource, args: Json, by_token: bool };

pub const Action = struct {
    resource: []const u8,
    name: []const u8,
    run: *const fn (Call) Error!Json,
    /// The arguments that it reads beside the row's key.
    takes: []const []const u8 = &.{},
    /// Whether it reads the columns of a new row too.
    makes_row: bool = false,
    /// Fills in what the arguments leave to defaults, before a token's policy is asked.
    fill: ?*const fn (arguments.Filling) Error!void = null,
    /// Whether it makes tokens with the vault's key. No token allows that: what it made would be bound by nothing.
    mints: bool = false,
};

const addressing = [_][]const u8{ "chain", "form", "prefix", "factory", "implementation", "salt" };
const signed = [_][]const u8{ "digest", "message", "user_op", "entry_point", "chain_id", "val_share", "deterministic" };
const asserted = [_][]const u8{ "assertion", "challenge", "origin", "rp_id", "user_verification", "cross_origin", "top_origins" };
const verified = [_][]const u8{ "token", "proofs", "subject", "audience", "command", "args", "added_args", "now" };

/// THE table of particular actions.
pub const all = [_]Action{
    .{ .resource = "accounts", .name = "create", .run = createAccount, .makes_row = true, .fill = arguments.forNewAccount },
    .{ .resource = "accounts", .name = "derive", .run = deriveAccount, .takes = &(addressing ++ [_][]const u8{"curve"}), .makes_row = true, .fill = arguments.forDerivedAccount },
    .{ .resource = "accounts", .name = "set_default", .run = setDefault },
    .{ .resource = "accounts", .name = "sign", .run = signAsAccount, .takes = &signed, .fill = arguments.forAccount },
    .{ .resource = "credentials", .name = "verify", .run = verifyAssertion, .takes = &asserted, .fill = arguments.forAssertion },
    .{ .resource = "sessions", .name = "refresh", .run = extend, .takes = &.{"expires_at"} },
    .{ .resource = "sessions", .name = "verify", .run = isValid },
    .{ .resource = "grants", .name = "verify", .run = isValid },
    .{ .resource = "enclaves", .name = "create", .run = createKey, .takes = &.{ "curve", "keep_val_share" }, .fill = arguments.forNewKey },
    .{ .resource = "enclaves", .name = "delete", .run = deleteKey },
    .{ .resource = "enclaves", .name = "derive", .run = deriveFromKey, .takes = &(addressing ++ [_][]const u8{ "public_key", "curve" }), .fill = arguments.forDerivedKey },
    .{ .resource = "enclaves", .name = "sign", .run = signWithKey, .takes = &signed, .fill = arguments.forSigning },
    .{ .resource = "enclaves", .name = "refresh", .run = refreshKey, .takes = &.{"val_share"}, .fill = arguments.firstKey },
    .{ .resource = "enclaves", .name = "rotate", .run = rotateKey, .takes = &.{"val_share"}, .fill = arguments.firstKey },
    .{ .resource = "delegations", .name = "create", .run = delegate, .mints = true },
    .{ .resource = "delegations", .name = "delegate", .run = delegate, .mints = true },
    .{ .resource = "delegations", .name = "verify", .run = verifyToken, .takes = &verified },
    .{ .resource = "ucans", .name = "create", .run = receive, .takes = &.{"token"} },
    .{ .resource = "ucans", .name = "verify", .run = verifyToken, .takes = &verified },
    .{ .resource = "tokens", .name = "refresh", .run = extend, .takes = &.{"expires_at"} },
    .{ .resource = "tokens", .name = "rotate", .run = replaceValue, .takes = &.{"value"} },
    .{ .resource = "tokens", .name = "verify", .run = isValid },
    .{ .resource = "invocations", .name = "create", .run = invoke, .mints = true },
    .{ .resource = "invocations", .name = "verify", .run = verifyToken, .takes = &verified },
};

/// Runs the action of that name, or fails with UnknownAction.
pub fn run(ctx: *Ctx, database: Database, resource: resources.Resource, name: []const u8, asked: Asked) Error!Json {
    if (find(resource.name, name)) |action| {
        if (action.mints and asked.by_token) return ctx.fail(error.CommandDenied, "a token makes no tokens of the vault's");
        return action.run(.{ .ctx = ctx, .database = database, .resource = resource, .args = asked.args, .by_token = asked.by_token });
    }
    for (resource.actions) |common| {
        if (std.mem.eql(u8, @tagName(common), name)) return rows.run(ctx, database, resource, common, asked.args);
    }
    return ctx.fail(error.UnknownAction, try possible(ctx, resource));
}

/// The particular action of that name, or null.
pub fn find(resource: []const u8, name: []const u8) ?*const Action {
    for (&all) |*action| {
        if (std.mem.eql(u8, action.resource, resource) and std.mem.eql(u8, action.name, name)) return action;
    }
    return null;
}

fn possible(ctx: *Ctx, resource: resources.Resource) Error![]const u8 {
    var names: std.ArrayList(u8) = .empty;
    try names.appendSlice(ctx.arena, resource.name);
    try names.appendSlice(ctx.arena, " has");
    for (resource.actions) |common| {
        try names.append(ctx.arena, ' ');
        try names.appendSlice(ctx.arena, @tagName(common));
    }
    for (all) |action| {
        if (!std.mem.eql(u8, action.resource, resource.name) or isCommon(resource, action.name)) continue;
        try names.append(ctx.arena, ' ');
        try names.appendSlice(ctx.arena, action.name);
    }
    return names.items;
}

fn isCommon(resource: resources.Resource, name: []const u8) bool {
    for (resource.actions) |common| if (std.mem.eql(u8, @tagName(common), name)) return true;
    return false;
}

fn createAccount(call: Call) Error!Json {
    return accounts.create(call.ctx, call.database, call.resource, call.args);
}

fn deriveAccount(call: Call) Error!Json {
    return accounts.derive(call.ctx, call.database, call.resource, call.args);
}

fn setDefault(call: Call) Error!Json {
    const key = try rows.keyOf(call.ctx, call.resource, call.args);
    const row = try rows.get(call.ctx, call.database, call.resource, key); // NotFound before anything changes
    _ = row;
    try call.database.run("UPDATE accounts SET is_default = 0 WHERE is_default = 1", &.{});
    try call.database.run("UPDATE accounts SET is_default = 1 WHERE id = ?", &.{.{ .text = key }});
    return rows.get(call.ctx, call.database, call.resource, key);
}

fn signAsAccount(call: Call) Error!Json {
    const key = try rows.keyOf(call.ctx, call.resource, call.args);
    const row = try rows.get(call.ctx, call.database, call.resource, key);
    const enclave_id = args.field(row, "enclave_id") orelse return call.ctx.fail(error.NotFound, "enclave_id");
    return signed_(call, try naming(call, enclave_id));
}

fn signWithKey(call: Call) Error!Json {
    return signed_(call, try ofNamedKey(call));
}

/// A bare digest may be that of a token, so it is signed for the owner alone; a bearer shows what it wants signed.
fn signed_(call: Call, input: Json) Error!Json {
    if (call.by_token and args.field(input, "digest") != null) {
        return call.ctx.fail(error.CommandDenied, "under a token, user_op or message is signed, no digest");
    }
    return if (args.field(input, "user_op") != null) signing.signUserOp(call.ctx, input) else signing.sign(call.ctx, input);
}

fn deriveFromKey(call: Call) Error!Json {
    return addresses.derive(call.ctx, try ofNamedKey(call));
}

/// The arguments with `enclave_id` where the key was named as `id`: overlooked, it would mean the vault's first key.
fn ofNamedKey(call: Call) Error!Json {
    const key = try rows.optionalKey(call.ctx, call.resource, call.args) orelse return call.args;
    return naming(call, .{ .string = key });
}

fn naming(call: Call, enclave_id: Json) Error!Json {
    var input: Json = .{ .object = try call.args.object.clone(call.ctx.arena) };
    try json.put(call.ctx.arena, &input, "enclave_id", enclave_id);
    return input;
}

fn createKey(call: Call) Error!Json {
    const ctx = call.ctx;
    const curve = try curves.Curve.parse(try args.optionalString(ctx, call.args, "curve", 16) orelse "P-256");
    var made = try curves.generate(curve);
    defer made.shares.wipe();
    const keys = try shares_file.Keys.generate();
    const sealed = try shares_file.seal(made.public, made.shares, keys);
    const keep_val = try args.boolean(ctx, call.args, "keep_val_share", true);
    const id = try keyring.insert(ctx, call.database, made.public, sealed, keys, keep_val);
    var answer = try keyring.encrypted(ctx, made.public, sealed);
    try json.put(ctx.arena, &answer, "enclave_id", .{ .string = id });
    return answer;
}

/// A key that no row names any more; never the one that the vault's DID is made of, without which it is nobody's.
fn deleteKey(call: Call) Error!Json {
    const id = try rows.keyOf(call.ctx, call.resource, call.args);
    const key = try keyring.load(call.ctx, call.database, id);
    const own = try keyring.didOf(call.ctx, key.public);
    if (std.mem.eql(u8, own, call.ctx.state.did)) return error.Conflict;
    return rows.delete(call.ctx, call.database, call.resource, id);
}

fn refreshKey(call: Call) Error!Json {
    return refreshed(call, false);
}

fn rotateKey(call: Call) Error!Json {
    return refreshed(call, true);
}

fn refreshed(call: Call, rotate: bool) Error!Json {
    const val = try args.optionalFixed(shares_file.sealed_length, call.ctx, call.args, "val_share");
    const key = try keyring.load(call.ctx, call.database, try rows.optionalKey(call.ctx, call.resource, call.args));
    return keyring.refresh(call.ctx, call.database, key, val, rotate);
}

/// {id, expires_at}: another end of the row's life; a revoked row stays dead.
fn extend(call: Call) Error!Json {
    const key = try rows.keyOf(call.ctx, call.resource, call.args);
    const row = try rows.get(call.ctx, call.database, call.resource, key);
    if (args.field(row, "revoked_at") != null) return call.ctx.fail(error.Conflict, "revoked");
    const until = try args.string(call.ctx, call.args, "expires_at", 32);
    const change = try json.object(call.ctx.arena, .{ .id = key, .expires_at = until });
    return rows.update(call.ctx, call.database, call.resource, change);
}

fn replaceValue(call: Call) Error!Json {
    const key = try rows.keyOf(call.ctx, call.resource, call.args);
    const row = try rows.get(call.ctx, call.database, call.resource, key);
    if (args.field(row, "revoked_at") != null) return call.ctx.fail(error.Conflict, "revoked");
    const value = try args.string(call.ctx, call.args, "value", 16 << 10);
    return rows.update(call.ctx, call.database, call.resource, try json.object(call.ctx.arena, .{ .id = key, .value = value }));
}

/// {id} -> {valid, reason?}: neither revoked nor over.
fn isValid(call: Call) Error!Json {
    const key = try rows.keyOf(call.ctx, call.resource, call.args);
    const row = try rows.get(call.ctx, call.database, call.resource, key);
    const now = try iso8601.format(call.ctx.arena, try host.timeMs());
    const reason: ?[]const u8 = if (args.field(row, "revoked_at") != null)
        "revoked"
    else if (args.field(row, "expires_at")) |until|
        if (try iso8601.isBefore(call.ctx.arena, until.string, now)) "expired" else null
    else
        null;
    return json.object(call.ctx.arena, .{ .valid = reason == null, .reason = reason });
}

fn delegate(call: Call) Error!Json {
    return tokens.delegate(call.ctx, call.database, call.args);
}

fn invoke(call: Call) Error!Json {
    return tokens.invocation(call.ctx, call.database, call.args);
}

fn receive(call: Call) Error!Json {
    return tokens.receive(call.ctx, call.database, call.args);
}

fn verifyAssertion(call: Call) Error!Json {
    return passkeys.verify(call.ctx, call.database, call.args);
}

fn verifyToken(call: Call) Error!Json {
    return tokens.verify(call.ctx, call.database, call.resource, call.args);
}
