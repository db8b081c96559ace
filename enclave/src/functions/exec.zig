//! `exec`: runs one action on one resource, completely or not at all.

const std = @import("std");
const actions = @import("../actions/actions.zig");
const args = @import("../call/args.zig");
const arguments_file = @import("../actions/arguments.zig");
const json = @import("../codec/json.zig");
const outcome = @import("../call/outcome.zig");
const resources = @import("../vault/resources.zig");
const session = @import("../vault/session.zig");
const tokens = @import("../actions/tokens.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

const Filter = struct { resource: []const u8, action: []const u8 };

/// ExecInput and {args?, audience?} -> ExecOutput. A token's chain must allow `/resource/action` with these arguments
/// to `audience`. Without a token, the caller is the vault's owner, who may do everything.
pub fn exec(ctx: *Ctx, input: Json) Error!Json {
    const text = try args.string(ctx, input, "filter", 256);
    const arguments = try args.optionalObject(ctx, input, "args") orelse try json.object(ctx.arena, .{});
    const result = run(ctx, input, text, arguments) catch |err| return outcome.failure(ctx, err);
    return json.object(ctx.arena, .{ .success = true, .result = result });
}

fn run(ctx: *Ctx, input: Json, text: []const u8, arguments: Json) Error!Json {
    const open = try session.require(ctx);
    const filter = parse(text) orelse return error.InvalidFilter;
    const resource = resources.find(filter.resource) orelse return ctx.fail(error.UnknownAction, try possible(ctx));
    var asked: actions.Asked = .{ .args = arguments };
    if (args.field(input, "token")) |token| {
        asked = .{
            .args = try arguments_file.resolved(ctx, open.database, resource, filter.action, arguments),
            .by_token = true,
        };
        try tokens.authorize(ctx, open.database, token, .{
            .command = try std.fmt.allocPrint(ctx.arena, "/{s}/{s}", .{ filter.resource, filter.action }),
            .given = arguments,
            .resolved = asked.args,
            .audience = try args.optionalString(ctx, input, "audience", 512),
        });
        // The only purpose of an argument that the action does not read would be to satisfy a policy.
        try arguments_file.checkKnown(ctx, resource, filter.action, arguments);
    }
    const before = open.database.changesInAll();
    try open.database.execute("BEGIN");
    errdefer {
        open.database.execute("ROLLBACK") catch {};
        open.saved_changes += open.database.changesInAll() - before; // rolled back: nothing to save
    }
    const result = try actions.run(ctx, open.database, resource, filter.action, asked);
    try open.database.execute("COMMIT");
    return result;
}

/// Reads `resource:<name> action:<name>` in either order, separated by one space. Names consist of lower-case letters
/// and underscores.
fn parse(text: []const u8) ?Filter {
    const space = std.mem.indexOfScalar(u8, text, ' ') orelse return null;
    const first = text[0..space];
    const second = text[space + 1 ..];
    const resource = named("resource:", first) orelse named("resource:", second) orelse return null;
    const action = named("action:", first) orelse named("action:", second) orelse return null;
    return .{ .resource = resource, .action = action };
}

fn named(prefix: []const u8, pair: []const u8) ?[]const u8 {
    if (!std.mem.startsWith(u8, pair, prefix)) return null;
    const name = pair[prefix.len..];
    if (name.len == 0) return null;
    for (name) |letter| if (!std.ascii.isLower(letter) and letter != '_') return null;
    return name;
}

fn possible(ctx: *Ctx) Error![]const u8 {
    var names: std.ArrayList(u8) = .empty;
    try names.appendSlice(ctx.arena, "resources are");
    for (resources.all) |resource| {
        try names.append(ctx.arena, ' ');
        try names.appendSlice(ctx.arena, resource.name);
    }
    return names.items;
}
