//! did:key (W3C CCG) for Ed25519, P-256 and secp256k1: parsing, formatting and verifying, and the did:new of a key.

const std = @import("std");
const base58 = @import("base58.zig");
const varint = @import("varint.zig");
const varsig = @import("varsig.zig");
const Allocator = std.mem.Allocator;
const Ed25519 = std.crypto.sign.Ed25519;
const P256 = std.crypto.sign.ecdsa.EcdsaP256Sha256;
const Secp256k1 = std.crypto.sign.ecdsa.EcdsaSecp256k1Sha256;
const Keccak256 = std.crypto.hash.sha3.Keccak256;

pub const Error = error{ DidKeyInvalid, DidKeyUnsupported, OutOfMemory };
pub const VerifyError = error{ SignatureInvalid, DidKeyInvalid };

const prefix = "did:key:z";

/// Longest did:key that is read, in characters; one with an (unsupported) RSA key of 4096 bits has about 730.
pub const max_text = prefix.len + base58.max_length;

/// Length of every did:new, in characters: its prefix and 64 hex digits.
pub const did_new_length = "did:new:0x".len + 64;

pub const PublicKey = union(varsig.Algorithm) {
    ed25519: [32]u8,
    p256: [33]u8,
    secp256k1: [33]u8,

    /// The key's bytes, which follow the multicodec prefix.
    pub fn bytes(self: *const PublicKey) []const u8 {
        return switch (self.*) {
            inline else => |*key| key,
        };
    }

    /// Succeeds if `signature` (64 bytes: r‖s, or EdDSA's R‖S) is this key's signature of `message`.
    pub fn verify(self: PublicKey, message: []const u8, signature: []const u8) VerifyError!void {
        if (signature.len != 64) return error.SignatureInvalid;
        switch (self) {
            .ed25519 => |key| try verifyEd25519(key, message, signature[0..64].*),
            .p256 => |key| try verifyEcdsa(P256, &key, message, signature[0..64].*),
            .secp256k1 => |key| try verifyEcdsa(Secp256k1, &key, message, signature[0..64].*),
        }
    }

    /// did:new:0x + Keccak-256 of X‖Y, or null for Ed25519, which has no did:new.
    pub fn didNew(self: PublicKey) Error!?[did_new_length]u8 {
        const point = switch (self) {
            .ed25519 => return null,
            .p256 => |key| (P256.PublicKey.fromSec1(&key) catch return error.DidKeyInvalid).toUncompressedSec1(),
            .secp256k1 => |key| (Secp256k1.PublicKey.fromSec1(&key) catch
                return error.DidKeyInvalid).toUncompressedSec1(),
        };
        var digest: [32]u8 = undefined;
        Keccak256.hash(point[1..], &digest, .{});
        return "did:new:0x".* ++ std.fmt.bytesToHex(digest, .lower);
    }
};

fn verifyEd25519(key: [32]u8, message: []const u8, signature: [64]u8) VerifyError!void {
    const public_key = Ed25519.PublicKey.fromBytes(key) catch return error.DidKeyInvalid;
    Ed25519.Signature.fromBytes(signature).verify(message, public_key) catch return error.SignatureInvalid;
}

fn verifyEcdsa(Scheme: type, key: []const u8, message: []const u8, signature: [64]u8) VerifyError!void {
    const public_key = Scheme.PublicKey.fromSec1(key) catch return error.DidKeyInvalid;
    Scheme.Signature.fromBytes(signature).verify(message, public_key) catch return error.SignatureInvalid;
}

/// Reads a did:key. Fails with DidKeyInvalid for a point that is not on its curve, and with DidKeyUnsupported for other
/// kinds of keys.
pub fn parse(arena: Allocator, did: []const u8) Error!PublicKey {
    if (!std.mem.startsWith(u8, did, prefix)) return error.DidKeyInvalid;
    var rest = base58.decode(arena, did[prefix.len..]) catch |err| return switch (err) {
        error.Base58Invalid => error.DidKeyInvalid,
        error.OutOfMemory => error.OutOfMemory,
    };
    const code = varint.take(&rest) catch return error.DidKeyInvalid;
    return switch (code) {
        0xed => parseEd25519(rest),
        0x1200 => parseCurve(.p256, P256, rest),
        0xe7 => parseCurve(.secp256k1, Secp256k1, rest),
        else => error.DidKeyUnsupported,
    };
}

fn parseEd25519(bytes: []const u8) Error!PublicKey {
    if (bytes.len != 32) return error.DidKeyInvalid;
    _ = Ed25519.PublicKey.fromBytes(bytes[0..32].*) catch return error.DidKeyInvalid;
    return .{ .ed25519 = bytes[0..32].* };
}

fn parseCurve(comptime tag: varsig.Algorithm, Scheme: type, bytes: []const u8) Error!PublicKey {
    if (bytes.len != 33) return error.DidKeyInvalid;
    _ = Scheme.PublicKey.fromSec1(bytes) catch return error.DidKeyInvalid;
    return @unionInit(PublicKey, @tagName(tag), bytes[0..33].*);
}

/// The key from its SEC 1 bytes (compressed or not) or 32 Ed25519 bytes, whose point must be on the curve.
pub fn fromSec1(algorithm: varsig.Algorithm, bytes: []const u8) Error!PublicKey {
    return switch (algorithm) {
        .ed25519 => parseEd25519(bytes),
        .p256 => .{ .p256 = (P256.PublicKey.fromSec1(bytes) catch return error.DidKeyInvalid).toCompressedSec1() },
        .secp256k1 => .{
            .secp256k1 = (Secp256k1.PublicKey.fromSec1(bytes) catch return error.DidKeyInvalid).toCompressedSec1(),
        },
    };
}

pub fn format(arena: Allocator, key: PublicKey) error{OutOfMemory}![]const u8 {
    const code: []const u8 = switch (key) {
        .ed25519 => &.{ 0xed, 0x01 },
        .p256 => &.{ 0x80, 0x24 },
        .secp256k1 => &.{ 0xe7, 0x01 },
    };
    const body = try std.mem.concat(arena, u8, &.{ code, key.bytes() });
    const text = base58.encode(arena, body) catch return error.OutOfMemory;
    return std.mem.concat(arena, u8, &.{ prefix, text });
}

test "published did:key identifiers of the three kinds" {
    var arena = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena.deinit();
    const cases = .{
        .{ "did:key:z6MkmT9j6fVZqzXV8u2wVVSu49gYSRYGSQnduWXF6foAJrqz", varsig.Algorithm.ed25519 },
        .{ "did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169", varsig.Algorithm.p256 },
        .{ "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme", varsig.Algorithm.secp256k1 },
    };
    inline for (cases) |case| {
        const key = try parse(arena.allocator(), case[0]);
        try std.testing.expectEqual(case[1], std.meta.activeTag(key));
        try std.testing.expectEqualStrings(case[0], try format(arena.allocator(), key));
    }
    try std.testing.expectError(error.DidKeyInvalid, parse(arena.allocator(), "did:web:example.com"));
}
