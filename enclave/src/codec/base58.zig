//! base58btc, with Bitcoin's alphabet, as did:key uses it. Encoding and decoding take quadratic time, so lengths are
//! limited. The module's keys need about 50 characters; the longest did:key of other systems has about 720.

const std = @import("std");
const Allocator = std.mem.Allocator;

pub const Error = error{ Base58Invalid, OutOfMemory };

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Longest text that is decoded, in characters, and longest input that is encoded, in bytes.
pub const max_length = 1024;

const reverse = blk: {
    var table: [256]u8 = @splat(0xff);
    for (alphabet, 0..) |char, i| table[char] = @intCast(i);
    break :blk table;
};

pub fn decode(arena: Allocator, text: []const u8) Error![]const u8 {
    if (text.len > max_length) return error.Base58Invalid;
    var number: [max_length]u8 = @splat(0);
    var used: usize = 0;
    for (text) |char| used = try multiplyAdd(&number, used, reverse[char]);
    const zeros = leading(text, '1');
    const out = try arena.alloc(u8, zeros + used);
    @memset(out[0..zeros], 0);
    for (out[zeros..], 0..) |*byte, i| byte.* = number[used - 1 - i];
    return out;
}

/// `number` (least significant byte first) times 58 plus one digit; returns the bytes in use.
fn multiplyAdd(number: *[max_length]u8, used: usize, digit: u8) Error!usize {
    if (digit == 0xff) return error.Base58Invalid;
    var carry: u16 = digit;
    for (number[0..used]) |*byte| {
        carry += @as(u16, byte.*) * 58;
        byte.* = @truncate(carry);
        carry >>= 8;
    }
    if (carry == 0) return used;
    number[used] = @intCast(carry);
    return used + 1;
}

pub fn encode(arena: Allocator, bytes: []const u8) Error![]const u8 {
    if (bytes.len > max_length) return error.Base58Invalid;
    var digits: [max_length * 2]u8 = @splat(0);
    var used: usize = 0;
    for (bytes) |byte| used = shiftAdd(&digits, used, byte);
    const zeros = leading(bytes, 0);
    const out = try arena.alloc(u8, zeros + used);
    @memset(out[0..zeros], '1');
    for (out[zeros..], 0..) |*char, i| char.* = alphabet[digits[used - 1 - i]];
    return out;
}

fn shiftAdd(digits: *[max_length * 2]u8, used_before: usize, byte: u8) usize {
    var used = used_before;
    var carry: u32 = byte;
    for (digits[0..used]) |*digit| {
        carry += @as(u32, digit.*) << 8;
        digit.* = @intCast(carry % 58);
        carry /= 58;
    }
    while (carry > 0) : (carry /= 58) {
        digits[used] = @intCast(carry % 58);
        used += 1;
    }
    return used;
}

fn leading(bytes: []const u8, wanted: u8) usize {
    for (bytes, 0..) |byte, i| if (byte != wanted) return i;
    return bytes.len;
}

test "published examples of base58btc" {
    var arena = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena.deinit();
    const cases = .{
        .{ "Hello World!", "2NEpo7TZRRrLZSi2U" }, .{ "\x00\x00\x28\x7f\xb4\xcd", "11233QC4" }, .{ "", "" },
    };
    inline for (cases) |case| {
        try std.testing.expectEqualStrings(case[1], try encode(arena.allocator(), case[0]));
        try std.testing.expectEqualStrings(case[0], try decode(arena.allocator(), case[1]));
    }
    try std.testing.expectError(error.Base58Invalid, decode(arena.allocator(), "0OIl"));
    try std.testing.expectError(error.Base58Invalid, decode(arena.allocator(), &@as([max_length + 1]u8, @splat(0x31))));
    const longest = try encode(arena.allocator(), &@as([max_length]u8, @splat(0xff)));
    try std.testing.expect(longest.len > max_length);
}
