//! Tests the policy language with the cases in its specification and in its published fixtures.

const std = @import("std");
const dag_json = @import("dag_json.zig");
const policy = @import("policy.zig");
const Allocator = std.mem.Allocator;

fn evaluate(arena: Allocator, args: []const u8, statements: []const u8) !bool {
    const parsed_args = try std.json.parseFromSliceLeaky(std.json.Value, arena, args, .{});
    const parsed = try std.json.parseFromSliceLeaky(std.json.Value, arena, statements, .{});
    const value = try dag_json.toValue(arena, parsed);
    try policy.validate(arena, value);
    return policy.holds(arena, value, try dag_json.toValue(arena, parsed_args));
}

fn expect(wanted: bool, args: []const u8, statements: []const u8) !void {
    var arena = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena.deinit();
    std.testing.expectEqual(wanted, try evaluate(arena.allocator(), args, statements)) catch |err| {
        std.debug.print("{s} over {s}\n", .{ statements, args });
        return err;
    };
}

const mail =
    \\{"from":"alice@example.com","to":["bob@example.com","carol@not.example.com","dan@example.com"],
    \\"cc":["fraud@example.com"],"title":"Meeting Confirmation","body":"I'll see you on Tuesday"}
;

test "selectors of the specification's own table" {
    try expect(true, mail, "[[\"==\",\".title\",\"Meeting Confirmation\"]]");
    try expect(true, mail, "[[\"==\",\".cc\",[\"fraud@example.com\"]]]");
    try expect(true, mail, "[[\"==\",\".to[1]\",\"carol@not.example.com\"]]");
    try expect(true, mail, "[[\"==\",\".to[-1]\",\"dan@example.com\"]]");
    try expect(true, mail, "[[\"==\",\".to[99]?\",null]]");
    try expect(false, mail, "[[\"==\",\".to[99]\",null]]");
    try expect(false, mail, "[[\"!=\",\".to[99]\",1]]");
    try expect(true, mail, "[[\"==\",\".missing\",null]]");
    try expect(false, mail, "[[\"==\",\".missing.inner\",null]]");
    try expect(true, mail, "[[\"==\",\".missing.inner?\",null]]");
    try expect(false, mail, "[[\"==\",\".title.inner.more?\",null]]");
    try expect(true, mail, "[[\"==\",\".to[0:-2]\",[\"bob@example.com\"]]]");
    try expect(true, mail, "[[\"==\",\".[\\\"title\\\"]\",\"Meeting Confirmation\"]]");
    try expect(true, "{\"a\":{\"b\":1,\"c\":2}}", "[[\"==\",\".a[]\",[1,2]]]");
    try expect(true, "{\"/\":{\"bytes\":\"1qnBjPjE\"}}", "[[\"==\",\".[3]\",140]]");
}

test "malformed policies are refused" {
    var arena = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena.deinit();
    const bad = .{
        "{}",                     "[[]]",                   "[[\"==\"]]",              "[[\"==\",\".a\"]]",
        "[[\"~\",\".a\",1]]",     "[[\"==\",\"a\",1]]",     "[[\"==\",\"..a\",1]]",    "[[\"==\",\".a.\",1]]",
        "[[\"<\",\".a\",\"x\"]]", "[[\"like\",\".a\",1]]",  "[[\"not\",1]]",           "[[\"and\",{}]]",
        "[[\"any\",\".a\",[]]]",  "[[\"==\",\".a[x]\",1]]", "[[\"==\",\".a[+1]\",1]]", "[[\"==\",\".a[\\\"b]\",1]]",
        "[[\"==\",\".a[1\",1]]",  "[[\"==\",\"?\",1]]",     "[[\"==\",\".a b\",1]]",   "[[\"==\",\"\",1]]",
    };
    inline for (bad) |text| try std.testing.expectError(error.PolicyInvalid, evaluate(arena.allocator(), "{}", text));
}

test "a costly policy is refused, not suffered" {
    var arena = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena.deinit();
    const a = arena.allocator();
    const text = try std.fmt.allocPrint(a, "{{\"a\":\"{s}\"}}", .{@as([20000]u8, @splat('a'))});
    const glob = try std.fmt.allocPrint(a, "[[\"like\",\".a\",\"*{s}b\"]]", .{@as([5000]u8, @splat('a'))});
    try std.testing.expectError(error.PolicyTooCostly, evaluate(a, text, glob));
    const many = try std.fmt.allocPrint(a, "{{\"a\":[{s}0]}}", .{std.mem.asBytes(&@as([20000][2]u8, @splat("0,".*)))});
    const long = try std.fmt.allocPrint(a, "[[\"all\",\".a\",[\"==\",\".{s}?\",null]]]", .{@as([900]u8, @splat('b'))});
    try std.testing.expectError(error.PolicyTooCostly, evaluate(a, many, long));
}

test "globs" {
    const pattern = "[[\"like\",\".a\",\"Alice\\\\*, Bob*, Carol.\"]]";
    try expect(true, "{\"a\":\"Alice*, Bob, Dan, Erin, Carol.\"}", pattern);
    try expect(true, "{\"a\":\"Alice*, Bob*, Carol.\"}", pattern);
    try expect(false, "{\"a\":\"Alice Cooper, Bob, Carol.\"}", pattern);
    try expect(false, "{\"a\":\" Alice*, Bob, Carol. \"}", pattern);
    try expect(false, "{\"a\":7}", "[[\"like\",\".a\",\"*\"]]");
    try expect(true, "{\"a\":\"\"}", "[[\"like\",\".a\",\"**\"]]");
    try expect(true, "{\"a\":\"x\\\\y\"}", "[[\"like\",\".a\",\"x\\\\y\"]]");
    try expect(false, "{\"a\":\"abc\"}", "[[\"like\",\".a\",\"a*b\"]]");
}

test "connectives and quantifiers" {
    const people = "{\"a\":[{\"b\":1},{\"b\":2},{\"z\":[7,8,9]}],\"none\":[],\"m\":{\"x\":1,\"y\":2}}";
    try expect(true, people, "[[\"or\",[]],[\"and\",[]]]");
    try expect(true, people, "[[\"any\",\".a\",[\"==\",\".b\",2]]]");
    try expect(false, people, "[[\"all\",\".a\",[\">\",\".b\",0]]]");
    try expect(true, people, "[[\"all\",\".none\",[\"==\",\".\",1]]]");
    try expect(false, people, "[[\"any\",\".none\",[\"==\",\".\",1]]]");
    try expect(true, people, "[[\"all\",\".m\",[\">\",\".\",0.5]]]");
    try expect(false, people, "[[\"all\",\".m.x\",[\"==\",\".\",1]]]");
    try expect(true, people, "[[\"not\",[\"==\",\".m.x\",2]]]");
}
