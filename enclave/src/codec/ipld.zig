//! The IPLD data model, which CBOR, DAG-CBOR and the policy language share: JSON's types, integers beyond 53 bits, byte
//! strings and links. Values refer to the bytes from which they were read, and an arena owns their lists.

const std = @import("std");

/// Deepest nesting that any codec of this module accepts, so that no input overflows the stack.
pub const max_depth = 32;

pub const Value = union(enum) {
    null,
    bool: bool,
    /// The range of CBOR's integers: -2^64 .. 2^64-1.
    int: i128,
    float: f64,
    bytes: []const u8,
    text: []const u8,
    list: []const Value,
    /// The entries in canonical key order.
    map: []const Entry,
    /// The binary form of a CID.
    link: []const u8,

    /// The value under a text key, or null if this is not a map or lacks the key.
    pub fn get(self: Value, name: []const u8) ?Value {
        if (self != .map) return null;
        for (self.map) |entry| {
            if (entry.key == .text and std.mem.eql(u8, entry.key.text, name)) return entry.value;
        }
        return null;
    }

    /// The value under an integer key of a map (COSE labels).
    pub fn label(self: Value, number: i128) ?Value {
        if (self != .map) return null;
        for (self.map) |entry| {
            if (entry.key == .int and entry.key.int == number) return entry.value;
        }
        return null;
    }

    /// Deep equality, in which an integer equals a float of the same value (UCAN: 1 == 1.0).
    pub fn eql(a: Value, b: Value) bool {
        if (isNumber(a) and isNumber(b)) return order(a, b) == .eq;
        if (std.meta.activeTag(a) != std.meta.activeTag(b)) return false;
        return switch (a) {
            .null => true,
            .bool => |x| x == b.bool,
            .bytes => |x| std.mem.eql(u8, x, b.bytes),
            .text => |x| std.mem.eql(u8, x, b.text),
            .link => |x| std.mem.eql(u8, x, b.link),
            .list => |x| eqlList(x, b.list),
            .map => |x| eqlMap(x, b.map),
            .int, .float => unreachable, // both are numbers, handled above
        };
    }

    pub fn isNumber(self: Value) bool {
        return self == .int or self == .float;
    }

    /// The order of two numbers, exact even between an integer and a float, or null if either is not a number.
    pub fn order(a: Value, b: Value) ?std.math.Order {
        if (!a.isNumber() or !b.isNumber()) return null;
        if (a == .int and b == .int) return std.math.order(a.int, b.int);
        if (a == .float and b == .float) return std.math.order(a.float, b.float);
        if (a == .int) return orderIntFloat(a.int, b.float);
        return orderIntFloat(b.int, a.float).invert();
    }
};

pub const Entry = struct { key: Value, value: Value };

fn eqlList(a: []const Value, b: []const Value) bool {
    if (a.len != b.len) return false;
    for (a, b) |x, y| if (!x.eql(y)) return false;
    return true;
}

/// Every decoder keeps maps in canonical order, so equal maps are equal entry by entry.
fn eqlMap(a: []const Entry, b: []const Entry) bool {
    if (a.len != b.len) return false;
    for (a, b) |x, y| if (!x.key.eql(y.key) or !x.value.eql(y.value)) return false;
    return true;
}

/// Sorts text keys in DAG-CBOR's order: first by length, then bytewise.
pub fn sortByKey(entries: []Entry) void {
    std.sort.heap(Entry, entries, {}, keyBefore);
}

fn keyBefore(_: void, a: Entry, b: Entry) bool {
    if (a.key.text.len != b.key.text.len) return a.key.text.len < b.key.text.len;
    return std.mem.order(u8, a.key.text, b.key.text) == .lt;
}

/// Compares an integer with a float exactly. If the float is beyond the integers' range, its sign decides; otherwise
/// its floor and fraction do.
fn orderIntFloat(i: i128, f: f64) std.math.Order {
    const bound = 36893488147419103232.0; // 2^65, beyond every CBOR integer
    if (f >= bound) return .lt;
    if (f <= -bound) return .gt;
    const whole = @floor(f);
    const by_whole = std.math.order(i, @as(i128, @intFromFloat(whole)));
    if (by_whole != .eq) return by_whole;
    return if (f > whole) .lt else .eq;
}

pub fn text(bytes: []const u8) Value {
    return .{ .text = bytes };
}

pub fn field(name: []const u8, value: Value) Entry {
    return .{ .key = text(name), .value = value };
}

test "numbers compare across kinds, exactly" {
    const one: Value = .{ .int = 1 };
    try std.testing.expect(one.eql(.{ .float = 1.0 }));
    try std.testing.expect(Value.order(one, .{ .float = 1.5 }).? == .lt);
    const big: Value = .{ .int = 9007199254740993 };
    try std.testing.expect(!big.eql(.{ .float = 9007199254740992.0 }));
    try std.testing.expect(Value.order(.{ .float = 1e300 }, big).? == .gt);
    try std.testing.expect(Value.order(.null, one) == null);
}
