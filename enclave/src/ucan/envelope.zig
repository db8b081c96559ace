//! The UCAN 1.0 envelope: [signature, {h: varsig header, "ucan/<kind>@<version>": payload}] in DAG-CBOR.
//!
//! The signature covers the encoded second element. Decoding is strict, so these bytes are a slice of the token.

const std = @import("std");
const cbor = @import("../codec/cbor.zig");
const cid = @import("../codec/cid.zig");
const did_key = @import("../codec/did_key.zig");
const ipld = @import("../codec/ipld.zig");
const varsig = @import("../codec/varsig.zig");
const Allocator = std.mem.Allocator;

pub const Error = error{ UcanMalformed, UcanUnsupportedVersion } || varsig.Error || cbor.Error;

/// Longest token, in bytes.
pub const max_bytes = 64 << 10;

pub const Kind = enum {
    delegation,
    invocation,

    pub fn tag(self: Kind, version: Version) []const u8 {
        return switch (self) {
            .delegation => if (version == .@"1.0.0") "ucan/dlg@1.0.0" else "ucan/dlg@1.0.0-rc.1",
            .invocation => if (version == .@"1.0.0") "ucan/inv@1.0.0" else "ucan/inv@1.0.0-rc.1",
        };
    }
};

/// The supported versions: the release, and the release candidate, whose tokens differ only in the tag.
pub const Version = enum {
    @"1.0.0",
    @"1.0.0-rc.1",

    /// The version that is minted unless another is requested (docs/decisions/0320).
    pub const minted: Version = .@"1.0.0-rc.1";
};

pub const Envelope = struct {
    /// The whole token.
    bytes: []const u8,
    kind: Kind,
    algorithm: varsig.Algorithm,
    signature: []const u8,
    /// The bytes that the signature covers.
    signed: []const u8,
    payload: ipld.Value,
    cid: [cid.length]u8,
    /// The CID of the same token with the other valid form of its ECDSA signature. Anyone can convert one form of a
    /// signature to the other, which must not make it possible to evade a revocation.
    twin: ?[cid.length]u8,
    /// The CID of the form with the low s. Counters and records use that CID for both forms of the token.
    canonical: [cid.length]u8,
};

/// Splits a token into its parts. Checks the token's form but not its signature.
pub fn decode(arena: Allocator, bytes: []const u8) Error!Envelope {
    if (bytes.len > max_bytes) return error.CborTooLarge;
    if (bytes.len == 0 or bytes[0] != 0x82) return error.UcanMalformed;
    var rest = bytes[1..];
    const signature = try cbor.decodePrefix(arena, .dag, &rest);
    const signed = rest;
    const body = try cbor.decode(arena, .dag, signed);
    if (signature != .bytes or body != .map or body.map.len != 2) return error.UcanMalformed;
    const header = body.get("h") orelse return error.UcanMalformed;
    if (header != .bytes) return error.UcanMalformed;
    const algorithm = try varsig.parse(header.bytes);
    const kind = try kindOf(body.map[1].key.text);
    const own = cid.of(cid.dag_cbor, bytes);
    const other = try otherOf(arena, algorithm, bytes, signature.bytes);
    return .{
        .bytes = bytes,
        .kind = kind,
        .algorithm = algorithm,
        .signature = signature.bytes,
        .signed = signed,
        .payload = body.map[1].value,
        .cid = own,
        .twin = if (other) |form| form.cid else null,
        .canonical = if (other) |form| if (form.low) form.cid else own else own,
    };
}

fn kindOf(tag: []const u8) Error!Kind {
    for (std.enums.values(Kind)) |kind| {
        for (std.enums.values(Version)) |version| if (std.mem.eql(u8, kind.tag(version), tag)) return kind;
    }
    const known = std.mem.startsWith(u8, tag, "ucan/dlg@") or std.mem.startsWith(u8, tag, "ucan/inv@");
    return if (known) error.UcanUnsupportedVersion else error.UcanMalformed;
}

/// The CID of the token with the other s in its ECDSA signature, and whether that s is low.
const Other = struct { cid: [cid.length]u8, low: bool };

fn otherOf(arena: Allocator, algorithm: varsig.Algorithm, bytes: []const u8, signature: []const u8) Error!?Other {
    if (algorithm == .ed25519 or signature.len != 64) return null;
    const s = signature[32..64].*;
    const negated = switch (algorithm) {
        .p256 => std.crypto.ecc.P256.scalar.neg(s, .big) catch return null,
        .secp256k1 => std.crypto.ecc.Secp256k1.scalar.neg(s, .big) catch return null,
        .ed25519 => unreachable, // returned above
    };
    const copy = try arena.dupe(u8, bytes);
    @memcpy(copy[3 + 32 ..][0..32], &negated); // 0x82, then the two-byte head of 64 bytes
    return .{ .cid = cid.of(cid.dag_cbor, copy), .low = std.mem.order(u8, &negated, &s) == .lt };
}

/// A key, and a function that signs whole messages, which it hashes if the algorithm requires it.
pub const Signer = struct {
    key: did_key.PublicKey,
    context: *anyopaque,
    sign: *const fn (context: *anyopaque, message: []const u8) SignError![64]u8,

    pub const SignError = error{SigningFailed};
};

/// Signs `payload` and returns the token.
pub fn seal(
    arena: Allocator,
    kind: Kind,
    version: Version,
    payload: ipld.Value,
    signer: Signer,
) (Error || Signer.SignError)![]const u8 {
    const body: ipld.Value = .{ .map = &.{
        ipld.field("h", .{ .bytes = varsig.header(signer.key) }),
        ipld.field(kind.tag(version), payload),
    } };
    const signed = try cbor.encode(arena, .dag, body);
    const signature = try signer.sign(signer.context, signed);
    const token = try std.mem.concat(arena, u8, &.{ &.{ 0x82, 0x58, 0x40 }, &signature, signed });
    return if (token.len > max_bytes) error.CborTooLarge else token;
}
