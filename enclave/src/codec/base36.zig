//! Base36, lower case, without padding: multibase `k`, the usual form of an IPNS name.

const std = @import("std");
const Allocator = std.mem.Allocator;

pub const Error = error{ Base36Invalid, OutOfMemory };

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";

/// Longest input that is encoded, in bytes; encoding takes quadratic time.
const max_length = 64;

/// The base36 digits of `bytes`, read as one big-endian number. Refuses a leading zero byte, which no CID has.
pub fn encode(arena: Allocator, bytes: []const u8) Error![]const u8 {
    if (bytes.len == 0 or bytes.len > max_length or bytes[0] == 0) return error.Base36Invalid;
    var digits: [max_length * 2]u8 = @splat(0);
    var used: usize = 0;
    for (bytes) |byte| used = shiftAdd(&digits, used, byte);
    const out = try arena.alloc(u8, used);
    for (out, 0..) |*char, i| char.* = alphabet[digits[used - 1 - i]];
    return out;
}

/// `digits` (least significant first) times 256 plus one byte; returns the digits in use.
fn shiftAdd(digits: *[max_length * 2]u8, used_before: usize, byte: u8) usize {
    var used = used_before;
    var carry: u32 = byte;
    for (digits[0..used]) |*digit| {
        carry += @as(u32, digit.*) << 8;
        digit.* = @intCast(carry % 36);
        carry /= 36;
    }
    while (carry > 0) : (carry /= 36) {
        digits[used] = @intCast(carry % 36);
        used += 1;
    }
    return used;
}

test "numbers in base 36" {
    var arena = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena.deinit();
    const cases = .{ .{ "\x01", "1" }, .{ "\x24", "10" }, .{ "\xff", "73" }, .{ "\x01\x00", "74" } };
    inline for (cases) |case| try std.testing.expectEqualStrings(case[1], try encode(arena.allocator(), case[0]));
    inline for (.{ "", "\x00", "\x00\x01" }) |bad|
        try std.testing.expectError(error.Base36Invalid, encode(arena.allocator(), bad));
    try std.testing.expectError(error.Base36Invalid, encode(arena.allocator(), &@as([max_length + 1]u8, @splat(1))));
    const longest = try encode(arena.allocator(), &@as([max_length]u8, @splat(0xff)));
    try std.testing.expectEqual(100, longest.len);
}
