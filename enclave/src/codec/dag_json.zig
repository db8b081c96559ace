//! DAG-JSON, in which hosts exchange values: {"/": "<cid>"} is a link, {"/": {"bytes": "<base64>"}} is a byte string,
//! and the rest is plain JSON. Depth is limited, so that no document overflows the stack.

const std = @import("std");
const cid = @import("cid.zig");
const ipld = @import("ipld.zig");
const Allocator = std.mem.Allocator;
const Json = std.json.Value;
const base64 = std.base64.standard_no_pad;

pub const Error = error{ JsonUnsupported, JsonTooDeep, OutOfMemory };

/// The IPLD value of a JSON value. Map entries are in canonical order.
pub fn toValue(arena: Allocator, json: Json) Error!ipld.Value {
    return convert(arena, json, ipld.max_depth);
}

fn convert(arena: Allocator, json: Json, depth: u8) Error!ipld.Value {
    return switch (json) {
        .null => .null,
        .bool => |b| .{ .bool = b },
        .integer => |i| .{ .int = i },
        .float => |f| if (std.math.isFinite(f)) .{ .float = f } else error.JsonUnsupported,
        .number_string => |s| bigInteger(s),
        .string => |s| if (std.unicode.utf8ValidateSlice(s)) ipld.text(s) else error.JsonUnsupported,
        .array => |items| convertList(arena, items.items, depth),
        .object => |fields| convertMap(arena, fields, depth),
    };
}

fn bigInteger(digits: []const u8) Error!ipld.Value {
    const number = std.fmt.parseInt(i128, digits, 10) catch return error.JsonUnsupported;
    const bound = @as(i128, 1) << 64;
    if (number < -bound or number >= bound) return error.JsonUnsupported;
    return .{ .int = number };
}

fn convertList(arena: Allocator, items: []const Json, depth: u8) Error!ipld.Value {
    if (depth == 0) return error.JsonTooDeep;
    const out = try arena.alloc(ipld.Value, items.len);
    for (items, out) |item, *slot| slot.* = try convert(arena, item, depth - 1);
    return .{ .list = out };
}

fn convertMap(arena: Allocator, fields: std.json.ObjectMap, depth: u8) Error!ipld.Value {
    if (depth == 0) return error.JsonTooDeep;
    if (fields.count() == 1) if (fields.get("/")) |inner| return special(arena, inner);
    const out = try arena.alloc(ipld.Entry, fields.count());
    for (fields.keys(), fields.values(), out) |name, item, *slot| {
        if (!std.unicode.utf8ValidateSlice(name)) return error.JsonUnsupported;
        slot.* = ipld.field(name, try convert(arena, item, depth - 1));
    }
    ipld.sortByKey(out);
    return .{ .map = out };
}

fn special(arena: Allocator, inner: Json) Error!ipld.Value {
    switch (inner) {
        .string => |s| return .{ .link = cid.fromText(arena, s) catch return error.JsonUnsupported },
        .object => |fields| {
            const encoded = fields.get("bytes") orelse return error.JsonUnsupported;
            if (fields.count() != 1 or encoded != .string) return error.JsonUnsupported;
            return .{ .bytes = try decodeBase64(arena, encoded.string) };
        },
        else => return error.JsonUnsupported,
    }
}

fn decodeBase64(arena: Allocator, text: []const u8) Error![]const u8 {
    const bare = std.mem.trimEnd(u8, text, "=");
    const size = base64.Decoder.calcSizeForSlice(bare) catch return error.JsonUnsupported;
    const out = try arena.alloc(u8, size);
    base64.Decoder.decode(out, bare) catch return error.JsonUnsupported;
    return out;
}

/// The JSON form of a value. Integers that exceed a signed 64-bit integer become number literals.
pub fn fromValue(arena: Allocator, value: ipld.Value) Error!Json {
    return switch (value) {
        .null => .null,
        .bool => |b| .{ .bool = b },
        .int => |i| integer(arena, i),
        .float => |f| float(arena, f),
        .text => |t| .{ .string = t },
        .bytes => |b| object(arena, "/", try object(arena, "bytes", .{ .string = try encodeBase64(arena, b) })),
        .link => |l| object(arena, "/", .{ .string = cid.toText(arena, l) catch return error.JsonUnsupported }),
        .list => |items| fromList(arena, items),
        .map => |entries| fromMap(arena, entries),
    };
}

fn integer(arena: Allocator, i: i128) Error!Json {
    if (std.math.cast(i64, i)) |small| return .{ .integer = small };
    return .{ .number_string = try std.fmt.allocPrint(arena, "{d}", .{i}) };
}

/// A float, always with a point or an exponent, because DAG-JSON distinguishes 1.0 from 1.
fn float(arena: Allocator, f: f64) Error!Json {
    const plain = @trunc(f) != f and @abs(f) >= 1e-6;
    const digits = if (plain)
        try std.fmt.allocPrint(arena, "{d}", .{f})
    else
        try std.fmt.allocPrint(arena, "{e}", .{f});
    return .{ .number_string = digits };
}

fn object(arena: Allocator, name: []const u8, inner: Json) Error!Json {
    var fields: std.json.ObjectMap = .empty;
    try fields.put(arena, name, inner);
    return .{ .object = fields };
}

fn encodeBase64(arena: Allocator, bytes: []const u8) Error![]const u8 {
    return base64.Encoder.encode(try arena.alloc(u8, base64.Encoder.calcSize(bytes.len)), bytes);
}

fn fromList(arena: Allocator, items: []const ipld.Value) Error!Json {
    var out: std.json.Array = .init(arena);
    for (items) |item| try out.append(try fromValue(arena, item));
    return .{ .array = out };
}

/// Refuses a map that has the form of a link or of bytes, because it would be read back as one of these.
fn fromMap(arena: Allocator, entries: []const ipld.Entry) Error!Json {
    if (entries.len == 1 and entries[0].key == .text and std.mem.eql(u8, entries[0].key.text, "/"))
        return error.JsonUnsupported;
    var fields: std.json.ObjectMap = .empty;
    for (entries) |e| {
        if (e.key != .text) return error.JsonUnsupported;
        try fields.put(arena, e.key.text, try fromValue(arena, e.value));
    }
    return .{ .object = fields };
}
