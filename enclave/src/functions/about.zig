//! What the module says of itself.

const std = @import("std");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const functions = @import("../entry/functions.zig");
const json = @import("../codec/json.zig");
const schema = @import("../vault/schema.zig");

/// {} -> {abi, schema_version, functions}: the convention's version, the database's, and the names in the table.
pub fn version(ctx: *Ctx, _: json.Json) Error!json.Json {
    var names: [functions.rows.len][]const u8 = undefined;
    for (&names, functions.rows) |*name, row| name.* = row.name;
    return json.object(ctx.arena, .{
        .abi = 1,
        .schema_version = schema.version,
        .functions = try json.array(ctx.arena, &names),
    });
}
