//! Reads the claims of a UCAN 1.0 token strictly: all required fields must be present and have the correct types. An
//! unknown claim might be a restriction, so a token with one is refused.

const std = @import("std");
const did_key = @import("../codec/did_key.zig");
const envelope = @import("envelope.zig");
const ipld = @import("../codec/ipld.zig");
const policy = @import("../codec/policy.zig");
const Allocator = std.mem.Allocator;
const Value = ipld.Value;

pub const Error = error{
    UcanMissingField,
    UcanUnknownField,
    UcanInvalidField,
    UcanInvalidCommand,
    UcanInvalidDid,
} || envelope.Error || policy.Error || did_key.Error;

const max_safe_integer = (1 << 53) - 1;

pub const Token = struct {
    envelope: envelope.Envelope,
    /// The issuer's key and its did:key without a fragment.
    key: did_key.PublicKey,
    iss: []const u8,
    /// The did:new of the same key, or null for Ed25519. Each costs a root on the curve, so it is computed only once.
    iss_new: ?[did_key.did_new_length]u8,
    aud: ?[]const u8,
    /// The subject's DID, or null in a powerline delegation, which covers any subject.
    sub: ?[]const u8,
    cmd: []const u8,
    nonce: []const u8,
    nbf: ?i64,
    exp: ?i64,
    meta: ?Value,
    /// A delegation's policy, which is an empty list for an invocation.
    pol: Value,
    /// An invocation's arguments, which are null for a delegation.
    args: ?Value,
    /// An invocation's proofs, as binary CIDs, root first.
    prf: []const []const u8,
};

const delegation_fields = [_][]const u8{ "iss", "aud", "sub", "cmd", "pol", "nonce", "meta", "nbf", "exp" };
const invocation_fields = [_][]const u8{
    "iss", "aud", "sub", "cmd", "args", "prf", "nonce", "meta", "nbf", "exp", "iat", "cause",
};

/// Decodes a token and reads its claims. chain.zig checks its signature and validity.
pub fn decode(arena: Allocator, bytes: []const u8) Error!Token {
    const sealed = try envelope.decode(arena, bytes);
    if (sealed.payload != .map) return error.UcanMalformed;
    const claims: Claims = .{ .map = sealed.payload };
    try claims.onlyKnown(if (sealed.kind == .delegation) &delegation_fields else &invocation_fields);
    return if (sealed.kind == .delegation) delegation(arena, sealed, claims) else invocation(arena, sealed, claims);
}

fn delegation(arena: Allocator, sealed: envelope.Envelope, claims: Claims) Error!Token {
    var token = try common(arena, sealed, claims);
    token.aud = try did(try claims.required("aud"));
    token.sub = if (try claims.required("sub") == .null) null else try did(try claims.required("sub"));
    token.pol = try claims.required("pol");
    try policy.validate(arena, token.pol);
    return token;
}

fn invocation(arena: Allocator, sealed: envelope.Envelope, claims: Claims) Error!Token {
    var token = try common(arena, sealed, claims);
    token.sub = try did(try claims.required("sub"));
    if (claims.map.get("aud")) |aud| token.aud = try did(aud);
    token.args = try claims.required("args");
    if (token.args.? != .map) return error.UcanInvalidField;
    token.prf = try links(arena, try claims.required("prf"));
    if (claims.map.get("iat")) |iat| _ = try time(iat);
    if (claims.map.get("cause")) |cause| if (cause != .link) return error.UcanInvalidField;
    return token;
}

fn common(arena: Allocator, sealed: envelope.Envelope, claims: Claims) Error!Token {
    const iss = withoutFragment(try did(try claims.required("iss")));
    const key = try did_key.parse(arena, iss);
    if (key != sealed.algorithm) return error.VarsigUnsupported;
    const nonce = try claims.required("nonce");
    if (nonce != .bytes) return error.UcanInvalidField;
    const meta = claims.map.get("meta");
    if (meta) |m| if (m != .map) return error.UcanInvalidField;
    return .{
        .envelope = sealed,
        .key = key,
        .iss = iss,
        .iss_new = try key.didNew(),
        .aud = null,
        .sub = null,
        .cmd = try command(try claims.required("cmd")),
        .nonce = nonce.bytes,
        .nbf = if (claims.map.get("nbf")) |nbf| try time(nbf) else null,
        .exp = if (try claims.required("exp") == .null) null else try time(try claims.required("exp")),
        .meta = meta,
        .pol = .{ .list = &.{} },
        .args = null,
        .prf = &.{},
    };
}

const Claims = struct {
    map: Value,

    fn required(self: Claims, name: []const u8) Error!Value {
        return self.map.get(name) orelse error.UcanMissingField;
    }

    fn onlyKnown(self: Claims, known: []const []const u8) Error!void {
        for (self.map.map) |entry| {
            for (known) |name| {
                if (std.mem.eql(u8, name, entry.key.text)) break;
            } else return error.UcanUnknownField;
        }
    }
};

/// Seconds since 1970, at most 2^53 - 1, which every JSON implementation can represent.
fn time(value: Value) Error!i64 {
    if (value != .int or value.int > max_safe_integer or value.int < -max_safe_integer) return error.UcanInvalidField;
    return @intCast(value.int);
}

fn links(arena: Allocator, value: Value) Error![]const []const u8 {
    if (value != .list) return error.UcanInvalidField;
    const out = try arena.alloc([]const u8, value.list.len);
    for (value.list, out) |item, *slot| slot.* = if (item == .link) item.link else return error.UcanInvalidField;
    return out;
}

fn did(value: Value) Error![]const u8 {
    if (value != .text) return error.UcanInvalidDid;
    try checkDid(value.text);
    return value.text;
}

/// Checks the relevant part of W3C's DID syntax: did:<method>:<identifier>, in visible ASCII.
pub fn checkDid(text: []const u8) error{UcanInvalidDid}!void {
    if (text.len > 512 or !std.mem.startsWith(u8, text, "did:")) return error.UcanInvalidDid;
    const end = std.mem.findScalarPos(u8, text, 4, ':') orelse return error.UcanInvalidDid;
    if (end == 4 or end + 1 == text.len) return error.UcanInvalidDid;
    for (text[4..end]) |char| if (!std.ascii.isLower(char) and !std.ascii.isDigit(char)) return error.UcanInvalidDid;
    for (text[end..]) |char| if (char <= ' ' or char > '~') return error.UcanInvalidDid;
}

pub fn withoutFragment(text: []const u8) []const u8 {
    return text[0 .. std.mem.findScalar(u8, text, '#') orelse text.len];
}

fn command(value: Value) Error![]const u8 {
    if (value != .text) return error.UcanInvalidCommand;
    try checkCommand(value.text);
    return value.text;
}

/// A command is a slash, then lower-case segments separated by single slashes. "/" alone covers every command.
pub fn checkCommand(text: []const u8) error{UcanInvalidCommand}!void {
    if (text.len == 0 or text[0] != '/') return error.UcanInvalidCommand;
    if (text.len > 1 and text[text.len - 1] == '/') return error.UcanInvalidCommand;
    if (std.mem.find(u8, text, "//") != null) return error.UcanInvalidCommand;
    for (text) |char| if (char <= ' ' or char == 0x7f or std.ascii.isUpper(char)) return error.UcanInvalidCommand;
}

/// Whether `granted` covers `wanted`, which must be the same command or one below it.
pub fn covers(granted: []const u8, wanted: []const u8) bool {
    if (std.mem.eql(u8, granted, "/") or std.mem.eql(u8, granted, wanted)) return true;
    return wanted.len > granted.len and std.mem.startsWith(u8, wanted, granted) and wanted[granted.len] == '/';
}

test "a command covers itself and what is below it" {
    try std.testing.expect(covers("/", "/accounts/list"));
    try std.testing.expect(covers("/accounts", "/accounts/list"));
    try std.testing.expect(covers("/accounts/list", "/accounts/list"));
    try std.testing.expect(!covers("/accounts", "/accountsx/list"));
    try std.testing.expect(!covers("/accounts/list", "/accounts"));
    inline for (.{ "", "accounts", "/accounts/", "//", "/Accounts", "/a b", "/a//b" }) |bad| {
        try std.testing.expectError(error.UcanInvalidCommand, checkCommand(bad));
    }
}
