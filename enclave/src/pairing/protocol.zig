//! The cryptography of pairing two devices: ephemeral P-256 keys, a transcript, six digits and one sealed vault.
//!
//! A side that chose its values after seeing the other side's could search for matching digits. So the session
//! identifier is a commitment to the initiator's nonce, which the initiator reveals only after receiving the
//! responder's key. An attacker between the devices has one guess in a million. docs/pairing.md describes the messages.

const std = @import("std");
const memory = @import("../platform/memory.zig");
const gcm = @import("../crypto/gcm.zig");
const P256 = std.crypto.ecc.P256;
const Sha256 = std.crypto.hash.sha2.Sha256;
const Hkdf = std.crypto.kdf.hkdf.HkdfSha256;
const Allocator = std.mem.Allocator;

pub const Error = error{ PeerKeyInvalid, SealRejected, OutOfMemory };

const label = "holdfast/sync/v1";

/// Lifetime of a pairing session, in milliseconds.
pub const lifetime_ms = 5 * 60 * 1000;

pub const public_length = 33;
pub const nonce_length = 32;
pub const code_length = 6;

/// Bytes that sealing adds: the nonce in front and the tag at the end.
pub const overhead = @sizeOf(gcm.Nonce) + gcm.tag_length;

pub const KeyPair = struct {
    secret: [32]u8,
    public: [public_length]u8,

    /// A key pair from 48 random bytes, which make the scalar uniform, or null for a zero scalar (probability 2^-256).
    pub fn of(random: [48]u8) ?KeyPair {
        const scalar = P256.scalar.Scalar.fromBytes48(random, .big);
        if (scalar.isZero()) return null;
        const secret = scalar.toBytes(.big);
        const point = P256.basePoint.mul(secret, .big) catch return null;
        return .{ .secret = secret, .public = point.toCompressedSec1() };
    }
};

/// The session identifier, which commits the initiator to its key and nonce before it knows the responder's key.
pub fn commitment(initiator: [public_length]u8, nonce: [nonce_length]u8) [32]u8 {
    return hash("/commitment", &.{ &initiator, &nonce });
}

pub const Parts = struct {
    session: [32]u8,
    initiator: [public_length]u8,
    responder: [public_length]u8,
    nonce: [nonce_length]u8,
};

/// The hash of everything on which both sides must agree.
pub fn transcript(parts: Parts) [32]u8 {
    return hash("/transcript", &.{ &parts.session, &parts.initiator, &parts.responder, &parts.nonce });
}

/// The six digits that people compare.
pub fn code(of_transcript: [32]u8) [code_length]u8 {
    const digest = hash("/code", &.{&of_transcript});
    const number = std.mem.readInt(u64, digest[0..8], .big) % 1_000_000;
    var digits: [code_length]u8 = undefined;
    var left = number;
    var i: usize = code_length;
    while (i > 0) : (left /= 10) {
        i -= 1;
        digits[i] = '0' + @as(u8, @intCast(left % 10));
    }
    return digits;
}

fn hash(purpose: []const u8, fields: []const []const u8) [32]u8 {
    var state = Sha256.init(.{});
    state.update(label);
    state.update(purpose);
    for (fields) |field| state.update(field); // each has a fixed length
    return state.finalResult();
}

/// Fails with PeerKeyInvalid if the bytes are not a point of P-256.
pub fn checkPublic(public: [public_length]u8) Error!void {
    const point = P256.fromSec1(&public) catch return error.PeerKeyInvalid;
    point.rejectIdentity() catch return error.PeerKeyInvalid;
}

fn vaultKey(secret: [32]u8, peer: [public_length]u8, of_transcript: [32]u8) Error![32]u8 {
    const point = P256.fromSec1(&peer) catch return error.PeerKeyInvalid;
    var shared = (point.mul(secret, .big) catch return error.PeerKeyInvalid).affineCoordinates().x.toBytes(.big);
    defer memory.wipe(&shared);
    var pseudorandom = Hkdf.extract(&of_transcript, &shared);
    defer memory.wipe(&pseudorandom);
    var key: [32]u8 = undefined;
    Hkdf.expand(&key, label ++ "/vault", pseudorandom);
    return key;
}

pub const Channel = struct { secret: [32]u8, peer: [public_length]u8, transcript: [32]u8 };

/// Returns nonce ‖ AES-256-GCM(vault) ‖ tag, with the transcript as associated data.
pub fn seal(arena: Allocator, channel: Channel, nonce: gcm.Nonce, vault: []const u8) Error![]const u8 {
    var key = try vaultKey(channel.secret, channel.peer, channel.transcript);
    defer memory.wipe(&key);
    const out = try arena.alloc(u8, vault.len + overhead);
    @memcpy(out[0..nonce.len], &nonce);
    gcm.seal(out[nonce.len..], vault, &channel.transcript, nonce, key);
    return out;
}

/// The decrypted vault. Fails with SealRejected for anything that was not sealed in this exchange.
pub fn open(arena: Allocator, channel: Channel, sealed: []const u8) Error![]u8 {
    if (sealed.len < overhead) return error.SealRejected;
    var key = try vaultKey(channel.secret, channel.peer, channel.transcript);
    defer memory.wipe(&key);
    const nonce = sealed[0..@sizeOf(gcm.Nonce)].*;
    const vault = try arena.alloc(u8, sealed.len - overhead);
    if (!gcm.open(vault, sealed[nonce.len..], &channel.transcript, nonce, key)) return error.SealRejected;
    return vault;
}

test "two devices reach the same digits and only they open the vault" {
    var arena_state = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    const a = KeyPair.of(@splat(1)).?;
    const b = KeyPair.of(@splat(2)).?;
    const nonce: [32]u8 = @splat(3);
    const seen = transcript(.{
        .session = commitment(a.public, nonce),
        .initiator = a.public,
        .responder = b.public,
        .nonce = nonce,
    });
    const sealed = try seal(arena, .{ .secret = b.secret, .peer = a.public, .transcript = seen }, @splat(4), "vault");
    const there: Channel = .{ .secret = a.secret, .peer = b.public, .transcript = seen };
    try std.testing.expectEqualStrings("vault", try open(arena, there, sealed));
    var other = there;
    other.transcript[0] ^= 1;
    try std.testing.expectError(error.SealRejected, open(arena, other, sealed));
    try std.testing.expectError(error.SealRejected, open(arena, there, sealed[0..overhead]));
    try std.testing.expectError(error.PeerKeyInvalid, checkPublic(@splat(0)));
    for (code(seen)) |digit| try std.testing.expect(std.ascii.isDigit(digit));
}
