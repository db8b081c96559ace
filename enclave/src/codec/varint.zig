//! Unsigned varints (multiformats): base 128, least significant group first, and only in the shortest form.

const std = @import("std");

pub const Error = error{VarintInvalid};

/// Longest encoding that the specification allows, in bytes (63 bits of value).
pub const max_length = 9;

/// Reads one varint from the front of `rest`.
pub fn take(rest: *[]const u8) Error!u64 {
    var value: u64 = 0;
    for (rest.*, 0..) |byte, i| {
        if (i == max_length) break;
        value |= @as(u64, byte & 0x7f) << @intCast(7 * i);
        if (byte & 0x80 != 0) continue;
        if (byte == 0 and i > 0) return error.VarintInvalid; // a longer form of a smaller number
        rest.* = rest.*[i + 1 ..];
        return value;
    }
    return error.VarintInvalid;
}

/// Writes `value` into `buffer` and returns the part written.
pub fn put(buffer: *[max_length]u8, value: u63) []const u8 {
    var left: u64 = value;
    var i: usize = 0;
    while (left >= 0x80) : (i += 1) {
        buffer[i] = @as(u8, @truncate(left)) | 0x80;
        left >>= 7;
    }
    buffer[i] = @intCast(left);
    return buffer[0 .. i + 1];
}

test "shortest form only, nine bytes at most" {
    var buffer: [max_length]u8 = undefined;
    inline for (.{ 0, 1, 0x7f, 0x80, 0x1200, std.math.maxInt(u63) }) |number| {
        var rest = put(&buffer, number);
        try std.testing.expectEqual(@as(u64, number), try take(&rest));
        try std.testing.expectEqual(0, rest.len);
    }
    var padded: []const u8 = &.{ 0x80, 0x00 };
    try std.testing.expectError(error.VarintInvalid, take(&padded));
    var endless: []const u8 = &@as([12]u8, @splat(0xff));
    try std.testing.expectError(error.VarintInvalid, take(&endless));
    var cut: []const u8 = &.{0x80};
    try std.testing.expectError(error.VarintInvalid, take(&cut));
}
