//! Provides the same functions, which take and return bytes, for the two curves of the vault's keys.

const std = @import("std");
const host = @import("../platform/host.zig");
const ecdsa = @import("ecdsa.zig");
const hashes = @import("hashes.zig");
const memory = @import("../platform/memory.zig");
const Error = @import("../platform/errors.zig").Error;

pub const Curve = enum {
    p256,
    secp256k1,

    /// The curve with one of the interface's names or the name "p256". Fails with UnsupportedCurve.
    pub fn parse(text: []const u8) Error!Curve {
        if (std.mem.eql(u8, text, "P-256") or std.mem.eql(u8, text, "p256")) return .p256;
        if (std.mem.eql(u8, text, "secp256k1")) return .secp256k1;
        return error.UnsupportedCurve;
    }

    pub fn name(curve: Curve) []const u8 {
        return switch (curve) {
            .p256 => "P-256",
            .secp256k1 => "secp256k1",
        };
    }
};

pub const PublicKey = struct {
    curve: Curve,
    x: [32]u8,
    y: [32]u8,

    /// The uncompressed point: 04 and both coordinates (SEC 1).
    pub noinline fn uncompressed(key: PublicKey) [65]u8 {
        return [1]u8{4} ++ key.x ++ key.y;
    }

    /// The compressed point: 02 or 03, and x (SEC 1).
    pub noinline fn compressed(key: PublicKey) [33]u8 {
        return [1]u8{2 + (key.y[31] & 1)} ++ key.x;
    }

    /// Keccak-256 of both coordinates, as in the DID. A secp256k1 key's Ethereum address is the end of this hash.
    pub fn hash(key: PublicKey) [32]u8 {
        const both = key.x ++ key.y;
        return hashes.keccak(&both);
    }

    pub fn fromUncompressed(curve: Curve, sec1: []const u8) Error!PublicKey {
        if (sec1.len != 65 or sec1[0] != 4) return error.InvalidKey;
        const key: PublicKey = .{ .curve = curve, .x = sec1[1..33].*, .y = sec1[33..65].* };
        return switch (curve) {
            inline else => |known| blk: {
                _ = pointOf(known, key) catch return error.InvalidKey;
                break :blk key;
            },
        };
    }
};

/// Two scalars whose sum in the curve's scalar field is the secret key.
pub const Shares = struct {
    val: [32]u8,
    user: [32]u8,

    pub fn wipe(shares: *Shares) void {
        memory.wipe(&shares.val);
        memory.wipe(&shares.user);
    }
};

pub const Generated = struct { shares: Shares, public: PublicKey };

/// A new key, whose whole secret exists only inside this function.
pub fn generate(curve: Curve) Error!Generated {
    return switch (curve) {
        inline else => |known| generateOn(known),
    };
}

/// Splits an existing secret key, such as a derived key, into shares. Fails with InvalidKey.
pub fn split(curve: Curve, secret: [32]u8) Error!Generated {
    return switch (curve) {
        inline else => |known| splitOn(known, secret),
    };
}

/// The public key of a secret key. Fails with InvalidKey.
pub fn publicOf(comptime curve: Curve, secret: [32]u8) Error!PublicKey {
    const scalar = Scheme(curve).Scalar.fromBytes(secret, .big) catch return error.InvalidKey;
    if (scalar.isZero()) return error.InvalidKey;
    const point = Scheme(curve).base.multiply(scalar).affineCoordinates();
    return .{ .curve = curve, .x = point.x.toBytes(.big), .y = point.y.toBytes(.big) };
}

/// `offset` plus `secret` in the curve's scalar field; null if `offset` is not below the order, or if the sum is zero.
pub fn sum(comptime curve: Curve, offset: [32]u8, secret: [32]u8) ?[32]u8 {
    const Scalar = Scheme(curve).Scalar;
    const first = Scalar.fromBytes(offset, .big) catch return null;
    const second = Scalar.fromBytes(secret, .big) catch return null;
    const both = first.add(second);
    return if (both.isZero()) null else both.toBytes(.big);
}

/// Creates new shares of the same key. Each new share alone is independent of the old ones.
pub fn refresh(curve: Curve, shares: Shares) Error!Shares {
    return switch (curve) {
        inline else => |known| refreshOn(known, shares),
    };
}

/// Signs with the sum of the shares, which exists only during this call. Fails with KeyMismatch if the sum is not the
/// secret key of `public`.
pub fn sign(public: PublicKey, shares: Shares, digest: [32]u8, entropy: []const u8) Error!ecdsa.Signature {
    return switch (public.curve) {
        inline else => |known| signOn(known, public, shares, digest, entropy),
    };
}

/// Whether (r, s), with a low s, is a valid signature of `digest` under `public`.
pub fn verify(public: PublicKey, digest: [32]u8, rs: [64]u8) bool {
    switch (public.curve) {
        inline else => |known| {
            const point = pointOf(known, public) catch return false;
            return Scheme(known).verify(point, digest, rs);
        },
    }
}

/// The P-256 keys that can have made a signature, with a low s or a high one: two, or none.
pub fn recover(digest: [32]u8, rs: [64]u8) [2]?PublicKey {
    var keys: [2]?PublicKey = .{ null, null };
    for (&keys, Scheme(.p256).recover(digest, rs)) |*key, found| {
        const point = (found orelse continue).affineCoordinates();
        key.* = .{ .curve = .p256, .x = point.x.toBytes(.big), .y = point.y.toBytes(.big) };
    }
    return keys;
}

fn Group(comptime curve: Curve) type {
    return switch (curve) {
        .p256 => std.crypto.ecc.P256,
        .secp256k1 => std.crypto.ecc.Secp256k1,
    };
}

fn Scheme(comptime curve: Curve) type {
    return ecdsa.Ecdsa(Group(curve));
}

fn pointOf(comptime curve: Curve, key: PublicKey) !Group(curve) {
    return Group(curve).fromSerializedAffineCoordinates(key.x, key.y, .big);
}

noinline fn generateOn(comptime curve: Curve) Error!Generated {
    const Scalar = Scheme(curve).Scalar;
    // A second attempt is practically never needed. The limit ends the loop if the generator always returns the same
    // bytes.
    for (0..4) |_| {
        const val = try randomScalar(Scalar);
        const user = try randomScalar(Scalar);
        const secret = val.add(user);
        if (val.isZero() or user.isZero() or secret.isZero()) continue;
        const point = Scheme(curve).base.multiply(secret).affineCoordinates();
        return .{
            .shares = .{ .val = val.toBytes(.big), .user = user.toBytes(.big) },
            .public = .{ .curve = curve, .x = point.x.toBytes(.big), .y = point.y.toBytes(.big) },
        };
    }
    return error.EntropyUnavailable;
}

noinline fn splitOn(comptime curve: Curve, secret: [32]u8) Error!Generated {
    const public = try publicOf(curve, secret);
    const whole = Scheme(curve).Scalar.fromBytes(secret, .big) catch return error.InvalidKey;
    const val = try randomScalar(Scheme(curve).Scalar);
    return .{
        .shares = .{ .val = val.toBytes(.big), .user = whole.sub(val).toBytes(.big) },
        .public = public,
    };
}

noinline fn refreshOn(comptime curve: Curve, shares: Shares) Error!Shares {
    const Scalar = Scheme(curve).Scalar;
    const shift = try randomScalar(Scalar);
    const val = Scalar.fromBytes(shares.val, .big) catch return error.ShareRejected;
    const user = Scalar.fromBytes(shares.user, .big) catch return error.ShareRejected;
    return .{ .val = val.add(shift).toBytes(.big), .user = user.sub(shift).toBytes(.big) };
}

noinline fn signOn(
    comptime curve: Curve,
    public: PublicKey,
    shares: Shares,
    digest: [32]u8,
    entropy: []const u8,
) Error!ecdsa.Signature {
    const Scalar = Scheme(curve).Scalar;
    const val = Scalar.fromBytes(shares.val, .big) catch return error.ShareRejected;
    const user = Scalar.fromBytes(shares.user, .big) catch return error.ShareRejected;
    const point = pointOf(curve, public) catch return error.InvalidKey;
    return Scheme(curve).sign(val.add(user), point, digest, entropy);
}

/// A scalar from 48 random bytes, so that its bias is below 2^-128.
fn randomScalar(comptime Scalar: type) Error!Scalar {
    var wide = try host.randomBytes(48);
    defer memory.wipe(&wide);
    return Scalar.fromBytes48(wide, .big);
}
