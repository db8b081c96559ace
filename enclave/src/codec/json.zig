//! Creates JSON values from plain Zig values.

const std = @import("std");
const Error = @import("../platform/errors.zig").Error;
const Allocator = std.mem.Allocator;

pub const Json = std.json.Value;

/// A JSON object whose members are the struct's fields. Omits a field that is a null optional, and writes `Json.null`
/// as null.
pub fn object(arena: Allocator, fields: anytype) Error!Json {
    const names = @typeInfo(@TypeOf(fields)).@"struct".field_names;
    var values: [names.len]?Json = undefined;
    inline for (names, &values) |name, *value| value.* = try from(arena, @field(fields, name));
    return collected(arena, names, &values);
}

/// An array of the items, each converted like a field of `object`.
pub fn array(arena: Allocator, items: anytype) Error!Json {
    var list = std.json.Array.init(arena);
    for (items) |item| try list.append(try from(arena, item) orelse .null);
    return .{ .array = list };
}

/// Sets a field of an object that `object` created.
pub fn put(arena: Allocator, target: *Json, name: []const u8, value: Json) Error!void {
    try target.object.put(arena, name, value);
}

/// Deepest nesting of an input, far below what the stack allows where values are processed recursively.
const max_depth = 32;

/// Whether the text is nested no deeper than `max_depth`. Counts brackets outside strings, before anything is
/// parsed.
pub fn withinDepth(input: []const u8) bool {
    var depth: usize = 0;
    var in_string = false;
    var escaped = false;
    for (input) |byte| {
        if (in_string) {
            if (escaped) escaped = false else if (byte == '\\') escaped = true else if (byte == '"') in_string = false;
            continue;
        }
        switch (byte) {
            '"' => in_string = true,
            '[', '{' => depth += 1,
            ']', '}' => depth -|= 1,
            else => {},
        }
        if (depth > max_depth) return false;
    }
    return true;
}

/// Not inlined, because hundreds of fields use it and a single copy keeps the module small.
noinline fn collected(arena: Allocator, names: []const []const u8, values: []const ?Json) Error!Json {
    var map: std.json.ObjectMap = .empty;
    for (names, values) |name, value| {
        if (value) |told| try map.put(arena, name, told);
    }
    return .{ .object = map };
}

fn from(arena: Allocator, value: anytype) Error!?Json {
    const T = @TypeOf(value);
    if (T == Json) return value;
    // `Json.null` in an anonymous struct is the tag alone, not a value of the union.
    if (T == std.meta.Tag(Json)) return .null;
    if (T == bool) return .{ .bool = value };
    return switch (@typeInfo(T)) {
        .int, .comptime_int => .{ .integer = std.math.cast(i64, value) orelse return error.ValueTooLarge },
        .optional => if (value) |inner| try from(arena, inner) else null,
        .null => .null,
        .@"enum" => .{ .string = @tagName(value) },
        .@"struct" => try object(arena, value),
        .pointer => .{ .string = value },
        else => @compileError("no JSON form of " ++ @typeName(T)),
    };
}
