//! The COSE keys (RFC 9052, RFC 9053) that passkeys use: ES256, EdDSA with Ed25519, and RS256. Points must be on their
//! curve. For any other algorithm, only its number is read, so that it can be reported.

const std = @import("std");
const ipld = @import("ipld.zig");
const P256 = std.crypto.ecc.P256;
const Ed25519 = std.crypto.sign.Ed25519;

pub const Error = error{ CoseInvalid, CoseOffCurve };

pub const Es256 = struct { x: [32]u8, y: [32]u8 };
pub const Rs256 = struct { n: []const u8, e: []const u8 };

pub const Key = union(enum) {
    es256: Es256,
    eddsa: [32]u8,
    rs256: Rs256,
    /// The COSE algorithm number of a key that Holdfast does not use.
    other: i128,

    pub fn algorithm(self: Key) i128 {
        return switch (self) {
            .es256 => -7,
            .eddsa => -8,
            .rs256 => -257,
            .other => |number| number,
        };
    }
};

const kty = 1;
const alg = 3;

/// Reads a decoded COSE_Key map.
pub fn parse(map: ipld.Value) Error!Key {
    const kind = try int(map, kty);
    const number = try int(map, alg);
    return switch (number) {
        -7 => es256(map, kind),
        -8 => eddsa(map, kind),
        -257 => rs256(map, kind),
        else => .{ .other = number },
    };
}

fn es256(map: ipld.Value, kind: i128) Error!Key {
    if (kind != 2 or try int(map, -1) != 1) return error.CoseInvalid;
    const x = try bytes32(map, -2);
    const y = try bytes32(map, -3);
    if (map.map.len != 5) return error.CoseInvalid;
    const point = P256.fromSerializedAffineCoordinates(x, y, .big) catch return error.CoseOffCurve;
    point.rejectIdentity() catch return error.CoseOffCurve;
    return .{ .es256 = .{ .x = x, .y = y } };
}

fn eddsa(map: ipld.Value, kind: i128) Error!Key {
    if (kind != 1 or try int(map, -1) != 6) return error.CoseInvalid;
    const x = try bytes32(map, -2);
    if (map.map.len != 4) return error.CoseInvalid;
    _ = Ed25519.PublicKey.fromBytes(x) catch return error.CoseOffCurve;
    _ = std.crypto.ecc.Edwards25519.fromBytes(x) catch return error.CoseOffCurve;
    return .{ .eddsa = x };
}

/// An RSA modulus of 2048 to 4096 bits without leading zeros (RFC 8230) and an odd exponent of 3 to 2^32 - 1. Refuses
/// other RSA keys, because the module could not verify their signatures.
fn rs256(map: ipld.Value, kind: i128) Error!Key {
    if (kind != 3) return error.CoseInvalid;
    const n = try bytes(map, -1);
    const e = try bytes(map, -2);
    if (map.map.len != 4 or n.len < 256 or n.len > 512 or n[0] == 0) return error.CoseInvalid;
    if (e.len == 0 or e.len > 4 or e[0] == 0 or e[e.len - 1] & 1 == 0) return error.CoseInvalid;
    if (e.len == 1 and e[0] == 1) return error.CoseInvalid;
    return .{ .rs256 = .{ .n = n, .e = e } };
}

fn int(map: ipld.Value, number: i128) Error!i128 {
    const value = map.label(number) orelse return error.CoseInvalid;
    return if (value == .int) value.int else error.CoseInvalid;
}

fn bytes(map: ipld.Value, number: i128) Error![]const u8 {
    const value = map.label(number) orelse return error.CoseInvalid;
    return if (value == .bytes) value.bytes else error.CoseInvalid;
}

fn bytes32(map: ipld.Value, number: i128) Error![32]u8 {
    const value = try bytes(map, number);
    return if (value.len == 32) value[0..32].* else error.CoseInvalid;
}
