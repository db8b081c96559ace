//! Adds defaults, and the row's key under both names, to the arguments to which a token's policy is applied.

const std = @import("std");
const accounts = @import("accounts.zig");
const args = @import("../call/args.zig");
const json = @import("../codec/json.zig");
const keyring = @import("../vault/keyring.zig");
const passkeys = @import("passkeys.zig");
const resources = @import("../vault/resources.zig");
const rows = @import("../vault/rows.zig");
const shown_operation = @import("shown_operation.zig");
const Chain = @import("../chains/addresses.zig").Chain;
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;
const Resource = resources.Resource;

/// The arguments being completed.
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

    pub fn nameKey(self: Filling) Error!void {
        const key = try rows.optionalKey(self.ctx, self.resource, self.args.*) orelse return;
        try self.put(self.resource.key, .{ .string = key });
        try self.put("id", .{ .string = key });
    }
};

/// Sets `enclave_id` to the vault's first key if the arguments identify no key.
pub fn firstKey(filling: Filling) Error!void {
    if (try rows.optionalKey(filling.ctx, filling.resource, filling.args.*) != null) return;
    const first = keyring.load(filling.ctx, filling.database, null) catch |err| return unlessMemory(err);
    try filling.put("enclave_id", .{ .string = first.enclave_id });
}

pub fn forSigning(filling: Filling) Error!void {
    try firstKey(filling);
    try operation(filling);
}

/// Sets `enclave_id` to the account's key, even if the arguments identify another.
pub fn forAccount(filling: Filling) Error!void {
    try operation(filling);
    const id = try rows.optionalKey(filling.ctx, filling.resource, filling.args.*) orelse return;
    const row = rows.get(filling.ctx, filling.database, filling.resource, id) catch |err| return unlessMemory(err);
    try filling.put("enclave_id", args.field(row, "enclave_id") orelse .null);
}

/// Sets the defaults of a new account, whose coin type follows from the chain.
pub fn forNewAccount(filling: Filling) Error!void {
    const told = args.field(filling.args.*, "chain_id") orelse Json.null;
    if (told == .string) try filling.default("coin_type", .{ .integer = Chain.ofId(told.string).coinType() });
    try columnDefaults(filling);
}

/// Sets the defaults of a derived account: both indexes if one is given, otherwise the key to use.
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

/// Sets the defaults of the table's columns for a new row.
pub fn columnDefaults(filling: Filling) Error!void {
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
