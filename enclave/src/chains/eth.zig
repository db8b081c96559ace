//! Ethereum's encodings: addresses, words, hashes, selectors and the dynamic part of ABI data.

const std = @import("std");
const encoding = @import("../codec/encoding.zig");
const hashes = @import("../crypto/hashes.zig");
const Error = @import("../platform/errors.zig").Error;
const Allocator = std.mem.Allocator;

pub const Address = [20]u8;
pub const Word = [32]u8;

/// The address in EIP-55 mixed case.
pub fn checksummed(arena: Allocator, address: Address) Error![]u8 {
    const text = try encoding.hex(arena, &address);
    const digest = hashes.keccak(text[2..]);
    for (text[2..], 0..) |*digit, i| {
        const nibble = if (i % 2 == 0) digest[i / 2] >> 4 else digest[i / 2] & 15;
        if (nibble > 7) digit.* = std.ascii.toUpper(digit.*);
    }
    return text;
}

/// A `0x` address of 40 hex digits, in upper, lower or mixed case.
pub fn parseAddress(text: []const u8) Error!Address {
    if (text.len != 42 or !std.mem.startsWith(u8, text, "0x")) return error.InvalidField;
    var address: Address = undefined;
    _ = std.fmt.hexToBytes(&address, text[2..]) catch return error.InvalidField;
    return address;
}

/// A `0x`-prefixed hex number of at most 64 digits, like a JSON-RPC quantity; leading zeros are accepted.
pub fn parseQuantity(text: []const u8) Error!Word {
    if (text.len < 3 or text.len > 66 or !std.mem.startsWith(u8, text, "0x")) return error.InvalidField;
    const value = std.fmt.parseInt(u256, text[2..], 16) catch return error.InvalidField;
    if (std.mem.indexOfAny(u8, text[2..], "_+-") != null) return error.InvalidField; // parseInt accepts these
    return word(value);
}

pub fn word(value: u256) Word {
    var bytes: Word = undefined;
    std.mem.writeInt(u256, &bytes, value, .big);
    return bytes;
}

/// An address as a 32-byte word.
pub fn padded(address: Address) Word {
    return @as([12]u8, @splat(0)) ++ address;
}

/// Keccak-256 of concatenated words, which is the hash of abi.encode for static values.
pub fn hashWords(words: []const Word) Word {
    return hashes.keccak(std.mem.sliceAsBytes(words));
}

/// A function's selector, computed at compile time: the first four bytes of its signature's hash.
pub fn selector(comptime signature: []const u8) [4]u8 {
    return comptime blk: {
        @setEvalBranchQuota(200_000);
        break :blk hashes.keccak(signature)[0..4].*;
    };
}

/// The CREATE2 address of the EIP-1167 clone that the account factory deploys, with the key at the end of its code.
pub fn cloneAddress(factory: Address, implementation: Address, x: Word, y: Word, salt: Word) Address {
    const prefix = [_]u8{
        0x61, 0x00, 0x6d, 0x3d, 0x81, 0x60, 0x0a, 0x3d, 0x39, 0xf3,
        0x36, 0x3d, 0x3d, 0x37, 0x3d, 0x3d, 0x3d, 0x36, 0x3d, 0x73,
    };
    const suffix = [_]u8{ 0x5a, 0xf4, 0x3d, 0x82, 0x80, 0x3e, 0x90, 0x3d, 0x91, 0x60, 0x2b, 0x57, 0xfd, 0x5b, 0xf3 };
    const code = prefix ++ implementation ++ suffix ++ x ++ y;
    const preimage = [1]u8{0xff} ++ factory ++ salt ++ hashes.keccak(&code);
    return hashes.keccak(&preimage)[12..32].*;
}

/// Appends bytes as dynamic ABI data: the length, the data, and zeros up to a whole word.
pub fn appendDynamic(arena: Allocator, out: *std.ArrayList(u8), data: []const u8) Error!void {
    try out.appendSlice(arena, &word(data.len));
    try out.appendSlice(arena, data);
    try out.appendNTimes(arena, 0, (32 - data.len % 32) % 32);
}
