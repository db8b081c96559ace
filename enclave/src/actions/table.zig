//! The table of the actions that only some resources have. vault/resources.zig has the actions that all resources have.

const std = @import("std");
const filling = @import("filling.zig");
const Error = @import("../platform/errors.zig").Error;

/// Identifies the function in actions.zig that performs an action.
pub const Handler = enum {
    create_account,
    derive_account,
    set_default,
    sign_as_account,
    verify_assertion,
    extend,
    is_valid,
    create_key,
    delete_key,
    derive_from_key,
    sign_with_key,
    refresh_key,
    rotate_key,
    delegate,
    verify_token,
    receive,
    replace_value,
    invoke,
};

pub const Action = struct {
    resource: []const u8,
    name: []const u8,
    run: Handler,
    /// The arguments that the action reads in addition to the row's key.
    takes: []const []const u8 = &.{},
    /// Whether the action creates a row, so that it also reads the row's columns.
    makes_row: bool = false,
    /// Fills in default values for missing arguments before a token's policy is applied to the arguments.
    fill: ?*const fn (filling.Filling) Error!void = null,
    /// Whether the action mints tokens. No token may allow minting, because its policy could not restrict the new
    /// token.
    mints: bool = false,
};

const addressing = [_][]const u8{ "chain", "form", "prefix", "factory", "implementation", "salt" };
const signed = [_][]const u8{ "digest", "message", "user_op", "entry_point", "chain_id", "val_share", "deterministic" };
const asserted = [_][]const u8{
    "assertion", "challenge", "origin", "rp_id", "user_verification", "cross_origin", "top_origins",
};
const verified = [_][]const u8{ "token", "proofs", "subject", "audience", "command", "args", "added_args", "now" };

/// The actions that only some resources have.
pub const all = [_]Action{
    .{
        .resource = "accounts",
        .name = "create",
        .run = .create_account,
        .makes_row = true,
        .fill = filling.forNewAccount,
    },
    .{
        .resource = "accounts",
        .name = "derive",
        .run = .derive_account,
        .takes = &(addressing ++ [_][]const u8{"curve"}),
        .makes_row = true,
        .fill = filling.forDerivedAccount,
    },
    .{ .resource = "accounts", .name = "set_default", .run = .set_default },
    .{ .resource = "accounts", .name = "sign", .run = .sign_as_account, .takes = &signed, .fill = filling.forAccount },
    .{
        .resource = "credentials",
        .name = "verify",
        .run = .verify_assertion,
        .takes = &asserted,
        .fill = filling.forAssertion,
    },
    .{ .resource = "sessions", .name = "refresh", .run = .extend, .takes = &.{"expires_at"} },
    .{ .resource = "sessions", .name = "verify", .run = .is_valid },
    .{ .resource = "grants", .name = "verify", .run = .is_valid },
    .{
        .resource = "enclaves",
        .name = "create",
        .run = .create_key,
        .takes = &.{ "curve", "keep_val_share" },
        .fill = filling.forNewKey,
    },
    .{ .resource = "enclaves", .name = "delete", .run = .delete_key },
    .{
        .resource = "enclaves",
        .name = "derive",
        .run = .derive_from_key,
        .takes = &(addressing ++ [_][]const u8{ "public_key", "curve" }),
        .fill = filling.forDerivedKey,
    },
    .{ .resource = "enclaves", .name = "sign", .run = .sign_with_key, .takes = &signed, .fill = filling.forSigning },
    .{
        .resource = "enclaves",
        .name = "refresh",
        .run = .refresh_key,
        .takes = &.{"val_share"},
        .fill = filling.firstKey,
    },
    .{
        .resource = "enclaves",
        .name = "rotate",
        .run = .rotate_key,
        .takes = &.{"val_share"},
        .fill = filling.firstKey,
    },
    .{ .resource = "delegations", .name = "create", .run = .delegate, .mints = true },
    .{ .resource = "delegations", .name = "delegate", .run = .delegate, .mints = true },
    .{ .resource = "delegations", .name = "verify", .run = .verify_token, .takes = &verified },
    .{ .resource = "ucans", .name = "create", .run = .receive, .takes = &.{"token"} },
    .{ .resource = "ucans", .name = "verify", .run = .verify_token, .takes = &verified },
    .{ .resource = "tokens", .name = "refresh", .run = .extend, .takes = &.{"expires_at"} },
    .{ .resource = "tokens", .name = "rotate", .run = .replace_value, .takes = &.{"value"} },
    .{ .resource = "tokens", .name = "verify", .run = .is_valid },
    .{ .resource = "invocations", .name = "create", .run = .invoke, .mints = true },
    .{ .resource = "invocations", .name = "verify", .run = .verify_token, .takes = &verified },
};

/// The resource's action with that name in the table above, or null.
pub fn find(resource: []const u8, name: []const u8) ?*const Action {
    for (&all) |*action| {
        if (std.mem.eql(u8, action.resource, resource) and std.mem.eql(u8, action.name, name)) return action;
    }
    return null;
}
