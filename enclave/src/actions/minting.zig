//! Mints the vault's tokens: delegations, which pass authority on, and invocations, which use authority.

const std = @import("std");
const args = @import("../call/args.zig");
const policies = @import("policies.zig");
const codec_errors = @import("../call/codec_errors.zig");
const host = @import("../platform/host.zig");
const ipld = @import("../codec/ipld.zig");
const json = @import("../codec/json.zig");
const keyring = @import("../vault/keyring.zig");
const shares_file = @import("../crypto/shares.zig");
const signing = @import("../vault/signing.zig");
const ucan = @import("../ucan/ucan.zig");
const revocations = @import("../vault/revocations.zig");
const values = @import("../call/values.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

const max_time = (1 << 53) - 1;

/// Lifetime of an invocation without `expiration`, in seconds.
const invocation_life_s = 300;

/// Longest lifetime of an invocation that is not recorded, in seconds.
const max_brief_life_s = 600;

/// A new token, and a container with the token and the chain of delegations that it depends on.
pub const Minted = struct { token: []const u8, container: []const u8 };

/// Mints a delegation, which passes on the authority of the chain in `token` or, without `token`, of the vault.
pub fn delegation(ctx: *Ctx, database: Database, input: Json) Error!Minted {
    const held = try heldChain(ctx, input);
    var token_signer = try signerOf(ctx, database, input);
    const nonce = try host.randomBytes(ucan.mint.nonce_length);
    const subject = try subjectOf(ctx, input, held);
    const command = try args.string(ctx, input, "command", 1024);
    const policy = try policyOf(ctx, input);
    const minted = ucan.mint.delegation(ctx.arena, .{
        .audience = try args.string(ctx, input, "to", 512),
        .subject = subject,
        .command = command,
        .policy = policy,
        .expiration = try args.optionalInteger(ctx, input, "expiration", 0, max_time),
        .not_before = try args.optionalInteger(ctx, input, "not_before", 0, max_time),
        .nonce = &nonce,
        .meta = try metaOf(ctx, input),
        .version = try versionOf(ctx, input),
    }, token_signer.signer()) catch |err| return refused(ctx, err, token_signer);
    try checkMinted(ctx, database, input, held, minted);
    // The subject is a vault only if it is a did:new; only then are the command's arguments known.
    if (std.mem.startsWith(u8, subject, "did:new:")) try policies.checkEnforced(ctx, command, policy);
    return withChain(ctx, minted, held);
}

/// Mints an invocation. The chain in `token` must end at this vault's key and allow the invocation. Without `token`,
/// the vault itself is the subject.
pub fn invocation(ctx: *Ctx, database: Database, input: Json) Error!Minted {
    const held = try heldChain(ctx, input);
    var token_signer = try signerOf(ctx, database, input);
    const now_s = @divFloor(try host.timeMs(), 1000);
    const nonce = try host.randomBytes(ucan.mint.nonce_length);
    const given = args.field(input, "args");
    const minted = ucan.mint.invocation(ctx.arena, .{
        .subject = try subjectOf(ctx, input, held),
        .audience = try args.optionalString(ctx, input, "audience", 512),
        .command = try args.string(ctx, input, "command", 1024),
        .args = if (given) |g| try values.canonical(ctx, g, "args") else .{ .map = &.{} },
        .proofs = if (held) |path| try identifiers(ctx, path) else &.{},
        .expiration = try args.optionalInteger(ctx, input, "expiration", 0, max_time) orelse now_s + invocation_life_s,
        .issued_at = now_s,
        .nonce = &nonce,
        .meta = try metaOf(ctx, input),
        .version = try versionOf(ctx, input),
    }, token_signer.signer()) catch |err| return refused(ctx, err, token_signer);
    const token = ucan.payload.decode(ctx.arena, minted) catch |err| return codec_errors.token(ctx, err);
    const facts: ucan.chain.Facts = .{ .now_s = now_s, .revoked = try revocations.known(ctx, database) };
    ucan.chain.checkInvocation(ctx.arena, token, held orelse &.{}, token.args.?, facts) catch |err|
        return codec_errors.token(ctx, err);
    return withChain(ctx, minted, held);
}

/// Mints an unrecorded invocation, which needs an audience and has a limited lifetime.
pub fn briefInvocation(ctx: *Ctx, database: Database, input: Json) Error!Minted {
    _ = try args.string(ctx, input, "audience", 512);
    const latest = @divFloor(try host.timeMs(), 1000) + max_brief_life_s;
    _ = try args.optionalInteger(ctx, input, "expiration", 0, latest);
    return invocation(ctx, database, input);
}

fn refused(ctx: *Ctx, err: ucan.mint.Error, token_signer: signing.TokenSigner) Error {
    return if (err == error.SigningFailed) token_signer.failure else codec_errors.token(ctx, err);
}

/// The subject of the chain, else the `subject` field (such as the key's did:key), else the vault's DID.
fn subjectOf(ctx: *Ctx, input: Json, held: ?[]const ucan.payload.Token) Error![]const u8 {
    if (held) |path| return path[0].sub.?;
    return try args.optionalString(ctx, input, "subject", 512) orelse ctx.state.did;
}

/// The chain in `token`, root first, or null if `token` is absent.
fn heldChain(ctx: *Ctx, input: Json) Error!?[]const ucan.payload.Token {
    const given = args.field(input, "token") orelse return null;
    const bytes = try values.tokenBytes(ctx, given, "token");
    const bundle = ucan.Bundle.read(ctx.arena, bytes) catch |err| return codec_errors.token(ctx, err);
    if (bundle.invocation != null) return ctx.fail(error.InvalidToken, "an invocation cannot be passed on");
    const path = ucan.chain.order(ctx.arena, bundle.delegations) catch |err| return codec_errors.token(ctx, err);
    if (path[0].sub == null) return codec_errors.token(ctx, error.UcanNotRooted);
    return path;
}

fn signerOf(ctx: *Ctx, database: Database, input: Json) Error!signing.TokenSigner {
    return .{
        .ctx = ctx,
        .entry = try keyring.load(ctx, database, try args.optionalString(ctx, input, "enclave_id", 128)),
        .val_share = try args.optionalFixed(shares_file.sealed_length, ctx, input, "val_share"),
    };
}

/// Refuses a delegation that no verifier would accept: one that allows more than its chain, one whose chain ends with a
/// different audience, or a root delegation that the DID's key did not sign.
fn checkMinted(
    ctx: *Ctx,
    database: Database,
    input: Json,
    held: ?[]const ucan.payload.Token,
    minted: []const u8,
) Error!void {
    const token = ucan.payload.decode(ctx.arena, minted) catch |err| return codec_errors.token(ctx, err);
    const path = held orelse {
        const own = ucan.chain.names(ctx.state.did, token);
        return if (own or args.field(input, "subject") != null) {} else codec_errors.token(ctx, error.UcanNotRooted);
    };
    const whole = try std.mem.concat(ctx.arena, ucan.payload.Token, &.{ path, &.{token} });
    const demand: ucan.chain.Demand = .{ .subject = path[0].sub.?, .command = token.cmd, .args = .{ .map = &.{} } };
    // A delegation that becomes valid in the future is checked as of that time.
    const now_s = @max(@divFloor(try host.timeMs(), 1000), token.nbf orelse 0);
    const facts: ucan.chain.Facts = .{ .now_s = now_s, .revoked = try revocations.known(ctx, database) };
    ucan.chain.checkGrant(whole, null, demand, facts) catch |err| return codec_errors.token(ctx, err);
}

fn identifiers(ctx: *Ctx, path: []const ucan.payload.Token) Error![]const []const u8 {
    const out = try ctx.arena.alloc([]const u8, path.len);
    for (path, out) |*token, *slot| slot.* = try ctx.arena.dupe(u8, &token.envelope.cid);
    return out;
}

fn versionOf(ctx: *Ctx, input: Json) Error!ucan.envelope.Version {
    const wanted = try args.optionalString(ctx, input, "version", 16) orelse return .minted;
    return std.meta.stringToEnum(ucan.envelope.Version, wanted) orelse ctx.fail(error.UnsupportedVersion, "version");
}

fn metaOf(ctx: *Ctx, input: Json) Error!?ipld.Value {
    const given = try args.optionalObject(ctx, input, "meta") orelse return null;
    const value = try values.canonical(ctx, given, "meta");
    return if (value == .map) value else ctx.fail(error.InvalidField, "meta");
}

/// The statements of `policy`, then those of `caveats`. In `caveats`, the field `policy` contains more statements, and
/// any other field must equal the argument of that name.
fn policyOf(ctx: *Ctx, input: Json) Error!ipld.Value {
    var statements: std.ArrayList(ipld.Value) = .empty;
    if (args.field(input, "policy")) |given| try addAll(ctx, &statements, given, "policy");
    const caveats = try args.optionalObject(ctx, input, "caveats") orelse return .{ .list = statements.items };
    for (caveats.object.keys(), caveats.object.values()) |name, caveat| {
        if (std.mem.eql(u8, name, "policy")) {
            try addAll(ctx, &statements, caveat, "caveats");
            continue;
        }
        const value = try values.canonical(ctx, caveat, "caveats");
        const triple = [_]ipld.Value{ ipld.text("=="), ipld.text(try selectorOf(ctx, name)), value };
        try statements.append(ctx.arena, .{ .list = try ctx.arena.dupe(ipld.Value, &triple) });
    }
    return .{ .list = statements.items };
}

fn addAll(ctx: *Ctx, statements: *std.ArrayList(ipld.Value), given: Json, field: []const u8) Error!void {
    const value = try values.canonical(ctx, given, field);
    if (value != .list) return ctx.fail(error.InvalidField, field);
    try statements.appendSlice(ctx.arena, value.list);
}

/// The selector `.["name"]`, a form in which any name can be written.
fn selectorOf(ctx: *Ctx, name: []const u8) Error![]const u8 {
    var text: std.ArrayList(u8) = .empty;
    try text.appendSlice(ctx.arena, ".[\"");
    for (name) |char| {
        if (char == '"' or char == '\\') try text.append(ctx.arena, '\\');
        try text.append(ctx.arena, char);
    }
    try text.appendSlice(ctx.arena, "\"]");
    return text.items;
}

fn withChain(ctx: *Ctx, minted: []const u8, held: ?[]const ucan.payload.Token) Error!Minted {
    var all: std.ArrayList([]const u8) = .empty;
    try all.append(ctx.arena, minted);
    for (held orelse &.{}) |token| try all.append(ctx.arena, token.envelope.bytes);
    const container = ucan.container.pack(ctx.arena, all.items) catch |err| return codec_errors.token(ctx, err);
    return .{ .token = minted, .container = container };
}
