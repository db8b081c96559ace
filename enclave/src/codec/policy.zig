//! The policy language of UCAN Delegation 1.0: predicates over an invocation's arguments.
//!
//! A policy is a list of statements, all of which must be true. Operators: == != < <= > >= like and or not all any.
//! A statement whose selector resolves to nothing is false, and so is a comparison of kinds that cannot be compared. An
//! empty `or` is true, as the specification says. `any` over an empty collection is false.

const std = @import("std");
const ipld = @import("ipld.zig");
const selector = @import("selector.zig");
const Allocator = std.mem.Allocator;
const Value = ipld.Value;

pub const Error = error{ PolicyInvalid, PolicyTooCostly, OutOfMemory };

/// The limit for one evaluation, in visited values and compared characters. More work fails with PolicyTooCostly.
pub const max_steps = 1_000_000;

const Operator = enum { eq, ne, lt, le, gt, ge, like, @"and", @"or", not, all, any };

const operators = std.StaticStringMap(Operator).initComptime(.{
    .{ "==", .eq },     .{ "!=", .ne },      .{ "<", .lt },     .{ "<=", .le },   .{ ">", .gt },    .{ ">=", .ge },
    .{ "like", .like }, .{ "and", .@"and" }, .{ "or", .@"or" }, .{ "not", .not }, .{ "all", .all }, .{ "any", .any },
});

/// Refuses a policy that is malformed or contains a malformed selector.
pub fn validate(arena: Allocator, policy: Value) Error!void {
    if (policy != .list) return error.PolicyInvalid;
    for (policy.list) |statement| try validateStatement(arena, statement, ipld.max_depth);
}

fn validateStatement(arena: Allocator, statement: Value, depth: u8) Error!void {
    if (depth == 0) return error.PolicyInvalid;
    const operator = try operatorOf(statement);
    const arguments = statement.list[1..];
    switch (operator) {
        .not => try validateStatement(arena, arguments[0], depth - 1),
        .@"and", .@"or" => {
            if (arguments[0] != .list) return error.PolicyInvalid;
            for (arguments[0].list) |inner| try validateStatement(arena, inner, depth - 1);
        },
        .all, .any => {
            _ = try segmentsOf(arena, arguments[0]);
            try validateStatement(arena, arguments[1], depth - 1);
        },
        .like => {
            _ = try segmentsOf(arena, arguments[0]);
            if (arguments[1] != .text) return error.PolicyInvalid;
        },
        .lt, .le, .gt, .ge => {
            _ = try segmentsOf(arena, arguments[0]);
            if (!arguments[1].isNumber()) return error.PolicyInvalid;
        },
        .eq, .ne => _ = try segmentsOf(arena, arguments[0]),
    }
}

/// A statement's operator, after checking the number of its arguments.
fn operatorOf(statement: Value) Error!Operator {
    if (statement != .list or statement.list.len < 2 or statement.list[0] != .text) return error.PolicyInvalid;
    const operator = operators.get(statement.list[0].text) orelse return error.PolicyInvalid;
    const wanted: usize = switch (operator) {
        .not, .@"and", .@"or" => 2,
        else => 3,
    };
    return if (statement.list.len == wanted) operator else error.PolicyInvalid;
}

fn segmentsOf(arena: Allocator, value: Value) Error![]const selector.Segment {
    if (value != .text) return error.PolicyInvalid;
    return selector.parse(arena, value.text) catch |err| switch (err) {
        error.SelectorInvalid => error.PolicyInvalid,
        error.OutOfMemory => error.OutOfMemory,
    };
}

/// Whether `args` satisfy every statement of `policy`.
pub fn holds(arena: Allocator, policy: Value, args: Value) Error!bool {
    if (policy != .list) return error.PolicyInvalid;
    var evaluator: Evaluator = .{ .arena = arena };
    for (policy.list) |statement| if (!try evaluator.statement(statement, args, ipld.max_depth)) return false;
    return true;
}

const Evaluator = struct {
    arena: Allocator,
    steps: usize = 0,

    fn spend(self: *Evaluator, steps: usize) Error!void {
        self.steps += steps + 1;
        if (self.steps > max_steps) return error.PolicyTooCostly;
    }

    fn statement(self: *Evaluator, s: Value, args: Value, depth: u8) Error!bool {
        if (depth == 0) return error.PolicyInvalid;
        try self.spend(0);
        const operator = try operatorOf(s);
        const first = s.list[1];
        switch (operator) {
            .not => return !try self.statement(first, args, depth - 1),
            .@"and" => return self.every(first, args, depth - 1),
            .@"or" => return self.some(first, args, depth - 1),
            else => {},
        }
        const selected = try self.select(first, args) orelse return false;
        const second = s.list[2];
        return switch (operator) {
            .eq => self.equal(selected, second),
            .ne => !try self.equal(selected, second),
            .lt, .le, .gt, .ge => compares(operator, selected, second),
            .like => self.like(selected, second),
            .all, .any => self.quantify(operator, selected, second, depth - 1),
            else => unreachable, // the connectives returned above
        };
    }

    fn every(self: *Evaluator, statements: Value, args: Value, depth: u8) Error!bool {
        if (statements != .list) return error.PolicyInvalid;
        for (statements.list) |s| if (!try self.statement(s, args, depth)) return false;
        return true;
    }

    fn some(self: *Evaluator, statements: Value, args: Value, depth: u8) Error!bool {
        if (statements != .list) return error.PolicyInvalid;
        for (statements.list) |s| if (try self.statement(s, args, depth)) return true;
        return statements.list.len == 0;
    }

    fn select(self: *Evaluator, text: Value, args: Value) Error!?Value {
        if (text == .text) try self.spend(text.text.len); // it is read again for every element that a quantifier visits
        const segments = try segmentsOf(self.arena, text);
        var value = args;
        for (segments) |*segment| {
            try self.spend(if (value == .map) value.map.len else 0);
            value = selector.resolve(self.arena, segment[0..1], value) catch |err| switch (err) {
                error.Unresolved => return null,
                error.OutOfMemory => return error.OutOfMemory,
            };
        }
        return value;
    }

    fn quantify(self: *Evaluator, operator: Operator, collection: Value, inner: Value, depth: u8) Error!bool {
        const items = selector.elements(self.arena, collection) catch |err| switch (err) {
            error.Unresolved => return false,
            error.OutOfMemory => return error.OutOfMemory,
        };
        try self.spend(items.list.len);
        for (items.list) |item| {
            const holds_here = try self.statement(inner, item, depth);
            if (holds_here != (operator == .all)) return holds_here;
        }
        return operator == .all;
    }

    fn equal(self: *Evaluator, a: Value, b: Value) Error!bool {
        try self.spend(0);
        if (a.isNumber() and b.isNumber()) return Value.order(a, b).? == .eq;
        if (std.meta.activeTag(a) != std.meta.activeTag(b)) return false;
        switch (a) {
            .list => |items| {
                if (items.len != b.list.len) return false;
                for (items, b.list) |x, y| if (!try self.equal(x, y)) return false;
                return true;
            },
            .map => |entries| {
                if (entries.len != b.map.len) return false;
                for (entries, b.map) |x, y| if (!x.key.eql(y.key) or !try self.equal(x.value, y.value)) return false;
                return true;
            },
            inline .text, .bytes, .link => |x, tag| {
                try self.spend(x.len / 16);
                return std.mem.eql(u8, x, @field(b, @tagName(tag)));
            },
            else => return a.eql(b),
        }
    }

    /// Glob matching. `*` matches any characters, `\*` matches an asterisk, and every other backslash matches itself.
    fn like(self: *Evaluator, value: Value, glob: Value) Error!bool {
        if (glob != .text) return error.PolicyInvalid;
        if (value != .text) return false;
        const pattern = glob.text;
        const subject = value.text;
        var p: usize = 0;
        var s: usize = 0;
        var star: ?usize = null; // the pattern's place after the last star, and where the subject stood
        var mark: usize = 0;
        while (true) {
            try self.spend(0);
            if (p < pattern.len and pattern[p] == '*') {
                p += 1;
                star = p;
                mark = s;
                continue;
            }
            if (s == subject.len and p == pattern.len) return true;
            const escaped = p + 1 < pattern.len and pattern[p] == '\\' and pattern[p + 1] == '*';
            const literal = if (escaped) p + 1 else p;
            if (s < subject.len and literal < pattern.len and pattern[literal] == subject[s]) {
                p = literal + 1;
                s += 1;
                continue;
            }
            if (star == null or mark == subject.len) return false;
            mark += 1;
            s = mark;
            p = star.?;
        }
    }
};

fn compares(operator: Operator, a: Value, b: Value) bool {
    const order = Value.order(a, b) orelse return false;
    return switch (operator) {
        .lt => order == .lt,
        .le => order != .gt,
        .gt => order == .gt,
        .ge => order != .lt,
        else => unreachable, // called only for the four orderings
    };
}
