//! Content identifiers (multiformats CIDs): all of version 1, and version 0 as found in links.

const std = @import("std");
const base32 = @import("base32.zig");
const base58 = @import("base58.zig");
const varint = @import("varint.zig");
const Allocator = std.mem.Allocator;
const Sha256 = std.crypto.hash.sha2.Sha256;

pub const Error = error{ CidInvalid, OutOfMemory };

pub const raw = 0x55;
pub const dag_pb = 0x70;
pub const dag_cbor = 0x71;
pub const sha2_256 = 0x12;

/// Binary length of a version 1 CID created here: version, codec, hash function, digest length and digest.
pub const length = 4 + Sha256.digest_length;

/// Longest multihash digest that is accepted, in bytes (SHA-512).
const max_digest = 64;

/// Longest text that is read, in characters. A version 1 CID with a 64-byte digest has about 120 characters.
const max_text = 128;

pub const Cid = struct { version: u8, codec: u64, hash: u64, digest: []const u8 };

/// The CID of `block`, with version 1, SHA-256 and the given codec number.
pub fn of(codec: u7, block: []const u8) [length]u8 {
    var out: [length]u8 = .{ 1, codec, sha2_256, Sha256.digest_length } ++ @as([32]u8, @splat(0));
    Sha256.hash(block, out[4..], .{});
    return out;
}

/// Reads a binary CID. Refuses bytes after its end.
pub fn parse(bytes: []const u8) Error!Cid {
    if (bytes.len == 34 and bytes[0] == sha2_256 and bytes[1] == 32) {
        return .{ .version = 0, .codec = dag_pb, .hash = sha2_256, .digest = bytes[2..] };
    }
    var rest = bytes;
    if (try number(&rest) != 1) return error.CidInvalid;
    const codec = try number(&rest);
    const hash = try number(&rest);
    if (try number(&rest) != rest.len or rest.len > max_digest) return error.CidInvalid;
    if (hash == sha2_256 and rest.len != 32) return error.CidInvalid;
    return .{ .version = 1, .codec = codec, .hash = hash, .digest = rest };
}

fn number(rest: *[]const u8) Error!u64 {
    return varint.take(rest) catch error.CidInvalid;
}

/// The text of a binary CID: base32 for version 1, base58btc for version 0.
pub fn toText(arena: Allocator, bytes: []const u8) Error![]const u8 {
    const parsed = try parse(bytes);
    if (parsed.version == 0) return base58.encode(arena, bytes) catch error.CidInvalid;
    const body = base32.encode(arena, bytes) catch return error.OutOfMemory;
    return std.mem.concat(arena, u8, &.{ "b", body });
}

/// The binary form of a CID's text (multibase `b` or `z`, or a bare version 0).
pub fn fromText(arena: Allocator, text: []const u8) Error![]const u8 {
    const bytes = try decodeText(arena, text);
    const parsed = try parse(bytes);
    const bare = text.len == 46 and std.mem.startsWith(u8, text, "Qm");
    if ((parsed.version == 0) != bare) return error.CidInvalid;
    return bytes;
}

fn decodeText(arena: Allocator, text: []const u8) Error![]const u8 {
    if (text.len < 2 or text.len > max_text) return error.CidInvalid;
    if (text[0] == 'b') return base32.decode(arena, text[1..]) catch error.CidInvalid;
    if (text[0] == 'z') return base58.decode(arena, text[1..]) catch error.CidInvalid;
    if (text[0] == 'Q') return base58.decode(arena, text) catch error.CidInvalid;
    return error.CidInvalid;
}

test "text and binary of well-known identifiers" {
    var arena = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena.deinit();
    const empty = of(raw, "");
    const text = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku";
    try std.testing.expectEqualStrings(text, try toText(arena.allocator(), &empty));
    try std.testing.expectEqualSlices(u8, &empty, try fromText(arena.allocator(), text));
    const v0 = "QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1n";
    try std.testing.expectEqualStrings(v0, try toText(arena.allocator(), try fromText(arena.allocator(), v0)));
    inline for (.{ "", "b", "bafkrei", "zz", "QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1" }) |bad| {
        try std.testing.expectError(error.CidInvalid, fromText(arena.allocator(), bad));
    }
}
