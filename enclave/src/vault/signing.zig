//! `sign`, `sign_user_op`, `sign_account_message`, `user_op_hash`, `verify_signature` and
//! `recover_public_keys`, and the signer for tokens.

const std = @import("std");
const account_messages = @import("../chains/account_messages.zig");
const args = @import("../call/args.zig");
const curves = @import("../crypto/curves.zig");
const did_key = @import("../codec/did_key.zig");
const encoding = @import("../codec/encoding.zig");
const envelope = @import("../ucan/envelope.zig");
const eth = @import("../chains/eth.zig");
const hashes = @import("../crypto/hashes.zig");
const host = @import("../platform/host.zig");
const json = @import("../codec/json.zig");
const keyring = @import("keyring.zig");
const session = @import("session.zig");
const shares_file = @import("../crypto/shares.zig");
const user_op = @import("../chains/user_op.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;
const Signature = @import("../crypto/ecdsa.zig").Signature;

const max_message = 64 << 10;

/// {digest | message, enclave_id?, val_share?, deterministic?} -> {signature, recovery}: r‖s with low s.
/// `deterministic` omits the added entropy, which leaves plain RFC 6979.
pub fn sign(ctx: *Ctx, input: Json) Error!Json {
    const made = try withKey(ctx, input, try digestOf(ctx, input));
    return json.object(ctx.arena, .{
        .signature = try encoding.base64(ctx.arena, &made.signature.compact()),
        .recovery = made.signature.recovery,
    });
}

/// The digest, or the hash of a message as wallets sign it (ERC-191, version 0x45). Exactly one must be given.
fn digestOf(ctx: *Ctx, input: Json) Error![32]u8 {
    const message = try args.optionalString(ctx, input, "message", max_message) orelse
        return args.fixed(32, ctx, input, "digest");
    if (args.field(input, "digest") != null) return ctx.fail(error.InvalidField, "digest");
    const prefix = "\x19Ethereum Signed Message:\n";
    return hashes.keccak(try std.fmt.allocPrint(ctx.arena, prefix ++ "{d}{s}", .{ message.len, message }));
}

/// {user_op, entry_point, chain_id, enclave_id?, val_share?, deterministic?} -> SignUserOpResult.
pub fn signUserOp(ctx: *Ctx, input: Json) Error!Json {
    for ([_][]const u8{ "digest", "message" }) |other|
        if (args.field(input, other) != null) return ctx.fail(error.InvalidField, other);
    const op = try args.required(ctx, input, "user_op");
    const entry_text = try args.string(ctx, input, "entry_point", 42);
    const entry_point = eth.parseAddress(entry_text) catch |err| return ctx.fail(err, "entry_point");
    const chain_id = try args.optionalInteger(ctx, input, "chain_id", 1, (1 << 53) - 1) orelse
        return ctx.fail(error.MissingField, "chain_id");
    const hash = try user_op.hash(ctx, op, entry_point, @intCast(chain_id));
    const made = try withKey(ctx, input, hash);
    return json.object(ctx.arena, .{
        .signature = try encoding.hex(ctx.arena, &made.signature.compact()),
        .user_op_hash = try encoding.hex(ctx.arena, &hash),
        .enclave_id = made.entry.enclave_id,
        .public_key = try encoding.bareHex(ctx.arena, &made.entry.public.uncompressed()),
    });
}

/// {account, message, …, enclave_id?, val_share?, deterministic?} -> {signature, digest, signer, enclave_id}: what an
/// owner or guardian signs once for every chain (`account_messages.digest`).
pub fn signAccountMessage(ctx: *Ctx, input: Json) Error!Json {
    const digest = try account_messages.digest(ctx, input);
    const made = try withKey(ctx, input, digest);
    const compact = made.signature.compact();
    const point = made.entry.public.uncompressed()[1..65];
    const is_p256 = made.entry.public.curve == .p256;
    // An account's signer is a P-256 point, or the address of a secp256k1 key, whose signature ends with v.
    const signature = if (is_p256) &compact else &(compact ++ [1]u8{27 + @as(u8, made.signature.recovery)});
    return json.object(ctx.arena, .{
        .signature = try encoding.hex(ctx.arena, signature),
        .digest = try encoding.hex(ctx.arena, &digest),
        .signer = try encoding.hex(ctx.arena, if (is_p256) point else hashes.keccak(point)[12..32]),
        .enclave_id = made.entry.enclave_id,
    });
}

/// {public_key, curve?, digest, signature} -> {valid}. As in the smart accounts, a high s is not valid.
pub fn verifySignature(ctx: *Ctx, input: Json) Error!Json {
    const curve = try curves.Curve.parse(try args.optionalString(ctx, input, "curve", 16) orelse "P-256");
    const point = try args.fixed(65, ctx, input, "public_key");
    const public = try curves.PublicKey.fromUncompressed(curve, &point);
    const digest = try args.fixed(32, ctx, input, "digest");
    const signature = try args.fixed(64, ctx, input, "signature");
    return json.object(ctx.arena, .{ .valid = curves.verify(public, digest, signature) });
}

/// {digest, signature} -> {public_keys}: the P-256 keys (SEC 1, hex) that can have made the signature; two, or none.
pub fn recoverPublicKeys(ctx: *Ctx, input: Json) Error!Json {
    const digest = try args.fixed(32, ctx, input, "digest");
    const signature = try args.fixed(64, ctx, input, "signature");
    var found: [2][]const u8 = undefined;
    var count: usize = 0;
    for (curves.recover(digest, signature)) |key| {
        found[count] = try encoding.bareHex(ctx.arena, &(key orelse continue).uncompressed());
        count += 1;
    }
    return json.object(ctx.arena, .{ .public_keys = try json.array(ctx.arena, found[0..count]) });
}

/// {user_op, entry_point, chain_id} -> {user_op_hash}: the hash that `sign_user_op` would sign.
pub fn userOpHash(ctx: *Ctx, input: Json) Error!Json {
    const entry_text = try args.string(ctx, input, "entry_point", 42);
    const entry_point = eth.parseAddress(entry_text) catch |err| return ctx.fail(err, "entry_point");
    const chain_id = try args.optionalInteger(ctx, input, "chain_id", 1, (1 << 53) - 1) orelse
        return ctx.fail(error.MissingField, "chain_id");
    const hash = try user_op.hash(ctx, try args.required(ctx, input, "user_op"), entry_point, @intCast(chain_id));
    return json.object(ctx.arena, .{ .user_op_hash = try encoding.hex(ctx.arena, &hash) });
}

/// {enclave_id?, val_share?, rotate?} -> EncryptedShares: new shares of the same key.
pub fn refreshShares(ctx: *Ctx, input: Json) Error!Json {
    const open = try session.require(ctx);
    const entry = try keyring.load(ctx, open.database, try args.optionalString(ctx, input, "enclave_id", 128));
    const val = try args.optionalFixed(shares_file.sealed_length, ctx, input, "val_share");
    const rotate = try args.boolean(ctx, input, "rotate", false);
    return keyring.refresh(ctx, open.database, entry, val, rotate);
}

const Made = struct { entry: keyring.Entry, signature: Signature };

fn withKey(ctx: *Ctx, input: Json, digest: [32]u8) Error!Made {
    const open = try session.require(ctx);
    const entry = try keyring.load(ctx, open.database, try args.optionalString(ctx, input, "enclave_id", 128));
    const val = try args.optionalFixed(shares_file.sealed_length, ctx, input, "val_share");
    if (try args.boolean(ctx, input, "deterministic", false)) {
        return .{ .entry = entry, .signature = try keyring.sign(ctx, entry, val, digest, "") };
    }
    const entropy = try host.randomBytes(32);
    return .{ .entry = entry, .signature = try keyring.sign(ctx, entry, val, digest, &entropy) };
}

/// Signs tokens with one of the vault's keys.
pub const TokenSigner = struct {
    ctx: *Ctx,
    entry: keyring.Entry,
    val_share: ?[shares_file.sealed_length]u8 = null,
    /// Why the last signature failed.
    failure: Error = error.CryptoFailure,

    pub fn signer(self: *TokenSigner) envelope.Signer {
        const compressed = self.entry.public.compressed();
        const key: did_key.PublicKey = switch (self.entry.public.curve) {
            .p256 => .{ .p256 = compressed },
            .secp256k1 => .{ .secp256k1 = compressed },
        };
        return .{ .key = key, .context = self, .sign = signMessage };
    }

    fn signMessage(context: *anyopaque, message: []const u8) envelope.Signer.SignError![64]u8 {
        const self: *TokenSigner = @ptrCast(@alignCast(context));
        var digest: [32]u8 = undefined;
        std.crypto.hash.sha2.Sha256.hash(message, &digest, .{});
        const entropy = host.randomBytes(32) catch |err| {
            self.failure = err;
            return error.SigningFailed;
        };
        const signature = keyring.sign(self.ctx, self.entry, self.val_share, digest, &entropy) catch |err| {
            self.failure = err;
            return error.SigningFailed;
        };
        return signature.compact();
    }
};
