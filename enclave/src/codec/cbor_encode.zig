//! Writes canonical CBOR, the only encoding that cbor_decode.zig accepts.

const std = @import("std");
const ipld = @import("ipld.zig");
const rules = @import("cbor_rules.zig");
const Allocator = std.mem.Allocator;
const Error = rules.Error;
const Profile = rules.Profile;
const Value = ipld.Value;

/// The canonical encoding of `value`, whose map entries may be in any order.
pub fn encode(arena: Allocator, profile: Profile, value: Value) Error![]const u8 {
    var encoder: Encoder = .{ .arena = arena, .profile = profile };
    try encoder.item(value, ipld.max_depth);
    return encoder.out.items;
}

const Encoded = struct { key: []const u8, value: Value };

const Encoder = struct {
    arena: Allocator,
    profile: Profile,
    out: std.ArrayList(u8) = .empty,

    fn put(self: *Encoder, bytes: []const u8) Error!void {
        if (bytes.len > rules.max_bytes - self.out.items.len) return error.CborTooLarge;
        try self.out.appendSlice(self.arena, bytes);
    }

    fn head(self: *Encoder, major: u8, argument: u64) Error!void {
        const info = rules.shortest(argument);
        try self.put(&.{major << 5 | @as(u8, info)});
        var buffer: [8]u8 = undefined;
        std.mem.writeInt(u64, &buffer, argument, .big);
        const length: usize = if (info < 24) 0 else @as(usize, 1) << @intCast(info - 24);
        try self.put(buffer[8 - length ..]);
    }

    fn item(self: *Encoder, value: Value, depth: u8) Error!void {
        switch (value) {
            .null => try self.put(&.{0xf6}),
            .bool => |b| try self.put(&.{if (b) 0xf5 else 0xf4}),
            .int => |i| try self.int(i),
            .float => |f| try self.float(f),
            .bytes => |b| try self.string(2, b),
            .text => |t| try self.textString(t),
            .link => |l| try self.link(l),
            .list => |items| try self.list(items, depth),
            .map => |entries| try self.map(entries, depth),
        }
    }

    fn int(self: *Encoder, i: i128) Error!void {
        const magnitude = if (i < 0) -1 - i else i;
        const argument = std.math.cast(u64, magnitude) orelse return error.CborUnsupported;
        try self.head(if (i < 0) 1 else 0, argument);
    }

    fn float(self: *Encoder, f: f64) Error!void {
        if (self.profile != .dag or !std.math.isFinite(f)) return error.CborUnsupported;
        var bytes: [9]u8 = undefined;
        bytes[0] = 0xfb;
        std.mem.writeInt(u64, bytes[1..9], @bitCast(f), .big);
        try self.put(&bytes);
    }

    fn string(self: *Encoder, major: u8, bytes: []const u8) Error!void {
        try self.head(major, bytes.len);
        try self.put(bytes);
    }

    fn textString(self: *Encoder, bytes: []const u8) Error!void {
        if (!std.unicode.utf8ValidateSlice(bytes)) return error.CborInvalidUtf8;
        try self.string(3, bytes);
    }

    fn link(self: *Encoder, bytes: []const u8) Error!void {
        if (self.profile != .dag) return error.CborUnsupported;
        try self.head(6, 42);
        try self.head(2, bytes.len + 1);
        try self.put(&.{0});
        try self.put(bytes);
    }

    fn list(self: *Encoder, items: []const Value, depth: u8) Error!void {
        if (depth == 0) return error.CborTooDeep;
        try self.head(4, items.len);
        for (items) |it| try self.item(it, depth - 1);
    }

    fn map(self: *Encoder, entries: []const ipld.Entry, depth: u8) Error!void {
        if (depth == 0) return error.CborTooDeep;
        const sorted = try self.arena.alloc(Encoded, entries.len);
        for (entries, sorted) |e, *s| s.* = .{ .key = try self.key(e.key), .value = e.value };
        std.sort.heap(Encoded, sorted, {}, before);
        try self.head(5, entries.len);
        for (sorted, 0..) |s, i| {
            if (i > 0 and std.mem.eql(u8, sorted[i - 1].key, s.key)) return error.CborDuplicateKey;
            try self.put(s.key);
            try self.item(s.value, depth - 1);
        }
    }

    fn key(self: *Encoder, k: Value) Error![]const u8 {
        if (k != .text and !(k == .int and self.profile == .ctap2)) return error.CborUnsupported;
        return encode(self.arena, self.profile, k);
    }

    fn before(_: void, a: Encoded, b: Encoded) bool {
        return rules.keyOrder(a.key, b.key) == .lt;
    }
};
