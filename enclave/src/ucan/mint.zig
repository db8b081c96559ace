//! Mints UCAN 1.0 tokens. The caller passes a signer, the time and the nonce.

const std = @import("std");
const did_key = @import("../codec/did_key.zig");
const envelope = @import("envelope.zig");
const ipld = @import("../codec/ipld.zig");
const payload = @import("payload.zig");
const policy = @import("../codec/policy.zig");
const Allocator = std.mem.Allocator;
const Value = ipld.Value;

pub const Error = payload.Error || envelope.Signer.SignError;

/// Length of the nonces that this module generates, in bytes.
pub const nonce_length = 16;

pub const Delegation = struct {
    audience: []const u8,
    /// The subject's DID, or null for a powerline, which covers every subject whose authority the issuer receives.
    subject: ?[]const u8,
    command: []const u8,
    policy: Value = .{ .list = &.{} },
    /// Seconds since 1970, or null if the token never expires.
    expiration: ?i64,
    not_before: ?i64 = null,
    nonce: []const u8,
    meta: ?Value = null,
    version: envelope.Version = .minted,
};

pub const Invocation = struct {
    subject: []const u8,
    audience: ?[]const u8 = null,
    command: []const u8,
    args: Value,
    /// Binary CIDs, root first.
    proofs: []const []const u8,
    expiration: ?i64,
    issued_at: ?i64 = null,
    nonce: []const u8,
    meta: ?Value = null,
    version: envelope.Version = .minted,
};

/// A signed delegation. Refuses claims that `payload.decode` would refuse.
pub fn delegation(arena: Allocator, d: Delegation, signer: envelope.Signer) Error![]const u8 {
    try payload.checkDid(d.audience);
    if (d.subject) |subject| try payload.checkDid(subject);
    try payload.checkCommand(d.command);
    try policy.validate(arena, d.policy);
    var fields: Fields = .{ .arena = arena };
    try fields.put("iss", ipld.text(try did_key.format(arena, signer.key)));
    try fields.put("aud", ipld.text(d.audience));
    try fields.put("sub", if (d.subject) |subject| ipld.text(subject) else .null);
    try fields.put("cmd", ipld.text(d.command));
    try fields.put("pol", d.policy);
    try fields.put("nonce", .{ .bytes = d.nonce });
    try fields.put("exp", seconds(d.expiration));
    if (d.not_before) |at| try fields.put("nbf", .{ .int = at });
    if (d.meta) |meta| try fields.put("meta", meta);
    return sealed(arena, .delegation, d.version, fields, signer);
}

/// A signed invocation.
pub fn invocation(arena: Allocator, i: Invocation, signer: envelope.Signer) Error![]const u8 {
    try payload.checkDid(i.subject);
    if (i.audience) |audience| try payload.checkDid(audience);
    try payload.checkCommand(i.command);
    const proofs = try arena.alloc(Value, i.proofs.len);
    for (i.proofs, proofs) |proof, *slot| slot.* = .{ .link = proof };
    var fields: Fields = .{ .arena = arena };
    try fields.put("iss", ipld.text(try did_key.format(arena, signer.key)));
    try fields.put("sub", ipld.text(i.subject));
    if (i.audience) |audience| try fields.put("aud", ipld.text(audience));
    try fields.put("cmd", ipld.text(i.command));
    try fields.put("args", i.args);
    try fields.put("prf", .{ .list = proofs });
    try fields.put("nonce", .{ .bytes = i.nonce });
    try fields.put("exp", seconds(i.expiration));
    if (i.issued_at) |at| try fields.put("iat", .{ .int = at });
    if (i.meta) |meta| try fields.put("meta", meta);
    return sealed(arena, .invocation, i.version, fields, signer);
}

const Fields = struct {
    arena: Allocator,
    list: std.ArrayList(ipld.Entry) = .empty,

    fn put(self: *Fields, name: []const u8, value: Value) error{OutOfMemory}!void {
        try self.list.append(self.arena, ipld.field(name, value));
    }
};

fn seconds(at: ?i64) Value {
    return if (at) |s| .{ .int = s } else .null;
}

/// Signs the token, and parses it again to prove that others can read it.
fn sealed(
    arena: Allocator,
    kind: envelope.Kind,
    version: envelope.Version,
    fields: Fields,
    signer: envelope.Signer,
) Error![]const u8 {
    const token = try envelope.seal(arena, kind, version, .{ .map = fields.list.items }, signer);
    _ = try payload.decode(arena, token);
    return token;
}
