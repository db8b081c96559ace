//! Decides for the rest of the module whether a UCAN 1.0 token allows a request.

const std = @import("std");
const ipld = @import("../codec/ipld.zig");
pub const chain = @import("chain.zig");
pub const container = @import("container.zig");
pub const envelope = @import("envelope.zig");
pub const mint = @import("mint.zig");
pub const payload = @import("payload.zig");
const Allocator = std.mem.Allocator;

pub const Error = error{ UcanArgumentsMismatch, UcanMixedContainer } || chain.Error || container.Error;

/// A caller's request, and the facts against which it is checked.
pub const Request = struct {
    /// The DID whose authority is used, which is the vault's DID.
    subject: []const u8,
    /// As `/resource/action`.
    command: []const u8,
    args: ipld.Value,
    /// The completed arguments, to which policies are applied, if they differ from `args`.
    resolved: ?ipld.Value = null,
    /// The DID that must hold the delegation, or to which an invocation must be addressed. The field is null if the
    /// host does not know who presents the token.
    audience: ?[]const u8 = null,
    now_s: i64,
    /// Binary CIDs of revoked delegations.
    revoked: []const []const u8 = &.{},
};

/// Succeeds if the token (a delegation, a container of one chain, or a container of an invocation and its proofs)
/// allows the request. Otherwise the error states the reason.
pub fn authorize(arena: Allocator, token: []const u8, request: Request) Error!void {
    const read = try Bundle.read(arena, token);
    const facts: chain.Facts = .{ .now_s = request.now_s, .revoked = request.revoked };
    const judged = request.resolved orelse request.args;
    const invocation = read.invocation orelse {
        const demand: chain.Demand = .{ .subject = request.subject, .command = request.command, .args = judged };
        return chain.check(arena, try chain.order(arena, read.delegations), request.audience, demand, facts);
    };
    if (!std.mem.eql(u8, invocation.sub.?, request.subject)) return error.UcanSubjectMismatch;
    if (request.audience) |audience| {
        if (!std.mem.eql(u8, invocation.aud orelse invocation.sub.?, audience)) return error.UcanAudienceMismatch;
    }
    if (!std.mem.eql(u8, invocation.cmd, request.command)) return error.UcanCommandNotCovered;
    if (!invocation.args.?.eql(request.args)) return error.UcanArgumentsMismatch;
    try chain.checkInvocation(arena, invocation, read.delegations, judged, facts);
}

/// The tokens of one container, sorted by kind.
pub const Bundle = struct {
    invocation: ?payload.Token,
    delegations: []const payload.Token,

    pub fn read(arena: Allocator, bytes: []const u8) Error!Bundle {
        return of(arena, try container.tokens(arena, bytes));
    }

    pub fn of(arena: Allocator, tokens: []const []const u8) Error!Bundle {
        var invocation: ?payload.Token = null;
        var delegations: std.ArrayList(payload.Token) = .empty;
        for (tokens) |bytes| {
            const token = try payload.decode(arena, bytes);
            if (token.envelope.kind == .delegation) {
                try delegations.append(arena, token);
            } else {
                if (invocation != null) return error.UcanMixedContainer;
                invocation = token;
            }
        }
        return .{ .invocation = invocation, .delegations = delegations.items };
    }
};
