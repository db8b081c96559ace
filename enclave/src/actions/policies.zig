//! Checks that a policy refers only to arguments of the commands that it restricts, before the vault signs it.

const std = @import("std");
const arguments = @import("arguments.zig");
const eth = @import("../chains/eth.zig");
const ipld = @import("../codec/ipld.zig");
const resources = @import("../vault/resources.zig");
const selector = @import("../codec/selector.zig");
const table = @import("table.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Resource = resources.Resource;

/// The arguments of a payment (docs/client.md). Payments are executed by the host and not by `exec`.
const payment = [_][]const u8{ "to", "amount", "token", "chainId", "total" };

/// Refuses a policy for the vault's commands if it refers to an argument that no covered command has. Such a policy
/// could never be satisfied or would restrict nothing. Policies for other services' commands are not checked.
pub fn checkEnforced(ctx: *Ctx, command: []const u8, policy: ipld.Value) Error!void {
    var parts = std.mem.splitScalar(u8, command[1..], '/');
    const resource = resources.find(parts.first()) orelse return;
    const action = parts.next();
    if (action) |name| if (!isAction(resource, name)) return;
    for (policy.list) |statement| {
        if (!try speaks(ctx, resource, action, statement))
            return ctx.fail(error.InvalidField, "policy: an argument that the command does not have");
    }
}

fn speaks(ctx: *Ctx, resource: Resource, action: ?[]const u8, statement: ipld.Value) Error!bool {
    const second = statement.list[1];
    if (std.mem.eql(u8, statement.list[0].text, "not")) return speaks(ctx, resource, action, second);
    if (second == .list) { // and, or
        for (second.list) |inner| if (!try speaks(ctx, resource, action, inner)) return false;
        return true;
    }
    const segments = selector.parse(ctx.arena, second.text) catch return error.InvalidToken;
    if (segments.len == 0 or segments[0].step != .field) return true; // the arguments as a whole
    const name = segments[0].step.field;
    if (pays(resource, action)) try checkAddress(ctx, name, statement);
    if (action) |one| return takes(resource, one, name);
    for (resource.actions) |common| if (arguments.has(resource, @tagName(common), name)) return true;
    for (table.all) |particular| {
        if (std.mem.eql(u8, particular.resource, resource.name) and arguments.has(resource, particular.name, name))
            return true;
    }
    return pays(resource, null) and arguments.contains(&payment, name);
}

/// Refuses an address that is not in EIP-55 form, because payments use that form and no other would match.
fn checkAddress(ctx: *Ctx, name: []const u8, statement: ipld.Value) Error!void {
    if (!arguments.contains(&.{ "to", "token" }, name) or statement.list.len < 3 or statement.list[2] != .text) return;
    const given = statement.list[2].text;
    const address = eth.parseAddress(given) catch return;
    if (!std.mem.eql(u8, given, try eth.checksummed(ctx.arena, address)))
        return ctx.fail(error.InvalidField, "policy: an address not in EIP-55's form");
}

fn takes(resource: Resource, action: []const u8, name: []const u8) bool {
    return if (pays(resource, action)) arguments.contains(&payment, name) else arguments.has(resource, action, name);
}

fn pays(resource: Resource, action: ?[]const u8) bool {
    if (!std.mem.eql(u8, resource.name, "accounts")) return false;
    return if (action) |name| std.mem.eql(u8, name, "pay") else true;
}

fn isAction(resource: Resource, name: []const u8) bool {
    return pays(resource, name) or
        table.find(resource.name, name) != null or arguments.commonOf(resource, name) != null;
}
