//! `derive_address`: what a key is called on a chain.

const std = @import("std");
const args = @import("args.zig");
const bech32 = @import("bech32.zig");
const curves = @import("keys/curves.zig");
const encoding = @import("encoding.zig");
const eth = @import("eth.zig");
const hashes = @import("hashes.zig");
const json = @import("json.zig");
const keyring = @import("vault/keyring.zig");
const session = @import("vault/session.zig");
const Ctx = @import("context.zig").Ctx;
const Error = @import("errors.zig").Error;
const Json = json.Json;
const Secp256k1 = std.crypto.ecc.Secp256k1;
const Sha256 = std.crypto.hash.sha2.Sha256;

/// {chain: "ethereum" | "bitcoin" | "cosmos", public_key? | enclave_id?, form?, prefix?, factory?, implementation?, salt?}
/// -> DeriveAddressResult.
pub fn derive(ctx: *Ctx, input: Json) Error!Json {
    const chain = try args.optionalString(ctx, input, "chain", 32) orelse "ethereum";
    const public = try publicKey(ctx, input);
    return json.object(ctx.arena, .{ .address = try onChain(ctx, input, chain, public), .chain = chain });
}

/// The address of `public` on a chain. Fails with UnsupportedChain where the chain has none for its curve.
pub fn onChain(ctx: *Ctx, input: Json, chain: []const u8, public: curves.PublicKey) Error![]const u8 {
    if (std.mem.eql(u8, chain, "ethereum")) return ethereum(ctx, input, public);
    if (std.mem.eql(u8, chain, "bitcoin")) return bitcoin(ctx, input, public);
    if (std.mem.eql(u8, chain, "cosmos")) return cosmos(ctx, input, public);
    return error.UnsupportedChain;
}

/// With `factory` and `implementation`, the smart account that the factory deploys for the key (P-256 accounts are
/// contracts); else the last 20 bytes of Keccak-256(X‖Y), which is the account itself where the curve is secp256k1.
pub fn ethereum(ctx: *Ctx, input: Json, public: curves.PublicKey) Error![]const u8 {
    const hash = public.hash();
    const factory = try optionalAddress(ctx, input, "factory") orelse return eth.checksummed(ctx.arena, hash[12..32].*);
    const implementation = try optionalAddress(ctx, input, "implementation") orelse
        return ctx.fail(error.MissingField, "implementation");
    const salt = try saltOf(ctx, input);
    return eth.checksummed(ctx.arena, eth.cloneAddress(factory, implementation, eth.hashWords(&.{ public.x, public.y, salt })));
}

/// `form` "p2tr" (the default): pay-to-taproot, key path only (BIP-86); "p2wpkh": pay-to-witness-public-key-hash (BIP-84).
fn bitcoin(ctx: *Ctx, input: Json, public: curves.PublicKey) Error![]const u8 {
    const form = try args.optionalString(ctx, input, "form", 16) orelse "p2tr";
    if (public.curve != .secp256k1) return error.UnsupportedChain;
    if (std.mem.eql(u8, form, "p2tr")) return bech32.encode(ctx.arena, "bc", 1, &try taprootKey(public), .bech32m);
    if (!std.mem.eql(u8, form, "p2wpkh")) return ctx.fail(error.InvalidField, "form");
    return bech32.encode(ctx.arena, "bc", 0, &try hashes.hash160(&public.compressed()), .bech32);
}

fn taprootKey(public: curves.PublicKey) Error![32]u8 {
    const even = Secp256k1.fromSec1(&([1]u8{2} ++ public.x)) catch return error.InvalidKey;
    const tweak = Secp256k1.scalar.Scalar.fromBytes(tagged("TapTweak", &public.x), .big) catch return error.CryptoFailure;
    const shift = Secp256k1.basePoint.mulPublic(tweak.toBytes(.big), .big) catch return error.CryptoFailure;
    return even.add(shift).affineCoordinates().x.toBytes(.big);
}

/// Of secp256k1 keys the 20 bytes that Cosmos chains began with (as Bitcoin hashes a key), of P-256 keys ADR-028.
fn cosmos(ctx: *Ctx, input: Json, public: curves.PublicKey) Error![]const u8 {
    const prefix = try args.optionalString(ctx, input, "prefix", 20) orelse "cosmos";
    for (prefix) |letter| if (!std.ascii.isLower(letter)) return ctx.fail(error.InvalidField, "prefix");
    if (prefix.len == 0) return ctx.fail(error.InvalidField, "prefix");
    return switch (public.curve) {
        .secp256k1 => bech32.encode(ctx.arena, prefix, null, &try hashes.hash160(&public.compressed()), .bech32),
        .p256 => bech32.encode(ctx.arena, prefix, null, &typedHash("secp256r1", public), .bech32),
    };
}

/// ADR-028 of the Cosmos SDK: SHA-256 of the hashed key type and the compressed key.
fn typedHash(comptime kind: []const u8, public: curves.PublicKey) [32]u8 {
    var kind_hash: [32]u8 = undefined;
    Sha256.hash(kind, &kind_hash, .{});
    var address: [32]u8 = undefined;
    const preimage = kind_hash ++ public.compressed();
    Sha256.hash(&preimage, &address, .{});
    return address;
}

fn tagged(comptime tag: []const u8, data: []const u8) [32]u8 {
    var tag_hash: [32]u8 = undefined;
    Sha256.hash(tag, &tag_hash, .{});
    var state = Sha256.init(.{});
    state.update(&tag_hash);
    state.update(&tag_hash);
    state.update(data);
    return state.finalResult();
}

fn publicKey(ctx: *Ctx, input: Json) Error!curves.PublicKey {
    const given = try args.optionalFixed(65, ctx, input, "public_key") orelse {
        const open = try session.require(ctx);
        return (try keyring.load(ctx, open.database, try args.optionalString(ctx, input, "enclave_id", 128))).public;
    };
    const curve = try curves.Curve.parse(try args.optionalString(ctx, input, "curve", 16) orelse "P-256");
    return curves.PublicKey.fromUncompressed(curve, &given);
}

pub fn optionalAddress(ctx: *Ctx, input: Json, name: []const u8) Error!?eth.Address {
    const text = try args.optionalString(ctx, input, name, 42) orelse return null;
    return eth.parseAddress(text) catch |err| ctx.fail(err, name);
}

fn saltOf(ctx: *Ctx, input: Json) Error!eth.Word {
    const given = args.field(input, "salt") orelse return eth.word(0);
    return switch (given) {
        .integer => |number| if (number >= 0) eth.word(@intCast(number)) else ctx.fail(error.InvalidField, "salt"),
        .string => |text| eth.parseQuantity(text) catch |err| ctx.fail(err, "salt"),
        else => ctx.fail(error.InvalidField, "salt"),
    };
}
