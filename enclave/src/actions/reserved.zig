//! What only the vault's owner may do, even if a token allows the command: change rows that decide which keys are the
//! vault's, make tokens, and sign what another protocol would take for the owner's own word.

const std = @import("std");
const args = @import("../call/args.zig");
const resources = @import("../vault/resources.zig");
const rows = @import("../vault/rows.zig");
const table = @import("table.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = @import("../codec/json.zig").Json;

/// How the clients mark their rows in `tokens` that decide over the vault's keys: the rows' kind, and the beginning of
/// their IDs.
const of_keys = [_][]const u8{ "removed-key", "pairing-passage" };

/// How the texts begin that Holdfast's protocols let the owner sign, such as the sign-in to an app.
const of_protocols = "holdfast/";

/// Fails with CommandDenied if a token's bearer may not run the action with these arguments.
pub fn check(ctx: *Ctx, database: Database, resource: resources.Resource, name: []const u8, input: Json) Error!void {
    if (table.find(resource.name, name)) |action| {
        if (action.mints) return ctx.fail(error.CommandDenied, "a token cannot make tokens of the vault");
        if (std.mem.eql(u8, name, "sign")) try checkSigned(ctx, input);
    }
    if (isReading(name)) return;
    if (std.mem.eql(u8, resource.name, "verification_methods"))
        return ctx.fail(error.CommandDenied, "under a token, verification_methods cannot change");
    if (std.mem.eql(u8, resource.name, "tokens")) try checkRow(ctx, database, resource, input);
}

/// A digest could be that of a token, and a text of a protocol could sign the bearer in as the owner.
fn checkSigned(ctx: *Ctx, input: Json) Error!void {
    if (args.field(input, "digest") != null)
        return ctx.fail(error.CommandDenied, "under a token, sign takes user_op or message, not digest");
    const message = args.field(input, "message") orelse return;
    if (message == .string and std.mem.startsWith(u8, message.string, of_protocols)) {
        return ctx.fail(error.CommandDenied, "under a token, no text of Holdfast's own protocols is signed");
    }
}

fn checkRow(ctx: *Ctx, database: Database, resource: resources.Resource, input: Json) Error!void {
    try checkName(ctx, input);
    const key = try rows.optionalKey(ctx, resource, input) orelse return;
    const row = rows.get(ctx, database, resource, key) catch |err| return if (err == error.NotFound) {} else err;
    try checkName(ctx, row);
}

fn checkName(ctx: *Ctx, row: Json) Error!void {
    for ([_][]const u8{ "id", "kind" }) |column| {
        const text = args.field(row, column) orelse continue;
        if (text != .string) continue;
        for (of_keys) |kind| if (std.mem.startsWith(u8, text.string, kind)) {
            return ctx.fail(error.CommandDenied, "under a token, rows about the vault's keys cannot change");
        };
    }
}

fn isReading(name: []const u8) bool {
    for ([_][]const u8{ "list", "get", "verify" }) |each| if (std.mem.eql(u8, each, name)) return true;
    return false;
}
