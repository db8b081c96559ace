//! What an action is asked with: the arguments that it has, and the same with other names and defaults filled in, so that
//! a token's policy judges what will be done, not how it was written.

const std = @import("std");
const accounts = @import("accounts.zig");
const actions = @import("actions.zig");
const args = @import("../call/args.zig");
const eth = @import("../chains/eth.zig");
const ipld = @import("../codec/ipld.zig");
const json = @import("../codec/json.zig");
const keyring = @import("../vault/keyring.zig");
const passkeys = @import("passkeys.zig");
const resources = @import("../vault/resources.zig");
const rows = @import("../vault/rows.zig");
const selector = @import("../codec/selector.zig");
const shown_operation = @import("../chains/shown_operation.zig");
const Chain = @import("../chains/addresses.zig").Chain;
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;
const Resource = resources.Resource;

/// A payment's arguments (docs/client.md): a command of the vault's that the host carries out, not `exec`.
const payment = [_][]const u8{ "to", "amount", "token", "chainId", "total" };

/// Whether the action reads an argument of that name.
pub fn has(resource: Resource, action: []const u8, name: []const u8) bool {
    if (actions.find(resource.name, action)) |particular| {
        return isKey(resource, name) or contains(particular.takes, name) or (particular.makes_row and makes(resource, name));
    }
    return switch (commonOf(resource, action) orelse return false) {
        .list => contains(&.{ "limit", "offset" }, name),
        .get, .delete, .revoke => isKey(resource, name),
        .create => isKey(resource, name) or makes(resource, name),
        .update => isKey(resource, name) or if (resource.column(name)) |column| column.mutable else false,
    };
}

/// Refuses arguments that the action does not have.
pub fn checkKnown(ctx: *Ctx, resource: Resource, action: []const u8, given: Json) Error!void {
    for (given.object.keys()) |name| {
        if (!has(resource, action, name)) return ctx.fail(error.InvalidField, "an argument that the action does not have");
    }
}

/// The arguments as the action will read them: nulls left out, the key under both of its names, defaults in their places.
/// What cannot be filled in is left for the action to refuse.
pub fn resolved(ctx: *Ctx, database: Database, resource: Resource, action: []const u8, given: Json) Error!Json {
    var full = try json.object(ctx.arena, .{});
    for (given.object.keys(), given.object.values()) |name, value| {
        if (value != .null) try json.put(ctx.arena, &full, name, value);
    }
    const filling: Filling = .{ .ctx = ctx, .database = database, .resource = resource, .args = &full };
    if (actions.find(resource.name, action)) |particular| {
        if (particular.fill) |fill| try fill(filling);
    } else if (std.mem.eql(u8, action, "list")) {
        try filling.default("limit", .{ .integer = rows.max_listed });
        try filling.default("offset", .{ .integer = 0 });
    } else if (std.mem.eql(u8, action, "create")) try columnDefaults(filling);
    if (!std.mem.eql(u8, action, "list")) try filling.nameKey();
    return full;
}

/// Arguments on their way to completeness.
pub const Filling = struct {
    ctx: *Ctx,
    database: Database,
    resource: Resource,
    args: *Json,

    pub fn put(self: Filling, name: []const u8, value: Json) Error!void {
        try json.put(self.ctx.arena, self.args, name, value);
    }

    pub fn default(self: Filling, name: []const u8, value: Json) Error!void {
        if (args.field(self.args.*, name) == null) try self.put(name, value);
    }

    fn nameKey(self: Filling) Error!void {
        const key = try rows.optionalKey(self.ctx, self.resource, self.args.*) orelse return;
        try self.put(self.resource.key, .{ .string = key });
        try self.put("id", .{ .string = key });
    }
};

/// The key that is meant where none is named: the vault's first.
pub fn firstKey(filling: Filling) Error!void {
    if (try rows.optionalKey(filling.ctx, filling.resource, filling.args.*) != null) return;
    const first = keyring.load(filling.ctx, filling.database, null) catch |err| return unlessMemory(err);
    try filling.put("enclave_id", .{ .string = first.enclave_id });
}

pub fn forSigning(filling: Filling) Error!void {
    try firstKey(filling);
    try operation(filling);
}

/// The key of the account, whatever else was named.
pub fn forAccount(filling: Filling) Error!void {
    try operation(filling);
    const id = try rows.optionalKey(filling.ctx, filling.resource, filling.args.*) orelse return;
    const row = rows.get(filling.ctx, filling.database, filling.resource, id) catch |err| return unlessMemory(err);
    try filling.put("enclave_id", args.field(row, "enclave_id") orelse .null);
}

/// The coin type is the chain's.
pub fn forNewAccount(filling: Filling) Error!void {
    const told = args.field(filling.args.*, "chain_id") orelse Json.null;
    if (told == .string) try filling.default("coin_type", .{ .integer = Chain.ofId(told.string).coinType() });
    try columnDefaults(filling);
}

/// With an index the place below the seed, with none the key that is meant.
pub fn forDerivedAccount(filling: Filling) Error!void {
    try filling.default("chain", .{ .string = "ethereum" });
    const chain = args.field(filling.args.*, "chain").?;
    try filling.default("chain_id", chain);
    if (chain == .string) try filling.default("coin_type", .{ .integer = Chain.ofId(chain.string).coinType() });
    if (accounts.isIndexed(filling.args.*)) {
        try filling.default("account_index", .{ .integer = 0 });
        try filling.default("address_index", .{ .integer = 0 });
        try filling.default("curve", .{ .string = "secp256k1" });
    } else if (args.field(filling.args.*, "enclave_id") == null) {
        const first = keyring.load(filling.ctx, filling.database, null) catch |err| return unlessMemory(err);
        try filling.put("enclave_id", .{ .string = first.enclave_id });
    }
    try filling.default("label", .{ .string = "" });
}

pub fn forDerivedKey(filling: Filling) Error!void {
    try filling.default("chain", .{ .string = "ethereum" });
    if (args.field(filling.args.*, "public_key") == null) try firstKey(filling);
}

pub fn forNewKey(filling: Filling) Error!void {
    try filling.default("curve", .{ .string = "P-256" });
    try filling.default("keep_val_share", .{ .bool = true });
}

pub fn forAssertion(filling: Filling) Error!void {
    try filling.default("user_verification", .{ .string = "required" });
    try filling.default("cross_origin", .{ .bool = false });
    if (try rows.optionalKey(filling.ctx, filling.resource, filling.args.*) != null) return;
    const named = passkeys.named(filling.ctx, filling.args.*) catch |err| return unlessMemory(err);
    try filling.put("credential_id", .{ .string = named });
}

fn operation(filling: Filling) Error!void {
    const op = args.field(filling.args.*, "user_op") orelse return;
    try filling.put("user_op", try shown_operation.normal(filling.ctx, op));
    const entry = args.field(filling.args.*, "entry_point") orelse return;
    if (entry == .string) try filling.put("entry_point", try shown_operation.lowered(filling.ctx, entry.string));
}

/// What the table puts where a new row says nothing.
fn columnDefaults(filling: Filling) Error!void {
    for (filling.resource.columns) |column| {
        if (column.default) |text| try filling.default(column.name, try valueOf(filling.ctx, column.kind, text));
    }
}

fn valueOf(ctx: *Ctx, kind: resources.Kind, text: []const u8) Error!Json {
    return switch (kind) {
        .integer => .{ .integer = std.fmt.parseInt(i64, text, 10) catch return error.DatabaseFailure },
        .json => std.json.parseFromSliceLeaky(Json, ctx.arena, text, .{}) catch error.DatabaseFailure,
        else => .{ .string = text },
    };
}

fn unlessMemory(err: Error) Error!void {
    if (err == error.OutOfMemory) return err;
}

fn isKey(resource: Resource, name: []const u8) bool {
    return std.mem.eql(u8, name, "id") or std.mem.eql(u8, name, resource.key);
}

fn makes(resource: Resource, name: []const u8) bool {
    return if (resource.column(name)) |column| column.origin != .system else false;
}

fn contains(names: []const []const u8, name: []const u8) bool {
    for (names) |each| if (std.mem.eql(u8, each, name)) return true;
    return false;
}

/// Refuses a policy that names an argument which no command of the vault's, of those that `command` covers, has: nothing
/// would hold it, or nothing could satisfy it. Commands that are not the vault's are other services' business.
pub fn checkEnforced(ctx: *Ctx, command: []const u8, policy: ipld.Value) Error!void {
    var parts = std.mem.splitScalar(u8, command[1..], '/');
    const resource = resources.find(parts.first()) orelse return;
    const action = parts.next();
    if (action) |name| if (!isAction(resource, name)) return;
    for (policy.list) |statement| {
        if (!try speaks(ctx, resource, action, statement)) return ctx.fail(error.InvalidField, "policy: an argument that the command does not have");
    }
}

fn speaks(ctx: *Ctx, resource: Resource, action: ?[]const u8, statement: ipld.Value) Error!bool {
    const second = statement.list[1];
    if (std.mem.eql(u8, statement.list[0].text, "not")) return speaks(ctx, resource, action, second);
    if (second == .list) { // and, or
        for (second.list) |inner| if (!try speaks(ctx, resource, action, inner)) return false;
        return true;
    }
    const segments = selector.parse(ctx.arena, second.text) catch return error.InvalidToken;
    if (segments.len == 0 or segments[0].step != .field) return true; // of the arguments as a whole
    const name = segments[0].step.field;
    if (pays(resource, action)) try checkAddress(ctx, name, statement);
    if (action) |one| return takes(resource, one, name);
    for (resource.actions) |common| if (has(resource, @tagName(common), name)) return true;
    for (actions.all) |particular| {
        if (std.mem.eql(u8, particular.resource, resource.name) and has(resource, particular.name, name)) return true;
    }
    return pays(resource, null) and contains(&payment, name);
}

/// Payments are judged with addresses as EIP-55 writes them: no other form equals any.
fn checkAddress(ctx: *Ctx, name: []const u8, statement: ipld.Value) Error!void {
    if (!contains(&.{ "to", "token" }, name) or statement.list.len < 3 or statement.list[2] != .text) return;
    const given = statement.list[2].text;
    const address = eth.parseAddress(given) catch return;
    if (!std.mem.eql(u8, given, try eth.checksummed(ctx.arena, address))) return ctx.fail(error.InvalidField, "policy: an address not in EIP-55's form");
}

fn takes(resource: Resource, action: []const u8, name: []const u8) bool {
    return if (pays(resource, action)) contains(&payment, name) else has(resource, action, name);
}

fn pays(resource: Resource, action: ?[]const u8) bool {
    if (!std.mem.eql(u8, resource.name, "accounts")) return false;
    return if (action) |name| std.mem.eql(u8, name, "pay") else true;
}

fn isAction(resource: Resource, name: []const u8) bool {
    return pays(resource, name) or actions.find(resource.name, name) != null or commonOf(resource, name) != null;
}

fn commonOf(resource: Resource, name: []const u8) ?resources.Common {
    for (resource.actions) |common| if (std.mem.eql(u8, @tagName(common), name)) return common;
    return null;
}
