//! Multiples of a curve's base point from a table, three to four times as fast as the standard library's loop.
//!
//! The arithmetic is the standard library's (complete additions, fiat-crypto fields); this file only arranges it: the
//! scalar in 52 signed digits of five bits, and for each digit's place the sixteen first multiples of the base point
//! there. Every digit reads all sixteen entries under a mask and does one addition, so neither the sequence of
//! instructions nor that of addresses depends on the scalar.
//! docs/decisions/0301-enclave-base-multiplication.md says why.

const std = @import("std");

const digit_bits = 5;
const digits = 52;
const multiples = 16;

/// The multiplier of `Curve` (std.crypto.ecc.P256 or Secp256k1).
pub fn BaseMultiplier(comptime Curve: type) type {
    return struct {
        /// Made at the first use (3 ms), kept for the life of the instance: it holds nothing secret.
        var table: [digits][multiples]Curve = undefined;
        var ready = false;

        /// `scalar` times the base point; the identity for zero.
        pub fn multiply(scalar: Curve.scalar.Scalar) Curve {
            if (!ready) fill();
            var bytes = scalar.toBytes(.little);
            defer std.crypto.secureZero(u8, &bytes);
            var sum = Curve.identityElement;
            var carry: i16 = 0;
            for (0..digits) |place| {
                const digit = bitsAt(&bytes, place) + carry;
                carry = (digit + (multiples - 1)) >> digit_bits;
                sum = sum.add(select(&table[place], digit - (carry << digit_bits)));
            }
            return sum;
        }

        fn fill() void {
            var unit = Curve.basePoint;
            for (&table) |*row| {
                row[0] = unit;
                for (1..multiples) |i| row[i] = row[i - 1].add(unit);
                unit = row[multiples - 1].dbl();
            }
            ready = true;
        }

        /// The table's entry for a digit from -15 to 16, reading all of them.
        fn select(row: *const [multiples]Curve, digit: i16) Curve {
            const sign: i16 = digit >> 15;
            const magnitude: u16 = @bitCast((digit ^ sign) - sign);
            var chosen = Curve.identityElement;
            for (row, 1..) |entry, i| {
                const equal: u1 = @truncate(((magnitude ^ @as(u16, @intCast(i))) -% 1) >> 15);
                chosen.x.cMov(entry.x, equal);
                chosen.y.cMov(entry.y, equal);
                chosen.z.cMov(entry.z, equal);
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
