//! RFC 4648 base32, lower case, without padding: multibase `b`, the usual form of a CID.

const std = @import("std");
const Allocator = std.mem.Allocator;

pub const Error = error{ Base32Invalid, OutOfMemory };

const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

pub fn encode(arena: Allocator, bytes: []const u8) Error![]const u8 {
    const out = try arena.alloc(u8, (bytes.len * 8 + 4) / 5);
    var buffer: u32 = 0;
    var bits: u5 = 0;
    var written: usize = 0;
    for (bytes) |byte| {
        buffer = buffer << 8 | byte;
        bits += 8;
        while (bits >= 5) : (written += 1) {
            bits -= 5;
            out[written] = alphabet[buffer >> bits & 31];
        }
        buffer &= 0xff;
    }
    if (bits > 0) out[written] = alphabet[buffer << (5 - bits) & 31];
    return out;
}

/// Refuses lengths and trailing bits that no encoder produces, so that each byte string has only one encoding.
pub fn decode(arena: Allocator, text: []const u8) Error![]const u8 {
    const out = try arena.alloc(u8, text.len * 5 / 8);
    var buffer: u32 = 0;
    var bits: u5 = 0;
    var written: usize = 0;
    for (text) |char| {
        buffer = buffer << 5 | try digit(char);
        bits += 5;
        if (bits >= 8) {
            bits -= 8;
            out[written] = @truncate(buffer >> bits);
            written += 1;
        }
        buffer &= 0xff;
    }
    if (bits >= 5 or buffer & ((@as(u32, 1) << bits) - 1) != 0) return error.Base32Invalid;
    return out;
}

fn digit(char: u8) Error!u32 {
    return switch (char) {
        'a'...'z' => char - 'a',
        '2'...'7' => char - '2' + 26,
        else => error.Base32Invalid,
    };
}

test "RFC 4648 vectors, lower case and unpadded" {
    var arena = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena.deinit();
    const cases = .{
        .{ "", "" },                 .{ "f", "my" },         .{ "fo", "mzxq" },
        .{ "foo", "mzxw6" },         .{ "foob", "mzxw6yq" }, .{ "fooba", "mzxw6ytb" },
        .{ "foobar", "mzxw6ytboi" },
    };
    inline for (cases) |case| {
        try std.testing.expectEqualStrings(case[1], try encode(arena.allocator(), case[0]));
        try std.testing.expectEqualStrings(case[0], try decode(arena.allocator(), case[1]));
    }
    inline for (.{ "m", "mz1", "mzx", "MY", "mz" }) |bad| {
        try std.testing.expectError(error.Base32Invalid, decode(arena.allocator(), bad));
    }
}
