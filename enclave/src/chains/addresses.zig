//! Derives the address of a public key on Ethereum, Bitcoin or a Cosmos chain.

const std = @import("std");
const args = @import("../call/args.zig");
const bech32 = @import("../codec/bech32.zig");
const contract_set = @import("contract_set.zig");
const curves = @import("../crypto/curves.zig");
const eth = @import("eth.zig");
const hashes = @import("../crypto/hashes.zig");
const json = @import("../codec/json.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;
const Secp256k1 = std.crypto.ecc.Secp256k1;
const Sha256 = std.crypto.hash.sha2.Sha256;

/// The chains for which the module derives addresses.
pub const Chain = enum {
    ethereum,
    bitcoin,
    cosmos,

    /// The chain that an account's `chain_id` names. Text that names no chain is taken as an Ethereum chain's number.
    pub fn ofId(chain_id: []const u8) Chain {
        return std.meta.stringToEnum(Chain, chain_id) orelse .ethereum;
    }

    /// The chain's number in SLIP-44.
    pub fn coinType(chain: Chain) i64 {
        return switch (chain) {
            .ethereum => 60,
            .bitcoin => 0,
            .cosmos => 118,
        };
    }
};

/// The forms of a Bitcoin address, each with the purpose (BIP-43) with which the paths of its keys begin.
const Form = enum(u32) { p2wpkh = 84, p2tr = 86 };

/// Prefixes of chains built with Ethermint, where an account's address is Ethereum's, not the hash that Cosmos uses.
const other_hashes = [_][]const u8{ "canto", "crc", "dym", "evmos", "haqq", "inj", "zeta" };

/// The `chain` field, or "ethereum" if it is absent. Fails with UnsupportedChain.
pub fn chainOf(ctx: *Ctx, input: Json) Error!Chain {
    const name = try args.optionalString(ctx, input, "chain", 32) orelse return .ethereum;
    return std.meta.stringToEnum(Chain, name) orelse error.UnsupportedChain;
}

/// The first step of a derived key's path on that chain: 44, or on Bitcoin 84 or 86, depending on the address's form.
pub fn purpose(ctx: *Ctx, input: Json, chain: Chain) Error!u32 {
    return if (chain == .bitcoin) @backingInt(try formOf(ctx, input)) else 44;
}

/// The address of `public` on a chain. Fails with UnsupportedChain if the chain has no address for its curve.
pub fn onChain(ctx: *Ctx, input: Json, chain: Chain, public: curves.PublicKey) Error![]const u8 {
    return switch (chain) {
        .ethereum => ethereum(ctx, input, public),
        .bitcoin => bitcoin(ctx, input, public),
        .cosmos => cosmosOf(ctx, input, public),
    };
}

/// For a P-256 key, the smart account that the factory deploys or will deploy. For a secp256k1 key, the account that
/// the key controls directly; arguments for a factory are then refused.
pub fn ethereum(ctx: *Ctx, input: Json, public: curves.PublicKey) Error![]const u8 {
    if (public.curve == .p256) return eth.checksummed(ctx.arena, try smartAccount(ctx, input, public));
    inline for (.{ "factory", "implementation", "salt" }) |name| {
        if (args.field(input, name) != null) return ctx.fail(error.InvalidField, name);
    }
    return eth.checksummed(ctx.arena, public.hash()[12..32].*);
}

/// The clone of `implementation` that `factory` deploys for the key and `salt`. The defaults are the contract set's
/// addresses and salt 0. Fails with UnsupportedCurve for a secp256k1 key, whose signatures the account cannot verify.
pub fn smartAccount(ctx: *Ctx, input: Json, public: curves.PublicKey) Error!eth.Address {
    if (public.curve != .p256) return error.UnsupportedCurve;
    const factory = try optionalAddress(ctx, input, "factory") orelse contract_set.app_factory;
    const implementation = try optionalAddress(ctx, input, "implementation") orelse contract_set.vault_account;
    return eth.cloneAddress(factory, implementation, public.x, public.y, try saltOf(ctx, input));
}

/// `form` "p2wpkh" (the default): pay-to-witness-public-key-hash (BIP-84); "p2tr": pay-to-taproot, key path
/// only (BIP-86).
fn bitcoin(ctx: *Ctx, input: Json, public: curves.PublicKey) Error![]const u8 {
    const form = try formOf(ctx, input);
    if (public.curve != .secp256k1) return error.UnsupportedChain;
    return switch (form) {
        .p2tr => bech32.encode(ctx.arena, "bc", 1, &try taprootKey(public), .bech32m),
        .p2wpkh => bech32.encode(ctx.arena, "bc", 0, &try hashes.hash160(&public.compressed()), .bech32),
    };
}

fn formOf(ctx: *Ctx, input: Json) Error!Form {
    const name = try args.optionalString(ctx, input, "form", 16) orelse return .p2wpkh;
    return std.meta.stringToEnum(Form, name) orelse ctx.fail(error.InvalidField, "form");
}

fn taprootKey(public: curves.PublicKey) Error![32]u8 {
    const even = Secp256k1.fromSec1(&([1]u8{2} ++ public.x)) catch return error.InvalidKey;
    const tweak = Secp256k1.scalar.Scalar.fromBytes(tagged("TapTweak", &public.x), .big) catch
        return error.CryptoFailure;
    const shift = Secp256k1.basePoint.mulPublic(tweak.toBytes(.big), .big) catch return error.CryptoFailure;
    return even.add(shift).affineCoordinates().x.toBytes(.big);
}

fn cosmosOf(ctx: *Ctx, input: Json, public: curves.PublicKey) Error![]const u8 {
    const prefix = try args.optionalString(ctx, input, "prefix", 20) orelse "cosmos";
    for (prefix) |letter| if (!std.ascii.isLower(letter)) return ctx.fail(error.InvalidField, "prefix");
    if (prefix.len == 0) return ctx.fail(error.InvalidField, "prefix");
    for (other_hashes) |other| if (std.mem.eql(u8, prefix, other)) return ctx.fail(error.UnsupportedChain, "prefix");
    return cosmos(ctx.arena, prefix, public);
}

/// For a secp256k1 key, the 20-byte hash that Bitcoin and the original Cosmos chains use. For a P-256 key, ADR-028 of
/// the Cosmos SDK with the protobuf name of the key's type.
pub fn cosmos(arena: std.mem.Allocator, prefix: []const u8, public: curves.PublicKey) Error![]const u8 {
    return switch (public.curve) {
        .secp256k1 => bech32.encode(arena, prefix, null, &try hashes.hash160(&public.compressed()), .bech32),
        .p256 => bech32.encode(arena, prefix, null, &typedHash("cosmos.crypto.secp256r1.PubKey", public), .bech32),
    };
}

/// ADR-028 of the Cosmos SDK: SHA-256 of the hashed key type and the compressed key.
pub fn typedHash(comptime kind: []const u8, public: curves.PublicKey) [32]u8 {
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

pub fn optionalAddress(ctx: *Ctx, input: Json, name: []const u8) Error!?eth.Address {
    const text = try args.optionalString(ctx, input, name, 42) orelse return null;
    return eth.parseAddress(text) catch |err| ctx.fail(err, name);
}

pub fn saltOf(ctx: *Ctx, input: Json) Error!eth.Word {
    const given = args.field(input, "salt") orelse return eth.word(0);
    return switch (given) {
        .integer => |number| if (number >= 0) eth.word(@intCast(number)) else ctx.fail(error.InvalidField, "salt"),
        .string => |text| eth.parseQuantity(text) catch |err| ctx.fail(err, "salt"),
        else => ctx.fail(error.InvalidField, "salt"),
    };
}
