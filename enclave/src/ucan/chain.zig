//! Checks whether a chain of delegations lets a principal use a command: signatures, time, revocation, alignment,
//! attenuation and policies, in that order (UCAN Delegation 1.0 "Validation", UCAN Invocation 1.0 "Proof Chains").

const std = @import("std");
const ipld = @import("../codec/ipld.zig");
const payload = @import("payload.zig");
const policy = @import("../codec/policy.zig");
const Allocator = std.mem.Allocator;
const Token = payload.Token;

pub const Error = error{
    UcanSignatureInvalid,
    UcanNotYetValid,
    UcanExpired,
    UcanRevoked,
    UcanNotRooted,
    UcanAudienceMismatch,
    UcanSubjectMismatch,
    UcanProofMissing,
    UcanCommandNotCovered,
    UcanPolicyViolated,
    UcanChainTooLong,
} || payload.Error;

/// Longest chain that is followed, in delegations.
pub const max_length = 16;

/// The context in which a chain is checked: the time, the revoked delegations and the added fields.
pub const Facts = struct {
    /// Seconds since 1970, UTC.
    now_s: i64,
    /// Binary CIDs of revoked delegations.
    revoked: []const []const u8,
    /// Fields that are added to the arguments for the policies of certain delegations, such as the amount already
    /// spent.
    added: []const Added = &.{},
};

/// Fields for the policy of the delegation with this canonical binary CID. The fields replace arguments of the same
/// name.
pub const Added = struct { cid: []const u8, fields: ipld.Value };

/// What a chain must allow.
pub const Demand = struct { subject: []const u8, command: []const u8, args: ipld.Value };

/// Checks the signature, the time bounds and the revocation of one token.
pub fn checkToken(token: Token, facts: Facts) Error!void {
    token.key.verify(token.envelope.signed, token.envelope.signature) catch return error.UcanSignatureInvalid;
    if (token.nbf) |nbf| if (facts.now_s < nbf) return error.UcanNotYetValid;
    if (token.exp) |exp| if (facts.now_s > exp) return error.UcanExpired;
    for (facts.revoked) |revoked| {
        if (isOf(token, revoked)) return error.UcanRevoked;
    }
}

/// Whether a CID identifies the token with either form of its signature, because both forms grant the same authority.
fn isOf(token: Token, link: []const u8) bool {
    if (std.mem.eql(u8, link, &token.envelope.cid)) return true;
    return if (token.envelope.twin) |*twin| std.mem.eql(u8, link, twin) else false;
}

/// Checks that the delegations, root first, allow `holder` (or anyone, if null) to make the request `demand`.
pub fn check(arena: Allocator, path: []const Token, holder: ?[]const u8, demand: Demand, facts: Facts) Error!void {
    try checkGrant(path, holder, demand, facts);
    try checkPolicies(arena, path, demand.args, facts);
}

/// Checks everything except the policies, which need arguments.
pub fn checkGrant(path: []const Token, holder: ?[]const u8, demand: Demand, facts: Facts) Error!void {
    if (path.len > max_length) return error.UcanChainTooLong;
    if (path.len == 0) return error.UcanNotRooted;
    for (path) |token| try checkToken(token, facts);
    for (path, 0..) |token, i| try checkAudience(token, path[i + 1 ..], holder);
    try checkSubjects(path, demand.subject);
    for (path, 0..) |token, i| {
        const next = if (i + 1 < path.len) path[i + 1].cmd else demand.command;
        if (!payload.covers(token.cmd, next)) return error.UcanCommandNotCovered;
    }
}

/// Checks that the arguments satisfy every policy of the chain.
pub fn checkPolicies(arena: Allocator, path: []const Token, args: ipld.Value, facts: Facts) Error!void {
    for (path) |token| {
        if (!try policy.holds(arena, token.pol, try seenBy(arena, token, args, facts))) return error.UcanPolicyViolated;
    }
}

fn seenBy(arena: Allocator, token: Token, args: ipld.Value, facts: Facts) Error!ipld.Value {
    for (facts.added) |added| {
        if (std.mem.eql(u8, added.cid, &token.envelope.canonical)) return laidOver(arena, args, added.fields);
    }
    return args;
}

fn laidOver(arena: Allocator, args: ipld.Value, fields: ipld.Value) Error!ipld.Value {
    if (args != .map) return args;
    var entries: std.ArrayList(ipld.Entry) = .empty;
    for (args.map) |entry| if (fields.get(entry.key.text) == null) try entries.append(arena, entry);
    try entries.appendSlice(arena, fields.map);
    ipld.sortByKey(entries.items);
    return .{ .map = entries.items };
}

fn checkSubjects(path: []const Token, subject: []const u8) Error!void {
    const root = path[0];
    if (root.sub == null) return error.UcanNotRooted;
    for (path) |token| {
        if (token.sub) |sub| if (!std.mem.eql(u8, sub, subject)) return error.UcanSubjectMismatch;
    }
    if (!names(subject, root)) return error.UcanNotRooted;
}

fn checkAudience(token: Token, following: []const Token, holder: ?[]const u8) Error!void {
    if (following.len > 0) {
        if (!names(token.aud.?, following[0])) return error.UcanAudienceMismatch;
        return;
    }
    const wanted = holder orelse return;
    if (!std.mem.eql(u8, payload.withoutFragment(token.aud.?), wanted)) return error.UcanAudienceMismatch;
}

/// Whether `did` is the issuer of `token`: its did:key, or the did:new that is derived from the same key.
pub fn names(did: []const u8, token: Token) bool {
    if (std.mem.eql(u8, payload.withoutFragment(did), token.iss)) return true;
    return if (token.iss_new) |*new| std.mem.eql(u8, did, new) else false;
}

/// Checks an invocation with the delegations that prove it, in any order. The delegations' policies are applied to
/// `args`, which are the invocation's arguments as given or completed.
pub fn checkInvocation(
    arena: Allocator,
    token: Token,
    proofs: []const Token,
    args: ipld.Value,
    facts: Facts,
) Error!void {
    try checkToken(token, facts);
    if (token.prf.len == 0) {
        if (!names(token.sub.?, token)) return error.UcanNotRooted;
        return;
    }
    const path = try proofsOf(arena, token, proofs);
    const last = path[path.len - 1];
    const holder = if (names(last.aud.?, token)) null else token.iss;
    try check(arena, path, holder, .{ .subject = token.sub.?, .command = token.cmd, .args = args }, facts);
}

/// The delegations that an invocation refers to, root first.
pub fn proofsOf(arena: Allocator, token: Token, proofs: []const Token) Error![]const Token {
    if (token.prf.len > max_length) return error.UcanChainTooLong;
    const path = try arena.alloc(Token, token.prf.len);
    for (token.prf, path) |link, *slot| slot.* = try find(proofs, link);
    return path;
}

fn find(proofs: []const Token, link: []const u8) Error!Token {
    for (proofs) |proof| {
        if (isOf(proof, link)) return proof;
    }
    return error.UcanProofMissing;
}

/// Puts the delegations of one chain into order, root first. The chain must contain every delegation, and only one
/// order may be possible.
pub fn order(arena: Allocator, tokens: []const Token) Error![]const Token {
    if (tokens.len == 0) return error.UcanProofMissing;
    if (tokens.len > max_length) return error.UcanChainTooLong;
    const out = try arena.alloc(Token, tokens.len);
    var left = try arena.dupe(Token, tokens);
    var at = try lastOf(left);
    for (0..tokens.len) |i| {
        out[tokens.len - 1 - i] = left[at];
        const child = left[at];
        left[at] = left[left.len - 1];
        left = left[0 .. left.len - 1];
        if (left.len > 0) at = try parentOf(left, child);
    }
    return out;
}

/// The only delegation whose audience issues none of the others.
fn lastOf(tokens: []const Token) Error!usize {
    var found: ?usize = null;
    for (tokens, 0..) |candidate, i| {
        const used = for (tokens, 0..) |other, j| {
            if (i != j and names(candidate.aud.?, other)) break true;
        } else false;
        if (used) continue;
        if (found != null) return error.UcanAudienceMismatch;
        found = i;
    }
    return found orelse error.UcanAudienceMismatch;
}

fn parentOf(tokens: []const Token, child: Token) Error!usize {
    var found: ?usize = null;
    for (tokens, 0..) |candidate, i| {
        if (!names(candidate.aud.?, child)) continue;
        if (found != null) return error.UcanAudienceMismatch;
        found = i;
    }
    return found orelse error.UcanAudienceMismatch;
}
