//! The table of the interface's fourteen resources, with the columns and actions of each.

const std = @import("std");

/// `json` is a list of strings.
pub const Kind = enum { text, time, integer, boolean, json, blob, hex };

/// Who sets a column when a row is created.
pub const Origin = enum { required, optional, system };

pub const Column = struct {
    name: []const u8,
    kind: Kind = .text,
    origin: Origin = .optional,
    /// Whether `update` may change it.
    mutable: bool = false,
    /// The default in the table's definition (schema.zig), as text, or null if none exists.
    default: ?[]const u8 = null,
    /// Whether the interface documents the column, which means that QueryOutput contains it.
    documented: bool = false,
};

/// The actions that every resource can have.
pub const Common = enum { list, get, create, update, delete, revoke };

pub const Resource = struct {
    name: []const u8,
    /// The key column. With `random_key`, a row that is created without a key gets a random one.
    key: []const u8 = "id",
    random_key: bool = true,
    columns: []const Column,
    actions: []const Common,

    pub fn column(resource: Resource, name: []const u8) ?Column {
        for (resource.columns) |each| if (std.mem.eql(u8, each.name, name)) return each;
        return null;
    }
};

const id: Column = .{ .name = "id" };
const created: Column = .{ .name = "created_at", .origin = .system };
const revoked: Column = .{ .name = "revoked_at", .origin = .system };
const token_columns = [_]Column{
    .{ .name = "cid", .origin = .system },
    .{ .name = "issuer", .origin = .system },
    .{ .name = "audience", .origin = .system },
    .{ .name = "subject", .origin = .system },
    .{ .name = "command", .origin = .system },
    .{ .name = "expiration", .kind = .integer, .origin = .system },
    .{ .name = "token", .kind = .blob, .origin = .system },
    created,
};
const bounded_token_columns = token_columns ++ [_]Column{
    .{ .name = "not_before", .kind = .integer, .origin = .system },
    revoked,
};

pub const all = [_]Resource{
    .{ .name = "accounts", .columns = &.{
        id,
        .{ .name = "address", .origin = .required, .documented = true },
        .{ .name = "chain_id", .origin = .required, .documented = true },
        .{ .name = "coin_type", .default = "60", .kind = .integer, .documented = true },
        .{ .name = "account_index", .default = "0", .kind = .integer, .documented = true },
        .{ .name = "address_index", .default = "0", .kind = .integer, .documented = true },
        .{ .name = "label", .default = "", .mutable = true, .documented = true },
        .{ .name = "is_default", .kind = .boolean, .origin = .system, .documented = true },
        .{ .name = "enclave_id" },
        created,
    }, .actions = &.{ .list, .get, .create, .update, .delete } },
    .{ .name = "credentials", .key = "credential_id", .random_key = false, .columns = &.{
        .{ .name = "credential_id", .origin = .required, .documented = true },
        .{ .name = "device_name", .default = "", .mutable = true, .documented = true },
        .{ .name = "device_type", .default = "platform", .documented = true },
        .{ .name = "authenticator", .default = "", .mutable = true, .documented = true },
        .{ .name = "transports", .default = "[]", .kind = .json, .documented = true },
        .{ .name = "public_key", .kind = .blob },
        .{ .name = "sign_count", .default = "0", .kind = .integer, .mutable = true },
        .{ .name = "created_at", .origin = .system, .documented = true },
        .{ .name = "last_used", .origin = .system, .documented = true },
    }, .actions = &.{ .list, .get, .create, .update, .delete } },
    .{ .name = "sessions", .columns = &.{
        id,
        .{ .name = "credential_id" },
        .{ .name = "name", .default = "", .mutable = true },
        .{ .name = "expires_at", .kind = .time, .mutable = true },
        created,
        revoked,
    }, .actions = &.{ .list, .get, .create, .update, .delete, .revoke } },
    .{ .name = "grants", .columns = &.{
        id,
        .{ .name = "session_id" },
        .{ .name = "grantee", .origin = .required },
        .{ .name = "command", .origin = .required },
        .{ .name = "expires_at", .kind = .time, .mutable = true },
        created,
        revoked,
    }, .actions = &.{ .list, .get, .create, .update, .delete, .revoke } },
    // The table `enclaves` also has columns for the sealed shares and their keys, which no response contains.
    .{ .name = "enclaves", .key = "enclave_id", .columns = &.{
        .{ .name = "enclave_id", .origin = .system },
        .{ .name = "curve", .origin = .system },
        .{ .name = "public_key", .kind = .hex, .origin = .system },
        .{ .name = "generation", .kind = .integer, .origin = .system },
        created,
    }, .actions = &.{ .list, .get } },
    .{
        .name = "delegations",
        .key = "cid",
        .columns = &bounded_token_columns,
        .actions = &.{ .list, .get, .delete, .revoke },
    },
    .{
        .name = "ucans",
        .key = "cid",
        .columns = &bounded_token_columns,
        .actions = &.{ .list, .get, .delete, .revoke },
    },
    .{ .name = "verification_methods", .columns = &.{
        .{ .name = "id", .documented = true },
        .{ .name = "type", .origin = .required, .documented = true },
        .{ .name = "controller", .origin = .required, .documented = true },
        .{ .name = "public_key", .origin = .required, .documented = true },
        .{ .name = "purpose", .origin = .required, .mutable = true, .documented = true },
        .{ .name = "enclave_id" },
        created,
    }, .actions = &.{ .list, .get, .create, .update, .delete } },
    .{ .name = "services", .columns = &.{
        id,
        .{ .name = "type", .origin = .required },
        .{ .name = "endpoint", .origin = .required, .mutable = true },
        .{ .name = "name", .default = "", .mutable = true },
        created,
    }, .actions = &.{ .list, .get, .create, .update, .delete } },
    .{ .name = "service_configs", .columns = &.{
        id,
        .{ .name = "service_id", .origin = .required },
        .{ .name = "name", .origin = .required },
        .{ .name = "value", .origin = .required, .mutable = true },
        created,
    }, .actions = &.{ .list, .get, .create, .update, .delete } },
    .{ .name = "tokens", .columns = &.{
        id,
        .{ .name = "service_id" },
        .{ .name = "kind", .origin = .required },
        .{ .name = "value", .origin = .required, .mutable = true },
        .{ .name = "expires_at", .kind = .time, .mutable = true },
        created,
        revoked,
    }, .actions = &.{ .list, .get, .create, .update, .delete, .revoke } },
    .{ .name = "invocations", .key = "cid", .columns = &token_columns, .actions = &.{ .list, .get, .delete } },
    .{ .name = "sync", .columns = &.{
        id,
        .{ .name = "device", .default = "", .mutable = true },
        .{ .name = "role", .origin = .required },
        .{ .name = "status", .origin = .required, .mutable = true },
        created,
        .{ .name = "completed_at", .kind = .time, .mutable = true },
    }, .actions = &.{ .list, .get, .create, .update, .delete } },
    .{ .name = "oidc", .columns = &.{
        id,
        .{ .name = "issuer", .origin = .required },
        .{ .name = "client_id", .origin = .required },
        .{ .name = "subject", .default = "" },
        .{ .name = "scopes", .default = "[]", .kind = .json, .mutable = true },
        created,
        revoked,
    }, .actions = &.{ .list, .get, .create, .update, .delete, .revoke } },
};

/// The resource with this name, or null.
pub fn find(name: []const u8) ?Resource {
    for (all) |resource| if (std.mem.eql(u8, resource.name, name)) return resource;
    return null;
}
