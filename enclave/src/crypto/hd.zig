//! Keys derived from a seed: BIP-32 on secp256k1 and SLIP-0010 on P-256. On secp256k1, both yield the same keys.

const std = @import("std");
const curves = @import("curves.zig");
const memory = @import("../platform/memory.zig");
const Curve = curves.Curve;
const Error = @import("../platform/errors.zig").Error;
const Hmac = std.crypto.auth.hmac.sha2.HmacSha512;

/// Added to the index of a hardened child, which is derived from the secret key instead of the public key.
pub const hardened: u32 = 1 << 31;

/// A secret key and its chain code.
pub const Node = struct {
    secret: [32]u8,
    chain_code: [32]u8,

    pub fn wipe(node: *Node) void {
        memory.wipe(std.mem.asBytes(node));
    }
};

/// The node that `path` derives from the master key of `seed`.
pub fn derive(curve: Curve, seed: []const u8, path: []const u32) Error!Node {
    return switch (curve) {
        inline else => |known| deriveOn(known, seed, path),
    };
}

noinline fn deriveOn(comptime curve: Curve, seed: []const u8, path: []const u32) Error!Node {
    var node = master(curve, seed);
    errdefer node.wipe();
    for (path) |index| try descend(curve, &node, index);
    return node;
}

/// SLIP-0010, "Master key generation". A hash that is not a valid key is hashed again.
fn master(comptime curve: Curve, seed: []const u8) Node {
    const name = switch (curve) {
        .secp256k1 => "Bitcoin seed",
        .p256 => "Nist256p1 seed",
    };
    var hash: [64]u8 = undefined;
    defer memory.wipe(&hash);
    Hmac.create(&hash, seed, name);
    while (curves.sum(curve, hash[0..32].*, @splat(0)) == null) {
        const again = hash;
        Hmac.create(&hash, &again, name);
    }
    return .{ .secret = hash[0..32].*, .chain_code = hash[32..64].* };
}

/// SLIP-0010, "Private parent key to private child key". If the result is not a valid key, its second half, the chain
/// code, is hashed again.
fn descend(comptime curve: Curve, node: *Node, index: u32) Error!void {
    var data: [37]u8 = undefined;
    defer memory.wipe(&data);
    if (index < hardened)
        data[0..33].* = (try curves.publicOf(curve, node.secret)).compressed()
    else
        begin(&data, 0, &node.secret);
    std.mem.writeInt(u32, data[33..37], index, .big);
    var hash: [64]u8 = undefined;
    defer memory.wipe(&hash);
    while (true) {
        Hmac.create(&hash, &data, &node.chain_code);
        if (curves.sum(curve, hash[0..32].*, node.secret)) |child| {
            node.* = .{ .secret = child, .chain_code = hash[32..64].* };
            return;
        }
        begin(&data, 1, hash[32..64]);
    }
}

fn begin(data: *[37]u8, first: u8, rest: *const [32]u8) void {
    data[0] = first;
    @memcpy(data[1..33], rest);
}
