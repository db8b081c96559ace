//! `generate`: creates a key, its DID, its first account and the vault that contains them.

const std = @import("std");
const addresses = @import("../chains/addresses.zig");
const args = @import("../call/args.zig");
const contract_set = @import("../chains/contract_set.zig");
const curves = @import("../crypto/curves.zig");
const encoding = @import("../codec/encoding.zig");
const host = @import("../platform/host.zig");
const iso8601 = @import("../codec/iso8601.zig");
const json = @import("../codec/json.zig");
const keyring = @import("../vault/keyring.zig");
const meta = @import("../vault/meta.zig");
const proofs = @import("../vault/proofs.zig");
const publishing_key = @import("../vault/publishing_key.zig");
const rows = @import("../vault/rows.zig");
const schema = @import("../vault/schema.zig");
const seeds = @import("../vault/seeds.zig");
const session = @import("../vault/session.zig");
const shares_file = @import("../crypto/shares.zig");
const webauthn = @import("webauthn.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

const max_credential = 64 << 10;

/// GenerateInput and {key, curve?, keep_val_share?, chain_id?, factory?, implementation?, salt?, device_name?}
/// -> GenerateOutputWithShares, with `parsed_credential`. The new vault is open afterwards.
pub fn generate(ctx: *Ctx, input: Json) Error!Json {
    if (ctx.state.open != null) return error.Conflict;
    const passkey = try webauthn.passkey(ctx, try args.bytes(ctx, input, "credential", max_credential));
    const key = try session.requireKey(ctx, input);
    const curve = try curves.Curve.parse(try args.optionalString(ctx, input, "curve", 16) orelse "P-256");
    var made = try curves.generate(curve);
    defer made.shares.wipe();
    const keys = try shares_file.Keys.generate();
    const sealed = try shares_file.seal(made.public, made.shares, keys);
    const did = try keyring.didOf(ctx, made.public);
    const proof = try proofs.read(ctx, input);

    const database = try Database.create();
    errdefer database.close();
    try schema.migrate(database, ctx.arena);
    const keep_val = try args.boolean(ctx, input, "keep_val_share", true);
    const enclave_id = try keyring.insert(ctx, database, made.public, sealed, keys, keep_val);
    const account = try firstAccount(ctx, input, made.public);
    try seeds.make(ctx, database);
    try publishing_key.adopt(ctx, database);
    try describe(ctx, database, did, enclave_id, made.public);
    try proofs.record(ctx, database, input, proof);
    try recordAccount(ctx, database, account, enclave_id);
    try recordCredential(ctx, database, input, passkey);
    const before = try ctx.arena.dupe(u8, ctx.state.did);
    try session.adopt(ctx, database, did, key);
    errdefer ctx.state.abandon(before); // the database itself is closed by the line above
    const bytes = try session.save(ctx.state, ctx.arena);
    ctx.state.forgetPending();
    return json.object(ctx.arena, .{
        .did = did,
        .database = try encoding.base64(ctx.arena, bytes),
        .enclave_id = enclave_id,
        .public_key = try encoding.bareHex(ctx.arena, &made.public.uncompressed()),
        .public_key_hex = try encoding.bareHex(ctx.arena, &made.public.uncompressed()),
        .pubkey_x = try encoding.bareHex(ctx.arena, &made.public.x),
        .pubkey_y = try encoding.bareHex(ctx.arena, &made.public.y),
        .accounts = try json.array(ctx.arena, &[_]Json{try json.object(ctx.arena, account)}),
        .encrypted_shares = try keyring.encrypted(ctx, made.public, sealed),
        .parsed_credential = passkey.parsed,
    });
}

const AccountInfo = struct { address: []const u8, chain_id: []const u8 };

fn firstAccount(ctx: *Ctx, input: Json, public: curves.PublicKey) Error!AccountInfo {
    const chain = try args.optionalInteger(ctx, input, "chain_id", 1, (1 << 53) - 1) orelse
        @as(i64, contract_set.default_chain_id);
    return .{
        .address = try addresses.ethereum(ctx, input, public),
        .chain_id = try std.fmt.allocPrint(ctx.arena, "{d}", .{chain}),
    };
}

fn describe(
    ctx: *Ctx,
    database: Database,
    did: []const u8,
    enclave_id: []const u8,
    public: curves.PublicKey,
) Error!void {
    try meta.set(database, "did", did);
    try meta.set(database, "controller", did);
    var fields: rows.Fields = .{ .ctx = ctx };
    try fields.add("id", .{ .text = try std.mem.concat(ctx.arena, u8, &.{ did, "#key-1" }) });
    try fields.add("type", .{ .text = switch (public.curve) {
        .p256 => "EcdsaSecp256r1VerificationKey2019",
        .secp256k1 => "EcdsaSecp256k1VerificationKey2019",
    } });
    try fields.add("controller", .{ .text = did });
    try fields.add("public_key", .{ .text = try encoding.base64(ctx.arena, &public.compressed()) });
    try fields.add("purpose", .{ .text = "authentication" });
    try fields.add("enclave_id", .{ .text = enclave_id });
    try fields.add("created_at", .{ .text = try iso8601.format(ctx.arena, host.nowMs()) });
    try fields.insert(database, "verification_methods");
}

fn recordAccount(ctx: *Ctx, database: Database, account: AccountInfo, enclave_id: []const u8) Error!void {
    var fields: rows.Fields = .{ .ctx = ctx };
    try fields.add("id", .{ .text = try rows.randomId(ctx) });
    try fields.add("address", .{ .text = account.address });
    try fields.add("chain_id", .{ .text = account.chain_id });
    try fields.add("coin_type", .{ .integer = addresses.Chain.ethereum.coinType() });
    try fields.add("label", .{ .text = "Main" });
    try fields.add("is_default", .{ .integer = 1 });
    try fields.add("enclave_id", .{ .text = enclave_id });
    try fields.add("created_at", .{ .text = try iso8601.format(ctx.arena, host.nowMs()) });
    try fields.insert(database, "accounts");
}

fn recordCredential(ctx: *Ctx, database: Database, input: Json, passkey: webauthn.Passkey) Error!void {
    const now = try iso8601.format(ctx.arena, host.nowMs());
    const transports = std.json.Stringify.valueAlloc(ctx.arena, passkey.transports, .{}) catch return error.OutOfMemory;
    var fields: rows.Fields = .{ .ctx = ctx };
    try fields.add("credential_id", .{ .text = try encoding.base64Url(ctx.arena, passkey.credential_id) });
    try fields.add("device_name", .{ .text = try args.optionalString(ctx, input, "device_name", 128) orelse "" });
    try fields.add("device_type", .{ .text = passkey.device_type });
    try fields.add("authenticator", .{ .text = try encoding.bareHex(ctx.arena, &passkey.aaguid) });
    try fields.add("transports", .{ .text = transports });
    try fields.add("public_key", .{ .blob = switch (passkey.public_key) {
        .es256 => |key| try ctx.arena.dupe(u8, &([1]u8{4} ++ key.x ++ key.y)),
        else => passkey.cose_key,
    } });
    try fields.add("sign_count", .{ .integer = passkey.sign_count });
    try fields.add("created_at", .{ .text = now });
    try fields.add("last_used", .{ .text = now });
    try fields.insert(database, "credentials");
}
