//! Native unit tests of UCAN, with chains built here and the specification's published Ed25519 fixture.

const std = @import("std");
const did_key = @import("../codec/did_key.zig");
const ipld = @import("../codec/ipld.zig");
const ucan = @import("ucan.zig");
const Allocator = std.mem.Allocator;
const Ed25519 = std.crypto.sign.Ed25519;
const P256 = std.crypto.sign.ecdsa.EcdsaP256Sha256;

test {
    _ = @import("payload.zig");
}

fn signEd25519(context: *anyopaque, message: []const u8) ucan.envelope.Signer.SignError![64]u8 {
    const pair: *Ed25519.KeyPair = @ptrCast(@alignCast(context));
    return (pair.sign(message, null) catch return error.SigningFailed).toBytes();
}

fn signP256(context: *anyopaque, message: []const u8) ucan.envelope.Signer.SignError![64]u8 {
    const pair: *P256.KeyPair = @ptrCast(@alignCast(context));
    return (pair.sign(message, null) catch return error.SigningFailed).toBytes();
}

const People = struct {
    owner: P256.KeyPair,
    agent: Ed25519.KeyPair,

    fn make() !People {
        return .{
            .owner = try P256.KeyPair.generateDeterministic(@splat(7)),
            .agent = try Ed25519.KeyPair.generateDeterministic(@splat(9)),
        };
    }

    fn ownerSigner(self: *People) ucan.envelope.Signer {
        const key: did_key.PublicKey = .{ .p256 = self.owner.public_key.toCompressedSec1() };
        return .{ .key = key, .context = &self.owner, .sign = signP256 };
    }

    fn agentSigner(self: *People) ucan.envelope.Signer {
        const key: did_key.PublicKey = .{ .ed25519 = self.agent.public_key.toBytes() };
        return .{ .key = key, .context = &self.agent, .sign = signEd25519 };
    }
};

const now = 1_800_000_000;

fn request(subject: []const u8, args: ipld.Value) ucan.Request {
    return .{ .subject = subject, .command = "/accounts/list", .args = args, .now_s = now };
}

test "the vault's own delegation authorizes its holder, within its bounds" {
    var arena_state = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var people = try People.make();
    const signer = people.ownerSigner();
    const vault = (try signer.key.didNew()).?;
    const agent = try did_key.format(arena, people.agentSigner().key);
    const statement: ipld.Value = .{ .list = &.{ ipld.text("<="), ipld.text(".limit"), .{ .int = 10 } } };
    const token = try ucan.mint.delegation(arena, .{
        .audience = agent,
        .subject = &vault,
        .command = "/accounts",
        .policy = .{ .list = &.{statement} },
        .expiration = now + 60,
        .not_before = now - 60,
        .nonce = "0123456789abcdef",
    }, signer);
    const few: ipld.Value = .{ .map = &.{ipld.field("limit", .{ .int = 3 })} };
    const many: ipld.Value = .{ .map = &.{ipld.field("limit", .{ .int = 30 })} };
    var r = request(&vault, few);
    r.audience = agent;
    try ucan.authorize(arena, token, r);
    try std.testing.expectError(error.UcanPolicyViolated, ucan.authorize(arena, token, request(&vault, many)));
    r.now_s = now + 61;
    try std.testing.expectError(error.UcanExpired, ucan.authorize(arena, token, r));
    r.now_s = now - 61;
    try std.testing.expectError(error.UcanNotYetValid, ucan.authorize(arena, token, r));
    r.now_s = now;
    r.command = "/tokens/list";
    try std.testing.expectError(error.UcanCommandNotCovered, ucan.authorize(arena, token, r));
    r.command = "/accounts/list";
    r.subject = agent;
    try std.testing.expectError(error.UcanSubjectMismatch, ucan.authorize(arena, token, r));
    r.subject = &vault;
    r.audience = &vault;
    try std.testing.expectError(error.UcanAudienceMismatch, ucan.authorize(arena, token, r));
    const id = (try ucan.payload.decode(arena, token)).envelope;
    var revoked = request(&vault, few);
    revoked.revoked = &.{&id.cid};
    try std.testing.expectError(error.UcanRevoked, ucan.authorize(arena, token, revoked));
    revoked.revoked = &.{&id.twin.?};
    try std.testing.expectError(error.UcanRevoked, ucan.authorize(arena, token, revoked));
}

test "an invocation with its proofs, in one container" {
    var arena_state = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var people = try People.make();
    const vault = (try people.ownerSigner().key.didNew()).?;
    const agent = people.agentSigner();
    const grant = try ucan.mint.delegation(arena, .{
        .audience = try did_key.format(arena, agent.key),
        .subject = &vault,
        .command = "/accounts",
        .expiration = null,
        .nonce = "n",
    }, people.ownerSigner());
    const proof = (try ucan.payload.decode(arena, grant)).envelope.cid;
    const args: ipld.Value = .{ .map = &.{} };
    const call = try ucan.mint.invocation(arena, .{
        .subject = &vault,
        .command = "/accounts/list",
        .args = args,
        .proofs = &.{&proof},
        .expiration = now + 10,
        .nonce = "m",
    }, agent);
    const packed_tokens = try ucan.container.pack(arena, &.{ call, grant });
    try ucan.authorize(arena, packed_tokens, request(&vault, args));
    const alone = try ucan.container.pack(arena, &.{call});
    try std.testing.expectError(error.UcanProofMissing, ucan.authorize(arena, alone, request(&vault, args)));
}

test "the specification's published delegation" {
    var arena_state = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    const text = "glhAd7jvZs44lTWmjSG/PWBRXvAdJA6Pq0fj86WQOVBYSw3fLrpjF7OMvjUlTynZZblPHzFsiBeBlUqtbCAHvhppCaJh" ++
        "aEg0Ae0B7QETcXN1Y2FuL2RsZ0AxLjAuMC1yYy4xp2NhdWR4OGRpZDprZXk6ejZNa21KY2VWb1FTSHM0NWNSZUVYb0x0" ++
        "V20xd29zQ0c4Ukx4Zkt3aHhvcXpvVGtDY2NtZGgvYWNjb3VudGNleHAaaIIMsWNpc3N4OGRpZDprZXk6ejZNa21UOWo2" ++
        "ZlZacXpYVjh1MndWVlN1NDlnWVNSWUdTUW5kdVdYRjZmb0FKcnF6Y3BvbIBjc3VieDhkaWQ6a2V5Ono2TWttVDlqNmZW" ++
        "WnF6WFY4dTJ3VlZTdTQ5Z1lTUllHU1FuZHVXWEY2Zm9BSnJxemVub25jZUwnbSv2keQn/Kg2KsM=";
    const bytes = try arena.alloc(u8, try std.base64.standard.Decoder.calcSizeForSlice(text));
    try std.base64.standard.Decoder.decode(bytes, text);
    const token = try ucan.payload.decode(arena, bytes);
    try std.testing.expectEqualStrings("/account", token.cmd);
    try ucan.chain.checkToken(token, .{ .now_s = 1753353393, .revoked = &.{} });
    const expired = ucan.chain.checkToken(token, .{ .now_s = 1753353394, .revoked = &.{} });
    try std.testing.expectError(error.UcanExpired, expired);
}
