//! The hash of an ERC-4337 user operation, as the account signs it, for EntryPoint v0.7, v0.8 and v0.9.

const std = @import("std");
const args = @import("../call/args.zig");
const contract_set = @import("contract_set.zig");
const encoding = @import("../codec/encoding.zig");
const eth = @import("eth.zig");
const hashes = @import("../crypto/hashes.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = @import("../codec/json.zig").Json;
const Word = eth.Word;

const max_bytes = 128 << 10;

/// The first bytes of keccak("PaymasterSignature"), which in v0.9 come last in paymaster data that includes a
/// signature.
const signature_mark = [8]u8{ 0x22, 0xe3, 0x25, 0xa2, 0x97, 0x43, 0x96, 0x56 };

const Version = enum { v07, v08, v09 };

/// The operation's hash for an entry point. Fails with UnsupportedEntryPoint for an unknown address.
pub fn hash(ctx: *Ctx, op: Json, entry_point: eth.Address, chain_id: u64) Error!Word {
    const version = versionOf(entry_point) orelse return error.UnsupportedEntryPoint;
    const fields = try packed_(ctx, op, version);
    if (version == .v07) return hashV07(fields, entry_point, chain_id);
    try refuseDelegation(ctx, op);
    return hashV08(fields, entry_point, chain_id);
}

fn versionOf(entry_point: eth.Address) ?Version {
    if (std.mem.eql(u8, &entry_point, &contract_set.entry_point_v07)) return .v07;
    if (std.mem.eql(u8, &entry_point, &contract_set.entry_point_v08)) return .v08;
    return if (std.mem.eql(u8, &entry_point, &contract_set.entry_point_v09)) .v09 else null;
}

/// sender, nonce, keccak(initCode), keccak(callData), accountGasLimits, preVerificationGas, gasFees,
/// keccak(paymasterAndData): the words that every version hashes.
const Packed = [8]Word;

/// Refuses an operation with an EIP-7702 delegation, whose factory is 0x7702. v0.8 and v0.9 would hash the delegate's
/// address, which the operation does not contain, and so reject the signature.
fn refuseDelegation(ctx: *Ctx, op: Json) Error!void {
    if (args.field(op, "factory") == null) return;
    if (std.mem.eql(u8, &try address(ctx, op, "factory"), &([2]u8{ 0x77, 0x02 } ++ @as([18]u8, @splat(0)))))
        return ctx.fail(error.InvalidField, "factory");
}

fn hashV07(fields: Packed, entry_point: eth.Address, chain_id: u64) Word {
    return eth.hashWords(&.{ eth.hashWords(&fields), eth.padded(entry_point), eth.word(chain_id) });
}

fn hashV08(fields: Packed, entry_point: eth.Address, chain_id: u64) Word {
    const type_hash = comptime typeHash("PackedUserOperation(address sender,uint256 nonce," ++
        "bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees," ++
        "bytes paymasterAndData)");
    const domain_type = comptime typeHash(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)",
    );
    const name = comptime typeHash("ERC4337");
    const version = comptime typeHash("1");
    const domain = eth.hashWords(&.{ domain_type, name, version, eth.word(chain_id), eth.padded(entry_point) });
    const structure = eth.hashWords(&([1]Word{type_hash} ++ fields));
    const preimage = [2]u8{ 0x19, 0x01 } ++ domain ++ structure;
    return hashes.keccak(&preimage);
}

fn packed_(ctx: *Ctx, op: Json, version: Version) Error!Packed {
    if (op != .object) return ctx.fail(error.InvalidField, "user_op");
    return .{
        eth.padded(try address(ctx, op, "sender")),
        try quantity(ctx, op, "nonce"),
        try initCodeHash(ctx, op),
        hashes.keccak(try bytesOf(ctx, op, "callData")),
        try halves(ctx, op, "verificationGasLimit", "callGasLimit"),
        try quantity(ctx, op, "preVerificationGas"),
        try halves(ctx, op, "maxPriorityFeePerGas", "maxFeePerGas"),
        try paymasterHash(ctx, op, version),
    };
}

fn initCodeHash(ctx: *Ctx, op: Json) Error!Word {
    if (args.field(op, "factory") == null) {
        if (try hasBytes(ctx, op, "factoryData")) return ctx.fail(error.InvalidField, "factoryData");
        return hashes.keccak("");
    }
    const factory = try address(ctx, op, "factory");
    const data = if (args.field(op, "factoryData") == null) "" else try bytesOf(ctx, op, "factoryData");
    return hashes.keccak(try std.mem.concat(ctx.arena, u8, &.{ &factory, data }));
}

fn paymasterHash(ctx: *Ctx, op: Json, version: Version) Error!Word {
    const signature = try paymasterSignature(ctx, op, version);
    if (args.field(op, "paymaster") == null) {
        if (signature.len > 0) return ctx.fail(error.InvalidField, "paymasterSignature");
        if (try hasBytes(ctx, op, "paymasterData")) return ctx.fail(error.InvalidField, "paymasterData");
        return hashes.keccak("");
    }
    const paymaster = try address(ctx, op, "paymaster");
    // EntryPoint v0.7 takes the zero address for "no paymaster" and charges the account, which the operation hides.
    if (std.mem.allEqual(u8, &paymaster, 0)) return ctx.fail(error.InvalidField, "paymaster");
    const limits = try halves(ctx, op, "paymasterVerificationGasLimit", "paymasterPostOpGasLimit");
    const data = if (args.field(op, "paymasterData") == null) "" else try bytesOf(ctx, op, "paymasterData");
    if (signature.len == 0 and version != .v09)
        return hashes.keccak(try std.mem.concat(ctx.arena, u8, &.{ &paymaster, &limits, data }));
    const signed = if (signature.len > 0) data else try unsigned(ctx, data) orelse
        return hashes.keccak(try std.mem.concat(ctx.arena, u8, &.{ &paymaster, &limits, data }));
    return hashes.keccak(try std.mem.concat(ctx.arena, u8, &.{ &paymaster, &limits, signed, &signature_mark }));
}

/// The paymaster's own signature, which only v0.9 supports.
fn paymasterSignature(ctx: *Ctx, op: Json, version: Version) Error![]const u8 {
    if (!try hasBytes(ctx, op, "paymasterSignature")) return "";
    if (version != .v09) return ctx.fail(error.InvalidField, "paymasterSignature");
    const signature = try bytesOf(ctx, op, "paymasterSignature");
    return if (signature.len <= std.math.maxInt(u16))
        signature
    else
        ctx.fail(error.ValueTooLarge, "paymasterSignature");
}

/// The paymaster's data without the paymaster's signature, which v0.9 does not hash. Signed data ends with the
/// signature, its length in two bytes, and the mark. Returns null for data without a signature. Refuses a length that
/// exceeds the length of the data, as the entry point does.
fn unsigned(ctx: *Ctx, data: []const u8) Error!?[]const u8 {
    if (data.len < 10 or !std.mem.endsWith(u8, data, &signature_mark)) return null;
    const length = std.mem.readInt(u16, data[data.len - 10 ..][0..2], .big);
    if (length > data.len - 10) return ctx.fail(error.InvalidField, "paymasterData");
    return if (length == 0) null else data[0 .. data.len - 10 - length];
}

/// Two 128-bit numbers in one word; an absent number is zero.
fn halves(ctx: *Ctx, op: Json, high: []const u8, low: []const u8) Error!Word {
    return (try half(ctx, op, high)) ++ (try half(ctx, op, low));
}

fn half(ctx: *Ctx, op: Json, name: []const u8) Error![16]u8 {
    const optional = std.mem.startsWith(u8, name, "paymaster");
    if (optional and args.field(op, name) == null) return @splat(0);
    const value = try quantity(ctx, op, name);
    for (value[0..16]) |byte| if (byte != 0) return ctx.fail(error.InvalidField, name);
    return value[16..32].*;
}

fn quantity(ctx: *Ctx, op: Json, name: []const u8) Error!Word {
    return eth.parseQuantity(try args.string(ctx, op, name, 66)) catch |err| ctx.fail(err, name);
}

fn address(ctx: *Ctx, op: Json, name: []const u8) Error!eth.Address {
    return eth.parseAddress(try args.string(ctx, op, name, 42)) catch |err| ctx.fail(err, name);
}

/// The bytes of a `0x`-prefixed hex field; operations use no other form.
fn bytesOf(ctx: *Ctx, op: Json, name: []const u8) Error![]const u8 {
    const text = try args.string(ctx, op, name, 2 + 2 * max_bytes);
    if (!std.mem.startsWith(u8, text, "0x")) return ctx.fail(error.InvalidField, name);
    return encoding.fromHex(ctx.arena, text[2..]) catch |err| ctx.fail(err, name);
}

fn hasBytes(ctx: *Ctx, op: Json, name: []const u8) Error!bool {
    if (args.field(op, name) == null) return false;
    return (try bytesOf(ctx, op, name)).len > 0;
}

fn typeHash(comptime text: []const u8) Word {
    @setEvalBranchQuota(1_000_000);
    return hashes.keccak(text);
}
