//! The actions that belong to single resources, beside list, get, create, update, delete and revoke.

const std = @import("std");
const addresses = @import("../addresses.zig");
const args = @import("../args.zig");
const curves = @import("../keys/curves.zig");
const encoding = @import("../encoding.zig");
const host = @import("../host.zig");
const identity = @import("../identity.zig");
const iso8601 = @import("../iso8601.zig");
const json = @import("../json.zig");
const keyring = @import("keyring.zig");
const passkeys = @import("passkeys.zig");
const resources = @import("resources.zig");
const rows = @import("rows.zig");
const shares_file = @import("../keys/shares.zig");
const signing = @import("../signing.zig");
const tokens = @import("tokens.zig");
const Ctx = @import("../context.zig").Ctx;
const Database = @import("database.zig").Database;
const Error = @import("../errors.zig").Error;
const Json = json.Json;

const Call = struct { ctx: *Ctx, database: Database, resource: resources.Resource, args: Json };

pub const Action = struct { resource: []const u8, name: []const u8, run: *const fn (Call) Error!Json };

/// THE table of particular actions.
pub const all = [_]Action{
    .{ .resource = "accounts", .name = "derive", .run = deriveAccount },
    .{ .resource = "accounts", .name = "set_default", .run = setDefault },
    .{ .resource = "accounts", .name = "sign", .run = signAsAccount },
    .{ .resource = "credentials", .name = "verify", .run = verifyAssertion },
    .{ .resource = "sessions", .name = "refresh", .run = extend },
    .{ .resource = "sessions", .name = "verify", .run = isValid },
    .{ .resource = "grants", .name = "verify", .run = isValid },
    .{ .resource = "enclaves", .name = "create", .run = createKey },
    .{ .resource = "enclaves", .name = "delete", .run = deleteKey },
    .{ .resource = "enclaves", .name = "derive", .run = deriveFromKey },
    .{ .resource = "enclaves", .name = "sign", .run = signWithKey },
    .{ .resource = "enclaves", .name = "refresh", .run = refreshKey },
    .{ .resource = "enclaves", .name = "rotate", .run = rotateKey },
    .{ .resource = "delegations", .name = "create", .run = delegate },
    .{ .resource = "delegations", .name = "delegate", .run = delegate },
    .{ .resource = "delegations", .name = "verify", .run = verifyToken },
    .{ .resource = "ucans", .name = "create", .run = receive },
    .{ .resource = "ucans", .name = "verify", .run = verifyToken },
    .{ .resource = "tokens", .name = "refresh", .run = extend },
    .{ .resource = "tokens", .name = "rotate", .run = replaceValue },
    .{ .resource = "tokens", .name = "verify", .run = isValid },
    .{ .resource = "invocations", .name = "create", .run = invoke },
    .{ .resource = "invocations", .name = "verify", .run = verifyToken },
};

/// Runs the action of that name, or fails with UnknownAction.
pub fn run(ctx: *Ctx, database: Database, resource: resources.Resource, name: []const u8, input: Json) Error!Json {
    for (all) |action| {
        if (!std.mem.eql(u8, action.resource, resource.name) or !std.mem.eql(u8, action.name, name)) continue;
        return action.run(.{ .ctx = ctx, .database = database, .resource = resource, .args = input });
    }
    for (resource.actions) |common| {
        if (std.mem.eql(u8, @tagName(common), name)) return rows.run(ctx, database, resource, common, input);
    }
    return ctx.fail(error.UnknownAction, try possible(ctx, resource));
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
        if (!std.mem.eql(u8, action.resource, resource.name)) continue;
        try names.append(ctx.arena, ' ');
        try names.appendSlice(ctx.arena, action.name);
    }
    return names.items;
}

/// {chain?, chain_id?, label?, coin_type?, ...}: the address of one of the vault's keys, recorded as an account.
fn deriveAccount(call: Call) Error!Json {
    const ctx = call.ctx;
    const chain = try args.optionalString(ctx, call.args, "chain", 32) orelse "ethereum";
    const entry = try keyring.load(ctx, call.database, try args.optionalString(ctx, call.args, "enclave_id", 128));
    const address = try addresses.onChain(ctx, call.args, chain, entry.public);
    var row: Json = .{ .object = try call.args.object.clone(ctx.arena) };
    try json.put(ctx.arena, &row, "address", .{ .string = address });
    try json.put(ctx.arena, &row, "enclave_id", .{ .string = entry.enclave_id });
    if (args.field(row, "chain_id") == null) try json.put(ctx.arena, &row, "chain_id", .{ .string = chain });
    return rows.create(ctx, call.database, call.resource, row);
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
    return signing.sign(call.ctx, try naming(call, enclave_id));
}

fn signWithKey(call: Call) Error!Json {
    return signing.sign(call.ctx, try ofNamedKey(call));
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
    const own = try identity.didOf(call.ctx, key.public);
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
