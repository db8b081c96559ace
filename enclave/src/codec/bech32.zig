//! Bech32 (BIP-173) and bech32m (BIP-350).

const std = @import("std");
const Error = @import("../platform/errors.zig").Error;

const alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

pub const Variant = enum(u30) { bech32 = 1, bech32m = 0x2bc830a3 };

/// The text that encodes `prefix` and `data`, with the witness version before the data if there is one.
pub fn encode(
    arena: std.mem.Allocator,
    prefix: []const u8,
    witness: ?u5,
    data: []const u8,
    variant: Variant,
) Error![]u8 {
    var groups: std.ArrayList(u5) = .empty;
    if (witness) |version| try groups.append(arena, version);
    try regroup(arena, &groups, data);
    const sum = checksum(prefix, groups.items) ^ @backingInt(variant);
    for (0..6) |i| try groups.append(arena, @truncate(sum >> @intCast(5 * (5 - i))));
    var text: std.ArrayList(u8) = .empty;
    try text.appendSlice(arena, prefix);
    try text.append(arena, '1');
    for (groups.items) |group| try text.append(arena, alphabet[group]);
    return text.items;
}

fn regroup(arena: std.mem.Allocator, groups: *std.ArrayList(u5), data: []const u8) Error!void {
    var pending: u12 = 0;
    var bits: u4 = 0;
    for (data) |byte| {
        pending = (pending & 0xf) << 8 | byte;
        bits += 8;
        while (bits >= 5) {
            bits -= 5;
            try groups.append(arena, @truncate(pending >> bits));
        }
    }
    if (bits > 0) try groups.append(arena, @truncate(pending << (5 - bits)));
}

fn checksum(prefix: []const u8, groups: []const u5) u30 {
    var state: u30 = 1;
    for (prefix) |byte| state = step(state, @truncate(byte >> 5));
    state = step(state, 0);
    for (prefix) |byte| state = step(state, @truncate(byte));
    for (groups) |group| state = step(state, group);
    for (0..6) |_| state = step(state, 0);
    return state;
}

fn step(state: u30, value: u5) u30 {
    const generator = [5]u30{ 0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3 };
    const top: u5 = @truncate(state >> 25);
    var next: u30 = (state & 0x1ffffff) << 5 ^ value;
    for (generator, 0..) |mask, bit| {
        if (top >> @intCast(bit) & 1 == 1) next ^= mask;
    }
    return next;
}
