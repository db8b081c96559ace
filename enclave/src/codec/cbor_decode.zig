//! Reads strict CBOR according to the rules in cbor_rules.zig.

const std = @import("std");
const cid = @import("cid.zig");
const ipld = @import("ipld.zig");
const rules = @import("cbor_rules.zig");
const Allocator = std.mem.Allocator;
const Error = rules.Error;
const Profile = rules.Profile;
const Value = ipld.Value;

/// The single value that `bytes` encode. The value refers to `bytes`, and its lists are allocated in `arena`.
pub fn decode(arena: Allocator, profile: Profile, bytes: []const u8) Error!Value {
    var rest = bytes;
    const value = try decodePrefix(arena, profile, &rest);
    if (rest.len != 0) return error.CborTrailingBytes;
    return value;
}

/// Like `decode`, but leaves the bytes after the value in `rest` (authenticator data contains CBOR followed by CBOR).
pub fn decodePrefix(arena: Allocator, profile: Profile, rest: *[]const u8) Error!Value {
    if (rest.len > rules.max_bytes) return error.CborTooLarge;
    var decoder: Decoder = .{ .arena = arena, .profile = profile, .rest = rest.* };
    const value = try decoder.item(ipld.max_depth);
    rest.* = decoder.rest;
    return value;
}

const Head = struct { major: u3, info: u5, argument: u64 };

const Decoder = struct {
    arena: Allocator,
    profile: Profile,
    rest: []const u8,

    fn take(self: *Decoder, count: u64) Error![]const u8 {
        if (count > self.rest.len) return error.CborTruncated;
        const length: usize = @intCast(count);
        defer self.rest = self.rest[length..];
        return self.rest[0..length];
    }

    fn head(self: *Decoder) Error!Head {
        const first = (try self.take(1))[0];
        const major: u3 = @intCast(first >> 5);
        const info: u5 = @truncate(first);
        const argument: u64 = switch (info) {
            0...23 => info,
            24 => std.mem.readInt(u8, (try self.take(1))[0..1], .big),
            25 => std.mem.readInt(u16, (try self.take(2))[0..2], .big),
            26 => std.mem.readInt(u32, (try self.take(4))[0..4], .big),
            27 => std.mem.readInt(u64, (try self.take(8))[0..8], .big),
            28...30 => return error.CborUnsupported,
            31 => return error.CborNotCanonical, // indefinite length, or a stray break
        };
        if (major != 7 and info != rules.shortest(argument)) return error.CborNotCanonical;
        return .{ .major = major, .info = info, .argument = argument };
    }

    fn item(self: *Decoder, depth: u8) Error!Value {
        const h = try self.head();
        return switch (h.major) {
            0 => .{ .int = h.argument },
            1 => .{ .int = -1 - @as(i128, h.argument) },
            2 => .{ .bytes = try self.take(h.argument) },
            3 => .{ .text = try self.utf8(h.argument) },
            4 => self.list(h.argument, depth),
            5 => self.map(h.argument, depth),
            6 => self.link(h.argument),
            7 => self.simple(h),
        };
    }

    fn utf8(self: *Decoder, length: u64) Error![]const u8 {
        const bytes = try self.take(length);
        if (!std.unicode.utf8ValidateSlice(bytes)) return error.CborInvalidUtf8;
        return bytes;
    }

    fn list(self: *Decoder, count: u64, depth: u8) Error!Value {
        const items = try self.arena.alloc(Value, try self.bounded(count, 1, depth));
        for (items) |*it| it.* = try self.item(depth - 1);
        return .{ .list = items };
    }

    fn map(self: *Decoder, count: u64, depth: u8) Error!Value {
        const entries = try self.arena.alloc(ipld.Entry, try self.bounded(count, 2, depth));
        var previous: []const u8 = "";
        for (entries, 0..) |*e, i| {
            const start = self.rest;
            e.key = try self.key(depth - 1);
            const encoded = start[0 .. start.len - self.rest.len];
            if (i > 0) try increasing(previous, encoded);
            previous = encoded;
            e.value = try self.item(depth - 1);
        }
        return .{ .map = entries };
    }

    /// Refuses a count larger than the input could hold, before anything is allocated for it.
    fn bounded(self: *Decoder, count: u64, bytes_each: u64, depth: u8) Error!usize {
        if (depth == 0) return error.CborTooDeep;
        if (count > self.rest.len / bytes_each) return error.CborTruncated;
        return @intCast(count);
    }

    fn key(self: *Decoder, depth: u8) Error!Value {
        const k = try self.item(depth);
        if (k == .text or (k == .int and self.profile == .ctap2)) return k;
        return error.CborUnsupported;
    }

    fn link(self: *Decoder, tag: u64) Error!Value {
        if (tag != 42 or self.profile != .dag) return error.CborUnsupported;
        const h = try self.head();
        if (h.major != 2) return error.CborInvalidLink;
        const bytes = try self.take(h.argument);
        if (bytes.len < 2 or bytes[0] != 0) return error.CborInvalidLink;
        _ = cid.parse(bytes[1..]) catch return error.CborInvalidLink;
        return .{ .link = bytes[1..] };
    }

    fn simple(self: *Decoder, h: Head) Error!Value {
        return switch (h.info) {
            20 => .{ .bool = false },
            21 => .{ .bool = true },
            22 => .null,
            25, 26 => if (self.profile == .dag) error.CborNotCanonical else error.CborUnsupported,
            27 => self.float(h.argument),
            else => error.CborUnsupported,
        };
    }

    fn float(self: *Decoder, bits: u64) Error!Value {
        const number: f64 = @bitCast(bits);
        if (self.profile != .dag or !std.math.isFinite(number)) return error.CborUnsupported;
        return .{ .float = number };
    }
};

fn increasing(previous: []const u8, next: []const u8) Error!void {
    return switch (rules.keyOrder(previous, next)) {
        .lt => {},
        .eq => error.CborDuplicateKey,
        .gt => error.CborNotCanonical,
    };
}
