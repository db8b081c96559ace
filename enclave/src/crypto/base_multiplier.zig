//! Multiplies a curve's base point with a table, five times as fast as the standard library's loop.
//!
//! The standard library adds the points (complete additions, fiat-crypto fields); this file selects the points. The
//! scalar is split into 43 signed six-bit digits. For each digit's position, a table contains the first thirty-two
//! multiples of the base point at that position, in affine coordinates. Each digit takes a masked read of all
//! thirty-two entries and one addition, so neither the instructions nor the addresses depend on the scalar. Reasons:
//! docs/decisions/0301-enclave-speed-and-size.md.

const memory = @import("../platform/memory.zig");

const digit_bits = 6;
const digits = 43;
const multiples = 1 << (digit_bits - 1);

/// The multiplier of `Curve` (std.crypto.ecc.P256 or Secp256k1).
pub fn BaseMultiplier(comptime Curve: type) type {
    return struct {
        const Affine = @TypeOf(Curve.basePoint.affineCoordinates());

        /// The table is filled on first use and kept as long as the instance exists. It contains nothing secret.
        var table: [digits][multiples]Affine = undefined;
        var ready = false;

        /// `scalar` times the base point, which is the identity if `scalar` is zero.
        pub fn multiply(scalar: Curve.scalar.Scalar) Curve {
            if (!ready) fill();
            var bytes = scalar.toBytes(.little);
            defer memory.wipe(&bytes);
            var sum = Curve.identityElement;
            var carry: i16 = 0;
            for (0..digits) |place| {
                const digit = bitsAt(&bytes, place) + carry;
                carry = (digit + (multiples - 1)) >> digit_bits;
                sum = sum.addMixed(select(&table[place], digit - (carry << digit_bits)));
            }
            return sum;
        }

        noinline fn fill() void {
            @branchHint(.cold);
            var unit = Curve.basePoint;
            for (&table) |*row| {
                var points: [multiples]Curve = undefined;
                points[0] = unit;
                for (1..multiples) |i| points[i] = points[i - 1].add(unit);
                toAffine(row, &points);
                unit = points[multiples - 1].dbl();
            }
            ready = true;
        }

        /// Converts a row to affine coordinates with a single division (Montgomery's trick). No point may be the
        /// identity.
        noinline fn toAffine(row: *[multiples]Affine, points: *const [multiples]Curve) void {
            var products: [multiples]Curve.Fe = undefined;
            products[0] = points[0].z;
            for (1..multiples) |i| products[i] = products[i - 1].mul(points[i].z);
            var rest = products[multiples - 1].invert();
            var i: usize = multiples;
            while (i > 0) {
                i -= 1;
                const inverse = if (i > 0) rest.mul(products[i - 1]) else rest;
                row[i] = .{ .x = points[i].x.mul(inverse), .y = points[i].y.mul(inverse) };
                rest = rest.mul(points[i].z);
            }
        }

        /// The entry for a digit from -31 to 32, or the identity for zero. Reads every entry of the row.
        fn select(row: *const [multiples]Affine, digit: i16) Affine {
            const sign: i16 = digit >> 15;
            const magnitude: u16 = @bitCast((digit ^ sign) - sign);
            var chosen = Affine.identityElement;
            for (row, 1..) |entry, i| {
                const equal: u1 = @truncate(((magnitude ^ @as(u16, @intCast(i))) -% 1) >> 15);
                chosen.x.cMov(entry.x, equal);
                chosen.y.cMov(entry.y, equal);
            }
            chosen.y.cMov(chosen.y.neg(), @truncate(@as(u16, @bitCast(sign))));
            return chosen;
        }

        fn bitsAt(bytes: *const [32]u8, place: usize) i16 {
            const bit = place * digit_bits;
            const low: u16 = bytes[bit / 8];
            const high: u16 = if (bit / 8 + 1 < bytes.len) bytes[bit / 8 + 1] else 0;
            return @intCast(((high << 8 | low) >> @intCast(bit % 8)) & (1 << digit_bits) - 1);
        }
    };
}
