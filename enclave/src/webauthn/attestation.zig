//! Reads attestation objects (WebAuthn Level 3, section 6.5.4). Checks the fields of each statement format (section 8)
//! but no signatures or certificates, because any model of authenticator may register a DID.

const std = @import("std");
const authenticator_data = @import("authenticator_data.zig");
const cbor = @import("../codec/cbor.zig");
const ipld = @import("../codec/ipld.zig");
const Allocator = std.mem.Allocator;

pub const Error = error{
    AttestationObjectInvalid,
    AttestationFormatUnknown,
    AttestationStatementInvalid,
    AttestedCredentialMissing,
} || authenticator_data.Error;

pub const Attestation = struct {
    format: []const u8,
    statement: ipld.Value,
    data: authenticator_data.AuthenticatorData,
};

const Kind = enum { int, bytes, text, certificates };

const Field = struct { name: []const u8, kind: Kind, required: bool = true };

const Format = struct { name: []const u8, fields: []const Field };

/// The formats of section 8, one per row. The statement of "none" is empty.
const formats = [_]Format{
    .{ .name = "none", .fields = &.{} },
    .{ .name = "packed", .fields = &.{
        .{ .name = "alg", .kind = .int },
        .{ .name = "sig", .kind = .bytes },
        .{ .name = "x5c", .kind = .certificates, .required = false },
    } },
    .{ .name = "tpm", .fields = &.{
        .{ .name = "ver", .kind = .text },
        .{ .name = "alg", .kind = .int },
        .{ .name = "x5c", .kind = .certificates },
        .{ .name = "sig", .kind = .bytes },
        .{ .name = "certInfo", .kind = .bytes },
        .{ .name = "pubArea", .kind = .bytes },
    } },
    .{ .name = "android-key", .fields = &.{
        .{ .name = "alg", .kind = .int },
        .{ .name = "sig", .kind = .bytes },
        .{ .name = "x5c", .kind = .certificates },
    } },
    .{ .name = "android-safetynet", .fields = &.{
        .{ .name = "ver", .kind = .text },
        .{ .name = "response", .kind = .bytes },
    } },
    .{ .name = "fido-u2f", .fields = &.{
        .{ .name = "x5c", .kind = .certificates },
        .{ .name = "sig", .kind = .bytes },
    } },
    .{
        .name = "apple",
        .fields = &.{
            .{ .name = "alg", .kind = .int, .required = false }, // sent by early devices
            .{ .name = "x5c", .kind = .certificates },
        },
    },
};

/// Reads all of `bytes`, which must contain an attested credential.
pub fn parse(arena: Allocator, bytes: []const u8) Error!Attestation {
    const object = try cbor.decode(arena, .ctap2, bytes);
    const format = object.get("fmt") orelse return error.AttestationObjectInvalid;
    const statement = object.get("attStmt") orelse return error.AttestationObjectInvalid;
    const data = object.get("authData") orelse return error.AttestationObjectInvalid;
    if (format != .text or data != .bytes or object.map.len != 3) return error.AttestationObjectInvalid;
    try checkStatement(format.text, statement);
    const parsed = try authenticator_data.parse(arena, data.bytes);
    if (parsed.attested == null) return error.AttestedCredentialMissing;
    return .{ .format = format.text, .statement = statement, .data = parsed };
}

fn checkStatement(name: []const u8, statement: ipld.Value) Error!void {
    if (statement != .map) return error.AttestationStatementInvalid;
    const format = for (formats) |f| {
        if (std.mem.eql(u8, f.name, name)) break f;
    } else return error.AttestationFormatUnknown;
    var known: usize = 0;
    for (format.fields) |field| {
        const value = statement.get(field.name) orelse {
            if (field.required) return error.AttestationStatementInvalid;
            continue;
        };
        if (!is(field.kind, value)) return error.AttestationStatementInvalid;
        known += 1;
    }
    if (known != statement.map.len) return error.AttestationStatementInvalid;
}

fn is(kind: Kind, value: ipld.Value) bool {
    return switch (kind) {
        .int => value == .int,
        .bytes => value == .bytes,
        .text => value == .text,
        .certificates => isCertificates(value),
    };
}

fn isCertificates(value: ipld.Value) bool {
    if (value != .list or value.list.len == 0) return false;
    for (value.list) |item| if (item != .bytes or item.bytes.len == 0) return false;
    return true;
}
