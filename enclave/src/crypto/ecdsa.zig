//! ECDSA over a 32-byte digest as in RFC 6979, with added entropy (section 3.6) and low s, checked before release.
//!
//! The standard library's `sign.ecdsa` does not follow RFC 6979, does not choose the low s and returns no recovery
//! identifier. So the equations are implemented here, with the standard library's field and scalar arithmetic.

const std = @import("std");
const memory = @import("../platform/memory.zig");
const BaseMultiplier = @import("base_multiplier.zig").BaseMultiplier;
const Error = @import("../platform/errors.zig").Error;

const Hmac = std.crypto.auth.hmac.sha2.HmacSha256;

pub const Signature = struct {
    r: [32]u8,
    s: [32]u8,
    /// Which of the points with this r belongs to the nonce (Ethereum's v minus 27).
    recovery: u1,

    /// r and s as 32 bytes each.
    pub fn compact(signature: Signature) [64]u8 {
        return signature.r ++ signature.s;
    }
};

pub fn Ecdsa(comptime Curve: type) type {
    return struct {
        pub const Scalar = Curve.scalar.Scalar;
        pub const base = BaseMultiplier(Curve);

        /// Signs `digest` with the secret `d` of the public point `q`. `entropy` is mixed into the nonce; if it is
        /// empty, the nonce is that of plain RFC 6979. Fails with KeyMismatch if `d` is not the secret of `q`.
        pub fn sign(d: Scalar, q: Curve, digest: [32]u8, entropy: []const u8) Error!Signature {
            const z = fromDigest(digest);
            var nonces = Nonces.init(d, z, entropy);
            defer nonces.wipe();
            while (true) {
                const k = nonces.next();
                const point = base.multiply(k);
                if (!belongs(d, q, k, point)) return error.KeyMismatch;
                return try attempt(d, z, k, point) orelse continue;
            }
        }

        /// Whether the signature is valid for `digest` under `q` and has a low s. All arguments are public.
        pub fn verify(q: Curve, digest: [32]u8, rs: [64]u8) bool {
            const r = Scalar.fromBytes(rs[0..32].*, .big) catch return false;
            const s = Scalar.fromBytes(rs[32..64].*, .big) catch return false;
            if (r.isZero() or s.isZero() or isHigh(s) == 1) return false;
            const inverse = s.invert();
            const u1_ = fromDigest(digest).mul(inverse).toBytes(.little);
            const u2_ = r.mul(inverse).toBytes(.little);
            const point = Curve.basePoint.mulDoubleBasePublic(u1_, q, u2_, .little) catch return false;
            return hasX(point, r);
        }

        /// The public keys that can have made a signature (SEC 1, section 4.1.6), with a low s or a high one. The case
        /// of a nonce's point with an x above the order, of probability 2^-127, is left out. All arguments are public.
        pub fn recover(digest: [32]u8, rs: [64]u8) [2]?Curve {
            const r = Scalar.fromBytes(rs[0..32].*, .big) catch return .{ null, null };
            const s = Scalar.fromBytes(rs[32..64].*, .big) catch return .{ null, null };
            if (r.isZero() or s.isZero()) return .{ null, null };
            const inverse = r.invert();
            const u1_ = fromDigest(digest).neg().mul(inverse).toBytes(.little);
            const u2_ = s.mul(inverse).toBytes(.little);
            var keys: [2]?Curve = undefined;
            for (&keys, [_]bool{ false, true }) |*key, odd| {
                const point = withX(r, odd) catch return .{ null, null };
                key.* = Curve.basePoint.mulDoubleBasePublic(u1_, point, u2_, .little) catch null;
            }
            return keys;
        }

        fn withX(r: Scalar, odd: bool) !Curve {
            const x = try Curve.Fe.fromBytes(r.toBytes(.big), .big);
            return Curve.fromAffineCoordinates(.{ .x = x, .y = try Curve.recoverY(x, odd) });
        }

        /// Whether `d` is the secret key of `q` and `k` is the nonce of `point`, tested as (d + k)G = Q + kG.
        /// This multiplication uses a different scalar from the signature's, so a hardware error is not
        /// repeated.
        fn belongs(d: Scalar, q: Curve, k: Scalar, point: Curve) bool {
            return base.multiply(d.add(k)).equivalent(q.add(point));
        }

        /// Null if r or s is zero (probability 2^-256), in which case the caller tries the next nonce, as RFC 6979
        /// says. r and s are checked by multiplying back before s may be negated.
        fn attempt(d: Scalar, z: Scalar, k: Scalar, point: Curve) Error!?Signature {
            const affine = point.affineCoordinates();
            const r = reduce(affine.x.toBytes(.big));
            const sum = z.add(r.mul(d));
            var s = k.invert().mul(sum);
            if (r.isZero() or s.isZero()) return null;
            if (!hasX(point, r) or !s.mul(k).equivalent(sum)) return error.CryptoFailure;
            const high = isHigh(s);
            // Use a masked move instead of a branch, because which of the two values was low reveals something about
            // the nonce.
            s.fe.cMov(s.neg().fe, high);
            const odd: u1 = @intFromBool(affine.y.isOdd());
            return .{ .r = r.toBytes(.big), .s = s.toBytes(.big), .recovery = odd ^ high };
        }

        /// Whether the point's x modulo the order equals r, without the division that affine coordinates need.
        fn hasX(point: Curve, r: Scalar) bool {
            const bytes = r.toBytes(.big);
            const x = Curve.Fe.fromBytes(bytes, .big) catch return false; // r < n, and n < p on both curves
            if (point.x.equivalent(x.mul(point.z))) return true;
            const above = std.mem.readInt(u256, &bytes, .big) +% Curve.scalar.field_order;
            if (above < Curve.scalar.field_order or above >= Curve.Fe.field_order) return false;
            var raised: [32]u8 = undefined;
            std.mem.writeInt(u256, &raised, above, .big);
            const second = Curve.Fe.fromBytes(raised, .big) catch return false;
            return point.x.equivalent(second.mul(point.z));
        }

        /// 1 if s exceeds half the order, else 0.
        fn isHigh(s: Scalar) u1 {
            const half = comptime blk: {
                var bytes: [32]u8 = undefined;
                std.mem.writeInt(u256, &bytes, Curve.scalar.field_order / 2, .big);
                break :blk bytes;
            };
            const bytes = s.toBytes(.big);
            return @intFromBool(std.crypto.timing_safe.compare(u8, &bytes, &half, .big) == .gt);
        }

        fn fromDigest(digest: [32]u8) Scalar {
            return reduce(digest);
        }

        fn reduce(bytes: [32]u8) Scalar {
            const wide: [48]u8 = @as([16]u8, @splat(0)) ++ bytes;
            return Scalar.fromBytes48(wide, .big);
        }

        /// RFC 6979 section 3.2: HMAC_DRBG, seeded with the key, the digest and any additional entropy.
        const Nonces = struct {
            key: [32]u8,
            value: [32]u8 = @splat(1),

            fn init(d: Scalar, z: Scalar, entropy: []const u8) Nonces {
                var nonces: Nonces = .{ .key = @splat(0) };
                var secret = d.toBytes(.big);
                defer memory.wipe(&secret);
                const digest = z.toBytes(.big);
                nonces.update(0, &.{ &secret, &digest, entropy });
                nonces.update(1, &.{ &secret, &digest, entropy });
                return nonces;
            }

            fn next(nonces: *Nonces) Scalar {
                while (true) {
                    Hmac.create(&nonces.value, &nonces.value, &nonces.key);
                    const candidate = Scalar.fromBytes(nonces.value, .big);
                    nonces.update(0, &.{});
                    const k = candidate catch continue;
                    if (!k.isZero()) return k;
                }
            }

            fn update(nonces: *Nonces, separator: u8, parts: []const []const u8) void {
                var mac = Hmac.init(&nonces.key);
                mac.update(&nonces.value);
                mac.update(&.{separator});
                for (parts) |part| mac.update(part);
                mac.final(&nonces.key);
                Hmac.create(&nonces.value, &nonces.value, &nonces.key);
            }

            fn wipe(nonces: *Nonces) void {
                memory.wipe(std.mem.asBytes(nonces));
            }
        };
    };
}
