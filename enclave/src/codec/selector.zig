//! Selectors of the UCAN policy language (UCAN Delegation 1.0, "Selectors"): paths into an invocation's arguments.
//!
//! `.` · `.name` · `["any key"]` · `[]` · `[3]` `[-1]` · `[1:-2]`, each with an optional `?`. Parts of jq that the
//! specification leaves out are refused when parsed. Byte strings can be indexed, but text cannot.

const std = @import("std");
const ipld = @import("ipld.zig");
const Allocator = std.mem.Allocator;
const Value = ipld.Value;

pub const Error = error{ SelectorInvalid, OutOfMemory };

/// Longest selector, in bytes.
pub const max_length = 1024;

const Range = struct { from: ?i64, to: ?i64 };

const Step = union(enum) { field: []const u8, values, index: i64, slice: Range };

pub const Segment = struct { step: Step, optional: bool = false };

/// Reads a selector's text into its segments, left to right.
pub fn parse(arena: Allocator, text: []const u8) Error![]const Segment {
    if (text.len == 0 or text.len > max_length or text[0] != '.') return error.SelectorInvalid;
    if (text.len == 1) return &.{};
    var parser: Parser = .{ .arena = arena, .rest = text };
    while (parser.rest.len > 0) try parser.segment();
    return parser.segments.items;
}

const Parser = struct {
    arena: Allocator,
    rest: []const u8,
    segments: std.ArrayList(Segment) = .empty,

    fn segment(self: *Parser) Error!void {
        const dotted = self.skip(".");
        const step: Step = if (self.skip("[")) try self.bracket() else blk: {
            if (!dotted) return error.SelectorInvalid;
            break :blk .{ .field = try self.name() };
        };
        var optional = false;
        while (self.skip("?")) optional = true;
        try self.segments.append(self.arena, .{ .step = step, .optional = optional });
    }

    fn skip(self: *Parser, prefix: []const u8) bool {
        if (!std.mem.startsWith(u8, self.rest, prefix)) return false;
        self.rest = self.rest[prefix.len..];
        return true;
    }

    fn name(self: *Parser) Error![]const u8 {
        const end = std.mem.findAny(u8, self.rest, ".[]?\"") orelse self.rest.len;
        for (self.rest[0..end]) |char| if (char <= ' ' or char == 0x7f) return error.SelectorInvalid;
        if (end == 0) return error.SelectorInvalid;
        defer self.rest = self.rest[end..];
        return self.rest[0..end];
    }

    fn bracket(self: *Parser) Error!Step {
        if (self.skip("]")) return .values;
        if (self.skip("\"")) return .{ .field = try self.quoted() };
        const end = std.mem.findScalar(u8, self.rest, ']') orelse return error.SelectorInvalid;
        defer self.rest = self.rest[end + 1 ..];
        const inside = self.rest[0..end];
        const colon = std.mem.findScalar(u8, inside, ':') orelse return .{ .index = try number(inside) };
        return .{ .slice = .{ .from = try bound(inside[0..colon]), .to = try bound(inside[colon + 1 ..]) } };
    }

    /// Reads the rest of `"…"]`, in which only `\"` and `\\` are escapes.
    fn quoted(self: *Parser) Error![]const u8 {
        var key: std.ArrayList(u8) = .empty;
        while (self.rest.len > 0) {
            if (self.skip("\"")) return if (self.skip("]")) key.items else error.SelectorInvalid;
            if (self.skip("\\") and (self.rest.len == 0 or (self.rest[0] != '"' and self.rest[0] != '\\'))) break;
            try key.append(self.arena, self.rest[0]);
            self.rest = self.rest[1..];
        }
        return error.SelectorInvalid;
    }
};

fn bound(text: []const u8) Error!?i64 {
    return if (text.len == 0) null else try number(text);
}

/// Reads decimal digits with an optional minus sign; refuses a plus sign, underscores and empty text.
fn number(text: []const u8) Error!i64 {
    const digits = if (std.mem.startsWith(u8, text, "-")) text[1..] else text;
    if (digits.len == 0 or digits.len > 15) return error.SelectorInvalid;
    for (digits) |digit| if (!std.ascii.isDigit(digit)) return error.SelectorInvalid;
    return std.fmt.parseInt(i64, text, 10) catch error.SelectorInvalid;
}

pub const ResolveError = error{ Unresolved, OutOfMemory };

/// The value that the segments select, starting at `root`. A key that a map lacks yields null. Anything else that does
/// not exist fails with Unresolved, or yields null if the segment is optional.
pub fn resolve(arena: Allocator, segments: []const Segment, root: Value) ResolveError!Value {
    var value = root;
    for (segments) |s| {
        value = apply(arena, s.step, value) catch |err| switch (err) {
            error.Unresolved => if (s.optional) .null else return error.Unresolved,
            error.OutOfMemory => return error.OutOfMemory,
        };
    }
    return value;
}

fn apply(arena: Allocator, step: Step, value: Value) ResolveError!Value {
    return switch (step) {
        .field => |key| if (value == .map) value.get(key) orelse .null else error.Unresolved,
        .values => elements(arena, value),
        .index => |i| at(value, i),
        .slice => |range| cut(value, range),
    };
}

/// The elements of a list, or the values of a map.
pub fn elements(arena: Allocator, value: Value) ResolveError!Value {
    if (value == .list) return value;
    if (value != .map) return error.Unresolved;
    const values = try arena.alloc(Value, value.map.len);
    for (value.map, values) |e, *slot| slot.* = e.value;
    return .{ .list = values };
}

fn at(value: Value, i: i64) ResolveError!Value {
    const length: i64 = switch (value) {
        .list => |items| @intCast(items.len),
        .bytes => |bytes| @intCast(bytes.len),
        else => return error.Unresolved,
    };
    const position = if (i < 0) length + i else i;
    if (position < 0 or position >= length) return error.Unresolved;
    const place: usize = @intCast(position);
    return if (value == .list) value.list[place] else .{ .int = value.bytes[place] };
}

fn cut(value: Value, range: Range) ResolveError!Value {
    return switch (value) {
        .list => |items| .{ .list = part(Value, items, range) },
        .bytes => |bytes| .{ .bytes = part(u8, bytes, range) },
        else => error.Unresolved,
    };
}

fn part(T: type, items: []const T, range: Range) []const T {
    const from = clamp(range.from orelse 0, items.len);
    const to = clamp(range.to orelse @intCast(items.len), items.len);
    return if (from < to) items[from..to] else items[0..0];
}

fn clamp(i: i64, length: usize) usize {
    const signed: i64 = @intCast(length);
    return @intCast(std.math.clamp(if (i < 0) signed + i else i, 0, signed));
}
