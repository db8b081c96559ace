//! Adds accounts with addresses of the vault's keys or of keys derived from its seed.

const std = @import("std");
const addresses = @import("../chains/addresses.zig");
const args = @import("../call/args.zig");
const curves = @import("../crypto/curves.zig");
const hd = @import("../crypto/hd.zig");
const json = @import("../codec/json.zig");
const keyring = @import("../vault/keyring.zig");
const memory = @import("../platform/memory.zig");
const resources = @import("../vault/resources.zig");
const rows = @import("../vault/rows.zig");
const seeds = @import("../vault/seeds.zig");
const shares_file = @import("../crypto/shares.zig");
const Chain = addresses.Chain;
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

/// {address, chain_id, coin_type?, ...} -> the new row. The caller supplies the address, for example that of an account
/// to watch.
pub fn create(ctx: *Ctx, database: Database, resource: resources.Resource, input: Json) Error!Json {
    if (args.field(input, "coin_type") != null) return rows.create(ctx, database, resource, input);
    const chain_id = try args.string(ctx, input, "chain_id", 128);
    const coin_type = Chain.ofId(chain_id).coinType();
    return rows.create(ctx, database, resource, try with(ctx, input, "coin_type", .{ .integer = coin_type }));
}

/// {chain?, account_index?, address_index?, curve?, chain_id?, label?, ...} -> the new row. With an index, the
/// account's key is derived from the vault's seed and added to the vault's keys. Without an index, a key that the vault
/// already has is used.
pub fn derive(ctx: *Ctx, database: Database, resource: resources.Resource, input: Json) Error!Json {
    const chain = try addresses.chainOf(ctx, input);
    const entry = try keyOf(ctx, database, chain, input);
    const coin_type = chain.coinType();
    if (try args.optionalInteger(ctx, input, "coin_type", 0, std.math.maxInt(i32))) |given| {
        if (given != coin_type) return ctx.fail(error.InvalidField, "coin_type");
    }
    var row = try with(ctx, input, "address", .{ .string = try addresses.onChain(ctx, input, chain, entry.public) });
    try json.put(ctx.arena, &row, "coin_type", .{ .integer = coin_type });
    try json.put(ctx.arena, &row, "enclave_id", .{ .string = entry.enclave_id });
    if (args.field(row, "chain_id") == null) try json.put(ctx.arena, &row, "chain_id", .{ .string = @tagName(chain) });
    return rows.create(ctx, database, resource, row);
}

/// Whether the arguments of `derive` contain an index, which means that the key is derived from the seed.
pub fn isIndexed(input: Json) bool {
    return args.field(input, "account_index") != null or args.field(input, "address_index") != null;
}

fn keyOf(ctx: *Ctx, database: Database, chain: Chain, input: Json) Error!keyring.Entry {
    const named = try args.optionalString(ctx, input, "enclave_id", 128);
    const account = try args.optionalInteger(ctx, input, "account_index", 0, hd.hardened - 1);
    const address = try args.optionalInteger(ctx, input, "address_index", 0, hd.hardened - 1);
    if (!isIndexed(input)) return keyring.load(ctx, database, named);
    if (named != null) return ctx.fail(error.InvalidField, "enclave_id"); // an index identifies the key by itself
    const curve = try curves.Curve.parse(try args.optionalString(ctx, input, "curve", 16) orelse "secp256k1");
    const purpose = try addresses.purpose(ctx, input, chain);
    const path = [_]u32{
        hd.hardened + purpose,
        hd.hardened + @as(u32, @intCast(chain.coinType())),
        hd.hardened + @as(u32, @intCast(account orelse 0)),
        0,
        @intCast(address orelse 0),
    };
    return derived(ctx, database, curve, &path);
}

/// The key derived from the seed along `path`; it is added to the vault's keys if the vault lacks it.
fn derived(ctx: *Ctx, database: Database, curve: curves.Curve, path: []const u32) Error!keyring.Entry {
    var seed = try seeds.open(ctx, database);
    defer memory.wipe(&seed);
    var node = try hd.derive(curve, &seed, path);
    defer node.wipe();
    var made = try curves.split(curve, node.secret);
    defer made.shares.wipe();
    if (try keyring.named(ctx, database, made.public)) |known| return keyring.load(ctx, database, known);
    const keys = try shares_file.Keys.generate();
    const sealed = try shares_file.seal(made.public, made.shares, keys);
    return keyring.load(ctx, database, try keyring.insert(ctx, database, made.public, sealed, keys, true));
}

fn with(ctx: *Ctx, input: Json, name: []const u8, value: Json) Error!Json {
    var row: Json = .{ .object = try input.object.clone(ctx.arena) };
    try json.put(ctx.arena, &row, name, value);
    return row;
}
