//! Hex, base64 and the binary fields of the ABI.

const std = @import("std");
const Error = @import("../platform/errors.zig").Error;
const Allocator = std.mem.Allocator;

// The standard library's base64 encoder, compiled for speed in fast.zig.
extern fn fast_base64(out: [*]u8, out_len: usize, data: [*]const u8, len: usize) void;

/// The bytes of a binary field: an array of numbers 0 to 255, 0x-hex, base64 or base64url (padded or not). If
/// `expected_len` is given, hex of exactly that length needs no 0x.
pub fn decodeBinary(arena: Allocator, value: std.json.Value, expected_len: ?usize) Error![]u8 {
    return switch (value) {
        .array => |list| fromNumbers(arena, list.items),
        .string => |text| fromText(arena, text, expected_len),
        else => error.InvalidField,
    };
}

/// The bytes as lower-case hex with the prefix `0x`.
pub fn hex(arena: Allocator, data: []const u8) Error![]u8 {
    const text = try arena.alloc(u8, 2 + 2 * data.len);
    @memcpy(text[0..2], "0x");
    bareHexInto(text[2..], data);
    return text;
}

/// The bytes as lower-case hex without a prefix.
pub fn bareHex(arena: Allocator, data: []const u8) Error![]u8 {
    const text = try arena.alloc(u8, 2 * data.len);
    bareHexInto(text, data);
    return text;
}

fn bareHexInto(text: []u8, data: []const u8) void {
    const digits = "0123456789abcdef";
    for (data, 0..) |byte, i| {
        text[2 * i] = digits[byte >> 4];
        text[2 * i + 1] = digits[byte & 15];
    }
}

/// The bytes of an even number of hex digits without a prefix.
pub fn fromHex(arena: Allocator, digits: []const u8) Error![]u8 {
    if (digits.len % 2 != 0) return error.InvalidEncoding;
    const data = try arena.alloc(u8, digits.len / 2);
    return std.fmt.hexToBytes(data, digits) catch error.InvalidEncoding;
}

/// Standard base64 with padding, the only form in which the module returns binary fields.
pub fn base64(arena: Allocator, data: []const u8) Error![]u8 {
    const text = try arena.alloc(u8, std.base64.standard.Encoder.calcSize(data.len));
    fast_base64(text.ptr, text.len, data.ptr, data.len);
    return text;
}

/// The base64 as a JSON value that is written verbatim. Base64 needs no escaping, and scanning for characters to escape
/// would take longer than the encoding.
pub fn base64Json(arena: Allocator, data: []const u8) Error!std.json.Value {
    const text = try arena.alloc(u8, std.base64.standard.Encoder.calcSize(data.len) + 2);
    fast_base64(text.ptr + 1, text.len - 2, data.ptr, data.len);
    text[0] = '"';
    text[text.len - 1] = '"';
    return .{ .number_string = text }; // the one kind of value that the standard library writes verbatim
}

/// Base64url without padding, as WebAuthn writes identifiers.
pub fn base64Url(arena: Allocator, data: []const u8) Error![]u8 {
    const text = try arena.alloc(u8, std.base64.url_safe_no_pad.Encoder.calcSize(data.len));
    _ = std.base64.url_safe_no_pad.Encoder.encode(text, data);
    return text;
}

/// The bytes of base64 or base64url, padded or not. Mixed alphabets and nonzero unused bits at the end are refused.
pub fn fromBase64(arena: Allocator, text: []const u8) Error![]u8 {
    const body = withoutPadding(text);
    const url = std.mem.indexOfAny(u8, body, "-_") != null;
    const codec = if (url) std.base64.url_safe_no_pad else std.base64.standard_no_pad;
    const size = codec.Decoder.calcSizeForSlice(body) catch return error.InvalidEncoding;
    const data = try arena.alloc(u8, size);
    codec.Decoder.decode(data, body) catch return error.InvalidEncoding;
    return data;
}

fn withoutPadding(text: []const u8) []const u8 {
    if (text.len % 4 != 0) return text;
    if (std.mem.endsWith(u8, text, "==")) return text[0 .. text.len - 2];
    if (std.mem.endsWith(u8, text, "=")) return text[0 .. text.len - 1];
    return text;
}

fn fromNumbers(arena: Allocator, numbers: []const std.json.Value) Error![]u8 {
    const data = try arena.alloc(u8, numbers.len);
    for (numbers, data) |number, *byte| {
        if (number != .integer) return error.InvalidEncoding;
        byte.* = std.math.cast(u8, number.integer) orelse return error.InvalidEncoding;
    }
    return data;
}

fn fromText(arena: Allocator, text: []const u8, expected_len: ?usize) Error![]u8 {
    if (expected_len) |len| {
        if (text.len == 2 * len and !isHex(text)) return fromHex(arena, text); // `0x` and one byte fewer is as long
    }
    return if (isHex(text)) fromHex(arena, text[2..]) else fromBase64(arena, text);
}

/// Whether the text is `0x` followed only by hex digits. One base64 text in 4096 also begins with 0x.
fn isHex(text: []const u8) bool {
    if (!std.mem.startsWith(u8, text, "0x") and !std.mem.startsWith(u8, text, "0X")) return false;
    for (text[2..]) |digit| if (!std.ascii.isHex(digit)) return false;
    return true;
}
