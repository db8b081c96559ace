//! Verifies that the named passkey made an assertion for this relying party in this ceremony, following the steps of
//! WebAuthn Level 3, section 7.2, in order. Nothing here is secret.

const std = @import("std");
const cbor = @import("../codec/cbor.zig");
const cose = @import("../codec/cose.zig");
const credential = @import("credential.zig");
const did_key = @import("../codec/did_key.zig");
const varsig = @import("../codec/varsig.zig");
const Allocator = std.mem.Allocator;
const P256 = std.crypto.sign.ecdsa.EcdsaP256Sha256;
const Sha256 = std.crypto.hash.sha2.Sha256;

const rsa = std.crypto.Certificate.rsa;

pub const Error = error{ KeyInvalid, KeyUnsupported, OutOfMemory };

/// A passkey's public key. ES256 and EdDSA keys are represented like the keys of DIDs.
pub const Key = union(enum) {
    point: did_key.PublicKey,
    /// `size` is the modulus's length in bytes.
    rs256: struct { public: rsa.PublicKey, size: usize },
};

/// What the relying party requested, and what it stores about the credential.
pub const Expected = struct {
    credential_id: []const u8,
    /// The challenge in base64url without padding, as in client data.
    challenge: []const u8,
    origin: []const u8,
    rp_id: []const u8,
    user_verification: bool,
    /// The origins of pages that may embed the ceremony in a frame. A null in the list allows browsers that do not name
    /// the page; null instead of a list allows no frame.
    top_origins: ?[]const ?[]const u8,
    key: Key,
    /// The counter at the last use, or 0 if the authenticator does not count.
    sign_count: u32,
};

/// The step that failed. The names of steps never change, because callers read them.
pub const FailedStep = enum {
    credential,
    challenge,
    origin,
    cross_origin,
    top_origin,
    rp_id,
    user_presence,
    user_verification,
    signature,
    sign_count,
};

/// The first step that failed, or null.
pub fn failedStep(arena: Allocator, made: credential.Assertion, expected: Expected) error{OutOfMemory}!?FailedStep {
    if (!std.mem.eql(u8, made.credential_id, expected.credential_id)) return .credential;
    if (!std.mem.eql(u8, made.client_data.challenge, expected.challenge)) return .challenge;
    if (!std.mem.eql(u8, made.client_data.origin, expected.origin)) return .origin;
    if (made.client_data.cross_origin and expected.top_origins == null) return .cross_origin;
    if (!framed(made.client_data, expected.top_origins)) return .top_origin;
    if (!std.mem.eql(u8, &made.data.rp_id_hash, &hashOf(expected.rp_id))) return .rp_id;
    if (!made.data.flags.user_present) return .user_presence;
    if (expected.user_verification and !made.data.flags.user_verified) return .user_verification;
    if (!try signed(arena, made, expected.key)) return .signature;
    if (!counted(made.data.sign_count, expected.sign_count)) return .sign_count;
    return null;
}

/// Whether the ceremony's topmost page is an expected one. Outside frames, client data must not name a page.
fn framed(data: credential.ClientData, expected: ?[]const ?[]const u8) bool {
    if (!data.cross_origin) return data.top_origin == null;
    for (expected orelse &.{}) |candidate| {
        const top = data.top_origin orelse if (candidate == null) return true else continue;
        if (candidate) |origin| if (std.mem.eql(u8, top, origin)) return true;
    }
    return false;
}

/// A passkey's key as the vault stores it: a COSE key, a SEC 1 point of P-256, or the 32 bytes of an Ed25519 key.
pub fn keyOf(arena: Allocator, stored: []const u8) Error!Key {
    if (stored.len == 32) return pointOf(.ed25519, stored);
    if (stored.len > 0 and stored[0] >= 2 and stored[0] <= 4) return pointOf(.p256, stored);
    const map = cbor.decode(arena, .ctap2, stored) catch |err| return orInvalid(err);
    return switch (cose.parse(map) catch return error.KeyInvalid) {
        .es256 => |key| pointOf(.p256, &([1]u8{4} ++ key.x ++ key.y)),
        .eddsa => |key| pointOf(.ed25519, &key),
        .rs256 => |key| .{ .rs256 = .{
            .public = rsa.PublicKey.fromBytes(key.e, key.n) catch return error.KeyInvalid,
            .size = key.n.len,
        } },
        .other => error.KeyUnsupported,
    };
}

fn pointOf(algorithm: varsig.Algorithm, bytes: []const u8) Error!Key {
    return .{ .point = did_key.fromSec1(algorithm, bytes) catch |err| return orInvalid(err) };
}

fn orInvalid(err: anyerror) Error {
    return if (err == error.OutOfMemory) error.OutOfMemory else error.KeyInvalid;
}

/// Verifies the signature over the authenticator data and the hash of the client data.
fn signed(arena: Allocator, made: credential.Assertion, key: Key) error{OutOfMemory}!bool {
    const message = try std.mem.concat(arena, u8, &.{ made.raw.authenticator_data, &hashOf(made.raw.client_data) });
    return verifies(key, message, made.signature);
}

/// Whether `signature`, in the form that WebAuthn uses, is the key's signature of `message`.
pub fn verifies(key: Key, message: []const u8, signature: []const u8) bool {
    return switch (key) {
        .point => |point| ofPoint(point, message, signature),
        .rs256 => |number| number.size == signature.len and ofNumber(number.public, message, signature),
    };
}

/// Verifies an ECDSA signature, which is in DER here and may have a high s.
fn ofPoint(key: did_key.PublicKey, message: []const u8, signature: []const u8) bool {
    var compact: [64]u8 = undefined;
    if (key == .p256) compact = (P256.Signature.fromDer(signature) catch return false).toBytes();
    key.verify(message, if (key == .p256) &compact else signature) catch return false;
    return true;
}

/// RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2.2). The standard library supports only lengths known at compile time, but a
/// modulus may have any length from 2048 to 4096 bits, so this function implements the comparison itself.
fn ofNumber(key: rsa.PublicKey, message: []const u8, signature: []const u8) bool {
    var room: [2][512]u8 = undefined;
    const opened = room[0][0..signature.len];
    const expected = room[1][0..signature.len];
    const number = @TypeOf(key.e).fromBytes(key.n, signature, .big) catch return false;
    const power = key.n.powPublic(number, key.e) catch return false;
    power.toBytes(opened, .big) catch return false;
    encode(expected, message);
    return std.mem.eql(u8, opened, expected);
}

/// Fills `out` with the EMSA-PKCS1-v1_5 encoding for SHA-256 (RFC 8017, section 9.2).
fn encode(out: []u8, message: []const u8) void {
    const digest_info =
        "\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20".* ++ hashOf(message);
    const separator = out.len - digest_info.len - 1;
    @memset(out, 0xff);
    out[0] = 0;
    out[1] = 1;
    out[separator] = 0;
    @memcpy(out[separator + 1 ..], &digest_info);
}

/// Whether the counter has risen. An authenticator whose counter stays at zero is accepted; a cloned one, which repeats
/// a count, is refused.
fn counted(now: u32, before: u32) bool {
    return now > before or (now == 0 and before == 0);
}

fn hashOf(bytes: []const u8) [Sha256.digest_length]u8 {
    var digest: [Sha256.digest_length]u8 = undefined;
    Sha256.hash(bytes, &digest, .{});
    return digest;
}
