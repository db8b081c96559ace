//! Moves a vault to a new device, with `sync_init`, `sync_respond`, `sync_compare` and `sync_complete`.
//!
//! The new device initiates. The device that has the vault responds with its key, and sends the sealed vault once its
//! user has typed the six digits that the new device shows. Each pairing session lasts five minutes and works once.

const std = @import("std");
const args = @import("../call/args.zig");
const encoding = @import("../codec/encoding.zig");
const host = @import("../platform/host.zig");
const iso8601 = @import("../codec/iso8601.zig");
const json = @import("../codec/json.zig");
const passage = @import("../vault/passage.zig");
const protocol = @import("../pairing/protocol.zig");
const HostKey = @import("../storage/sealed.zig").HostKey;
const session = @import("../vault/session.zig");
const sessions = @import("../pairing/sessions.zig");
const Ctx = @import("../call/context.zig").Ctx;
const errors = @import("../platform/errors.zig");
const Error = errors.Error;
const Json = json.Json;
const Session = sessions.Session;

/// Longest sealed vault, in bytes.
const max_vault = 16 << 20;

/// {} -> SyncInitResult {success, session_id, public_key, expires_at}.
pub fn init(ctx: *Ctx, _: Json) Error!Json {
    const own = try keyPair();
    const nonce = try host.randomBytes(protocol.nonce_length);
    const id = protocol.commitment(own.public, nonce);
    const pairing = try open(ctx, .{
        .id = id,
        .role = .initiator,
        .own = own,
        .peer = null,
        .nonce = nonce,
        .expires_ms = try host.timeMs() + protocol.lifetime_ms,
    });
    return json.object(ctx.arena, .{
        .success = true,
        .session_id = try encoding.bareHex(ctx.arena, &id),
        .public_key = try encoding.bareHex(ctx.arena, &own.public),
        .expires_at = try iso8601.format(ctx.arena, pairing.expires_ms),
    });
}

/// {session_id, public_key} -> SyncRespondResult with this device's key and status "compare"; then {session_id, code,
/// with_keys?} -> SyncRespondResult with `encrypted_vault` and status "sealed", and with `sealed_vault` if `with_keys`
/// is set.
pub fn respond(ctx: *Ctx, input: Json) Error!Json {
    const id = try args.fixed(32, ctx, input, "session_id");
    const typed = try args.optionalString(ctx, input, "code", 16);
    const result = if (typed) |code| release(ctx, id, code, input) else accept(ctx, id, input);
    return result catch |err| refusal(ctx, id, err);
}

fn accept(ctx: *Ctx, id: [32]u8, input: Json) Error!Json {
    const peer = try peerKey(ctx, input);
    _ = try session.require(ctx); // without an unlocked vault there is nothing to send
    const pairing = try open(ctx, .{
        .id = id,
        .role = .responder,
        .own = try keyPair(),
        .peer = peer,
        .nonce = null,
        .expires_ms = try host.timeMs() + protocol.lifetime_ms,
    });
    return json.object(ctx.arena, .{
        .success = true,
        .session_id = try encoding.bareHex(ctx.arena, &id),
        .public_key = try encoding.bareHex(ctx.arena, &pairing.own.public),
        .status = "compare",
    });
}

fn release(ctx: *Ctx, id: [32]u8, typed: []const u8, input: Json) Error!Json {
    const with_keys = try args.boolean(ctx, input, "with_keys", false);
    const pairing = try ctx.state.sync.find(id, .responder, try host.timeMs());
    defer ctx.state.sync.finish(pairing);
    const channel = try confirmed(ctx, pairing, typed);
    const vault = try session.require(ctx);
    const given: passage.Given = if (with_keys)
        try passage.give(ctx, vault, try encoding.bareHex(ctx.arena, &id))
    else
        .{ .database = try vault.database.serialize(ctx.arena) };
    const nonce = try host.randomBytes(12);
    const encrypted = protocol.seal(ctx.arena, channel, nonce, given.database) catch |err| return translated(ctx, err);
    return json.object(ctx.arena, .{
        .success = true,
        .session_id = try encoding.bareHex(ctx.arena, &id),
        .public_key = try encoding.bareHex(ctx.arena, &pairing.own.public),
        .encrypted_vault = try encoding.base64(ctx.arena, encrypted),
        .sealed_vault = if (given.vault) |bytes| try encoding.base64(ctx.arena, bytes) else null,
        .status = "sealed",
    });
}

/// On the new device {session_id, public_key: the responder's} -> {success, session_id, code, reveal, expires_at};
/// on the other {session_id, reveal} -> {success, session_id, code, expires_at}.
pub fn compare(ctx: *Ctx, input: Json) Error!Json {
    const id = try args.fixed(32, ctx, input, "session_id");
    const reveal = try args.optionalFixed(protocol.nonce_length, ctx, input, "reveal");
    const result = if (reveal) |nonce| learnNonce(ctx, id, nonce) else learnPeer(ctx, id, input);
    return result catch |err| refusal(ctx, id, err);
}

fn learnPeer(ctx: *Ctx, id: [32]u8, input: Json) Error!Json {
    const peer = try peerKey(ctx, input);
    const pairing = try ctx.state.sync.find(id, .initiator, try host.timeMs());
    // Accepting a second key would give an attacker a second guess at the six digits.
    if (pairing.peer) |known| if (!std.mem.eql(u8, &known, &peer)) {
        ctx.state.sync.finish(pairing);
        return error.SyncRejected;
    };
    pairing.peer = peer;
    return shown(ctx, pairing, try encoding.bareHex(ctx.arena, &pairing.nonce.?));
}

fn learnNonce(ctx: *Ctx, id: [32]u8, nonce: [protocol.nonce_length]u8) Error!Json {
    const pairing = try ctx.state.sync.find(id, .responder, try host.timeMs());
    const committed = protocol.commitment(pairing.peer.?, nonce);
    if (!std.mem.eql(u8, &committed, &pairing.id)) {
        ctx.state.sync.finish(pairing);
        return error.SyncRejected;
    }
    pairing.nonce = nonce;
    return shown(ctx, pairing, null);
}

fn shown(ctx: *Ctx, pairing: *const Session, reveal: ?[]const u8) Error!Json {
    const code = protocol.code(pairing.transcript().?);
    return json.object(ctx.arena, .{
        .success = true,
        .session_id = try encoding.bareHex(ctx.arena, &pairing.id),
        .code = try ctx.arena.dupe(u8, &code),
        .reveal = reveal,
        .expires_at = try iso8601.format(ctx.arena, pairing.expires_ms),
    });
}

/// {session_id, code, encrypted_vault, sealed_vault?, key} -> SyncCompleteResult {success, session_id, did, status:
/// "complete"}. Afterwards the vault is open, and wrapped for `key`: under its data key and with its other wraps if
/// `sealed_vault` is given, otherwise under a new data key.
pub fn complete(ctx: *Ctx, input: Json) Error!Json {
    const key = try session.requireKey(ctx, input);
    const id = try args.fixed(32, ctx, input, "session_id");
    const typed = try args.string(ctx, input, "code", 16);
    const encrypted = try args.bytes(ctx, input, "encrypted_vault", max_vault);
    const vault = try args.optionalBytes(ctx, input, "sealed_vault", max_vault);
    return restore(ctx, id, typed, encrypted, vault, key) catch |err| refusal(ctx, id, err);
}

fn restore(
    ctx: *Ctx,
    id: [32]u8,
    typed: []const u8,
    encrypted: []const u8,
    vault: ?[]const u8,
    key: HostKey,
) Error!Json {
    const pairing = try ctx.state.sync.find(id, .initiator, try host.timeMs());
    const channel = confirmed(ctx, pairing, typed);
    ctx.state.sync.finish(pairing); // whether the digits are right or not
    const clear = protocol.open(ctx.arena, try channel, encrypted) catch |err| return translated(ctx, err);
    if (ctx.state.open != null) return error.Conflict;
    try session.restore(ctx, clear, key);
    const name = try encoding.bareHex(ctx.arena, &id);
    passage.take(ctx, name, vault, key) catch |err| {
        ctx.state.discard();
        return err;
    };
    return json.object(ctx.arena, .{
        .success = true,
        .session_id = name,
        .did = ctx.state.did,
        .status = "complete",
    });
}

/// The channel of a session if the typed digits are correct. The comparison takes constant time.
fn confirmed(ctx: *Ctx, pairing: *const Session, typed: []const u8) Error!protocol.Channel {
    const channel = pairing.channel() orelse return ctx.fail(error.SyncRejected, "the codes were not compared yet");
    const code = protocol.code(channel.transcript);
    if (typed.len != code.len) return error.CodeMismatch;
    if (!std.crypto.timing_safe.eql([protocol.code_length]u8, code, typed[0..protocol.code_length].*))
        return error.CodeMismatch;
    return channel;
}

fn open(ctx: *Ctx, pairing: Session) Error!*Session {
    return ctx.state.sync.add(pairing, try host.timeMs());
}

fn keyPair() Error!protocol.KeyPair {
    return protocol.KeyPair.of(try host.randomBytes(48)) orelse error.EntropyUnavailable;
}

fn peerKey(ctx: *Ctx, input: Json) Error![protocol.public_length]u8 {
    const peer = try args.fixed(protocol.public_length, ctx, input, "public_key");
    protocol.checkPublic(peer) catch return ctx.fail(error.InvalidKey, "public_key");
    return peer;
}

fn translated(ctx: *Ctx, err: protocol.Error) Error {
    return switch (err) {
        error.OutOfMemory => error.OutOfMemory,
        error.PeerKeyInvalid => ctx.fail(error.InvalidKey, "public_key"),
        error.SealRejected => error.SyncRejected,
    };
}

/// Turns a failure that can happen in an honest exchange into `success: false`. Malformed calls remain errors.
fn refusal(ctx: *Ctx, id: [32]u8, err: Error) Error!Json {
    return switch (err) {
        error.SessionUnknown,
        error.SessionExpired,
        error.SessionUsed,
        error.SyncRejected,
        error.CodeMismatch,
        error.VaultLocked,
        error.VaultUninitialized,
        error.Conflict,
        error.InvalidDatabase,
        => json.object(ctx.arena, .{
            .success = false,
            .session_id = try encoding.bareHex(ctx.arena, &id),
            .@"error" = errors.row(err).code,
        }),
        else => err,
    };
}
