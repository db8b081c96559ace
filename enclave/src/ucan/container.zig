//! Containers of several tokens (UCAN Container 1.0): a header character, then the CBOR map {"ctn-v1": [token, …]}.
//! Supported headers: `@` raw, `B` base64, `C` base64url. Compressed containers are refused, because a small one can
//! decompress to any size.

const std = @import("std");
const cbor = @import("../codec/cbor.zig");
const envelope = @import("envelope.zig");
const ipld = @import("../codec/ipld.zig");
const Allocator = std.mem.Allocator;

pub const Error = error{ UcanContainerInvalid, UcanContainerCompressed } || cbor.Error;

/// The maximum number of tokens in a container.
pub const max_tokens = 32;

/// The tokens of a container, or `bytes` itself as the only token if it is not a container.
pub fn tokens(arena: Allocator, bytes: []const u8) Error![]const []const u8 {
    if (bytes.len > max_tokens * envelope.max_bytes) return error.CborTooLarge;
    if (bytes.len == 0) return error.UcanContainerInvalid;
    return switch (bytes[0]) {
        '@' => unpack(arena, bytes[1..]),
        'B' => unpack(arena, try decodeBase64(arena, std.base64.standard, bytes[1..])),
        'C' => unpack(arena, try decodeBase64(arena, std.base64.url_safe_no_pad, bytes[1..])),
        'M', 'O', 'P' => error.UcanContainerCompressed,
        else => single(arena, bytes),
    };
}

fn single(arena: Allocator, bytes: []const u8) Error![]const []const u8 {
    return arena.dupe([]const u8, &.{bytes});
}

fn decodeBase64(arena: Allocator, codecs: std.base64.Codecs, text: []const u8) Error![]const u8 {
    const size = codecs.Decoder.calcSizeForSlice(text) catch return error.UcanContainerInvalid;
    const out = try arena.alloc(u8, size);
    codecs.Decoder.decode(out, text) catch return error.UcanContainerInvalid;
    return out;
}

fn unpack(arena: Allocator, bytes: []const u8) Error![]const []const u8 {
    const map = try cbor.decode(arena, .dag, bytes);
    const list = map.get("ctn-v1") orelse return error.UcanContainerInvalid;
    if (map.map.len != 1 or list != .list) return error.UcanContainerInvalid;
    if (list.list.len == 0 or list.list.len > max_tokens) return error.UcanContainerInvalid;
    const out = try arena.alloc([]const u8, list.list.len);
    for (list.list, out) |item, *slot| slot.* = if (item == .bytes) item.bytes else return error.UcanContainerInvalid;
    return out;
}

/// Packs tokens into a base64url container, sorted bytewise and without duplicates, as the specification requires.
pub fn pack(arena: Allocator, items: []const []const u8) Error![]const u8 {
    if (items.len == 0 or items.len > max_tokens) return error.UcanContainerInvalid;
    const sorted = try arena.dupe([]const u8, items);
    std.sort.heap([]const u8, sorted, {}, before);
    var list: std.ArrayList(ipld.Value) = .empty;
    for (sorted, 0..) |item, i| {
        if (i > 0 and std.mem.eql(u8, sorted[i - 1], item)) continue;
        try list.append(arena, .{ .bytes = item });
    }
    const map: ipld.Value = .{ .map = &.{ipld.field("ctn-v1", .{ .list = list.items })} };
    const bytes = try cbor.encode(arena, .dag, map);
    const url = std.base64.url_safe_no_pad.Encoder;
    const out = try arena.alloc(u8, 1 + url.calcSize(bytes.len));
    out[0] = 'C';
    _ = url.encode(out[1..], bytes);
    return out;
}

fn before(_: void, a: []const u8, b: []const u8) bool {
    return std.mem.order(u8, a, b) == .lt;
}
