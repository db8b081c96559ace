//! Runs the actions that only some resources have: all except list, get, create, update, delete and revoke.

const std = @import("std");
const accounts = @import("accounts.zig");
const addressing = @import("../vault/addressing.zig");
const args = @import("../call/args.zig");
const curves = @import("../crypto/curves.zig");
const host = @import("../platform/host.zig");
const iso8601 = @import("../codec/iso8601.zig");
const json = @import("../codec/json.zig");
const keyring = @import("../vault/keyring.zig");
const passkeys = @import("passkeys.zig");
const reserved = @import("reserved.zig");
const resources = @import("../vault/resources.zig");
const rows = @import("../vault/rows.zig");
const shares_file = @import("../crypto/shares.zig");
const signing = @import("../vault/signing.zig");
const table = @import("table.zig");
const tokens = @import("tokens.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

/// The arguments of an action or, with `by_token`, the completed arguments to which its policies were applied.
pub const Asked = struct { args: Json, by_token: bool = false };

const Call = struct { ctx: *Ctx, database: Database, resource: resources.Resource, args: Json };

/// Runs the action with that name. Fails with UnknownAction.
pub fn run(ctx: *Ctx, database: Database, resource: resources.Resource, name: []const u8, asked: Asked) Error!Json {
    if (asked.by_token) try reserved.check(ctx, database, resource, name, asked.args);
    if (table.find(resource.name, name)) |action| {
        return handle(action.run, .{ .ctx = ctx, .database = database, .resource = resource, .args = asked.args });
    }
    for (resource.actions) |common| {
        if (std.mem.eql(u8, @tagName(common), name)) return rows.run(ctx, database, resource, common, asked.args);
    }
    return ctx.fail(error.UnknownAction, try possible(ctx, resource));
}

fn handle(handler: table.Handler, call: Call) Error!Json {
    return switch (handler) {
        .create_account => createAccount(call),
        .derive_account => deriveAccount(call),
        .set_default => setDefault(call),
        .sign_as_account => signAsAccount(call),
        .verify_assertion => verifyAssertion(call),
        .extend => extend(call),
        .is_valid => isValid(call),
        .create_key => createKey(call),
        .delete_key => deleteKey(call),
        .derive_from_key => deriveFromKey(call),
        .sign_with_key => signWithKey(call),
        .refresh_key => refreshKey(call),
        .rotate_key => rotateKey(call),
        .delegate => delegate(call),
        .verify_token => verifyToken(call),
        .receive => receive(call),
        .replace_value => replaceValue(call),
        .invoke => invoke(call),
    };
}

fn possible(ctx: *Ctx, resource: resources.Resource) Error![]const u8 {
    var names: std.ArrayList(u8) = .empty;
    try names.appendSlice(ctx.arena, resource.name);
    try names.appendSlice(ctx.arena, " has");
    for (resource.actions) |common| {
        try names.append(ctx.arena, ' ');
        try names.appendSlice(ctx.arena, @tagName(common));
    }
    for (table.all) |action| {
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
    const row = try rows.get(call.ctx, call.database, call.resource, key); // NotFound before any change
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

fn signed_(call: Call, input: Json) Error!Json {
    const is_operation = args.field(input, "user_op") != null;
    return if (is_operation) signing.signUserOp(call.ctx, input) else signing.sign(call.ctx, input);
}

fn deriveFromKey(call: Call) Error!Json {
    return addressing.derive(call.ctx, try ofNamedKey(call));
}

/// The arguments with `enclave_id` set if the key was given as `id`. Without `enclave_id`, `sign` would use the first
/// key.
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

/// Deletes a key that no row refers to. Fails with Conflict for the key that proves the vault's DID.
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

/// {id, expires_at} -> the row with a new expiry. Fails with Conflict for a revoked row.
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
    return rows.update(
        call.ctx,
        call.database,
        call.resource,
        try json.object(call.ctx.arena, .{ .id = key, .value = value }),
    );
}

/// {id} -> {valid, reason?}. A row is valid if it is neither revoked nor expired.
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
