//! Creates IPNS records for Ed25519 keys (IPNS specification), only of version 2 and in canonical form.

const std = @import("std");
const base36 = @import("base36.zig");
const cbor = @import("cbor.zig");
const cid = @import("cid.zig");
const ipld = @import("ipld.zig");
const varint = @import("varint.zig");
const Allocator = std.mem.Allocator;

pub const Error = cbor.Error;

/// A record's contents.
pub const Entry = struct {
    /// The text of the CID to which the name points.
    root_cid: []const u8,
    /// The sequence number, which increases with every change.
    sequence: u64,
    /// When the record expires: RFC 3339 in UTC with nine fractional digits.
    validity: []const u8,
    /// How long a reader may cache the record before requesting it again, in nanoseconds.
    ttl_ns: u64,
};

/// The start of libp2p's protobuf PublicKey: type 1 (Ed25519), then the length of the 32-byte key that follows.
const key_prefix = [_]u8{ 0x08, 0x01, 0x12, 0x20 };

/// The start of a name's CID: version 1, codec libp2p-key, and an identity multihash, which contains the key itself.
const name_prefix = [_]u8{ 0x01, 0x72, 0x00, key_prefix.len + 32 };

/// The IPNS name of the key in base36: `k51…`.
pub fn name(arena: Allocator, public_key: [32]u8) error{OutOfMemory}![]const u8 {
    const digits = base36.encode(arena, &(name_prefix ++ key_prefix ++ public_key)) catch return error.OutOfMemory;
    return std.mem.concat(arena, u8, &.{ "k", digits });
}

/// The DAG-CBOR of an entry, which the record contains and which its signature covers.
pub fn data(arena: Allocator, entry: Entry) Error![]const u8 {
    const value = try std.mem.concat(arena, u8, &.{ "/ipfs/", entry.root_cid });
    return cbor.encode(arena, .dag, .{
        .map = &.{
            ipld.field("Value", .{ .bytes = value }),
            ipld.field("Validity", .{ .bytes = entry.validity }),
            ipld.field("ValidityType", .{ .int = 0 }), // EOL: valid until `Validity`
            ipld.field("Sequence", .{ .int = entry.sequence }),
            ipld.field("TTL", .{ .int = entry.ttl_ns }),
        },
    });
}

/// The bytes that the signature of version 2 covers.
pub fn signed(arena: Allocator, encoded: []const u8) error{OutOfMemory}![]const u8 {
    return std.mem.concat(arena, u8, &.{ "ipns-signature:", encoded });
}

/// The record, which is the protobuf IpnsEntry with the fields 8 (signatureV2) and 9 (data).
pub fn record(arena: Allocator, signature: [64]u8, encoded: []const u8) error{OutOfMemory}![]const u8 {
    var buffer: [varint.max_length]u8 = undefined;
    return std.mem.concat(arena, u8, &.{
        &.{ 8 << 3 | 2, signature.len }, &signature, &.{9 << 3 | 2}, varint.put(&buffer, encoded.len), encoded,
    });
}

/// Whether the text is a canonical CID (base32, version 1) with DAG-CBOR and SHA-256, as a snapshot root's must be.
pub fn isRoot(arena: Allocator, text: []const u8) error{OutOfMemory}!bool {
    const bytes = cid.fromText(arena, text) catch |err|
        return if (err == error.OutOfMemory) error.OutOfMemory else false;
    const parsed = cid.parse(bytes) catch return false;
    if (parsed.version != 1 or parsed.codec != cid.dag_cbor or parsed.hash != cid.sha2_256) return false;
    const canonical = cid.toText(arena, bytes) catch |err|
        return if (err == error.OutOfMemory) error.OutOfMemory else false;
    return std.mem.eql(u8, text, canonical);
}
