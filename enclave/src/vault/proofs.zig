//! `verification_proof`: the registrar's attestation that an identifier was verified.
//!
//! An attestation's signature is an HMAC with the registrar's key, which the vault does not have. So the vault checks
//! only the contents, and only the registrar can check the signature.

const std = @import("std");
const args = @import("../call/args.zig");
const host = @import("../platform/host.zig");
const iso8601 = @import("../codec/iso8601.zig");
const json = @import("../codec/json.zig");
const meta = @import("meta.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

/// How far the registrar's clock may be ahead of the host's, in milliseconds.
const max_skew_ms = 60_000;
const max_proof = 4096;
const max_identifier = 320;
const fields = .{ "identifier", "channel", "verified_at", "expires_at", "registrar", "signature" };

pub const Proof = struct { text: []const u8, identifier: []const u8, channel: []const u8, verified_at: []const u8 };

/// The proof in GenerateInput, or null if it has none. The input's `identifier` and `channel` must equal the proof's.
pub fn read(ctx: *Ctx, input: Json) Error!?Proof {
    const channel = try args.optionalString(ctx, input, "channel", 16);
    if (channel) |name| if (!isChannel(name)) return ctx.fail(error.InvalidField, "channel");
    const text = try args.optionalString(ctx, input, "verification_proof", max_proof) orelse return null;
    const said = try parse(ctx, text);
    inline for (.{ "identifier", "channel" }) |name| {
        const given = try args.optionalString(ctx, input, name, max_identifier) orelse said.object.get(name).?.string;
        if (!std.mem.eql(u8, given, said.object.get(name).?.string))
            return ctx.fail(error.InvalidField, "verification_proof of another " ++ name);
    }
    try checkTimes(ctx, said);
    return .{
        .text = text,
        .identifier = said.object.get("identifier").?.string,
        .channel = said.object.get("channel").?.string,
        .verified_at = said.object.get("verified_at").?.string,
    };
}

/// Records the identifier, and the proof if there is one.
pub fn record(ctx: *Ctx, database: Database, input: Json, proof: ?Proof) Error!void {
    if (proof) |given| {
        try meta.set(database, "identifier", given.identifier);
        try meta.set(database, "channel", given.channel);
        try meta.set(database, "verified_at", given.verified_at);
        return meta.set(database, "verification_proof", given.text);
    }
    inline for (.{ "identifier", "channel" }) |name| {
        if (try args.optionalString(ctx, input, name, max_identifier)) |value| try meta.set(database, name, value);
    }
}

/// {identifier, channel?, attested, verified_at?} of the vault's identifier, or null if none is recorded.
pub fn recorded(ctx: *Ctx, database: Database) Error!?Json {
    const identifier = try meta.get(database, ctx.arena, "identifier") orelse return null;
    const verified_at = try meta.get(database, ctx.arena, "verified_at");
    return try json.object(ctx.arena, .{
        .identifier = identifier,
        .channel = try meta.get(database, ctx.arena, "channel"),
        .attested = verified_at != null,
        .verified_at = verified_at,
    });
}

fn isChannel(name: []const u8) bool {
    return std.mem.eql(u8, name, "email") or std.mem.eql(u8, name, "sms");
}

/// The attestation, which must contain exactly six strings, each in its required form.
fn parse(ctx: *Ctx, text: []const u8) Error!Json {
    const refused = ctx.fail(error.InvalidField, "verification_proof");
    if (!json.withinDepth(text)) return refused;
    const said = std.json.parseFromSliceLeaky(Json, ctx.arena, text, .{}) catch |err|
        return if (err == error.OutOfMemory) error.OutOfMemory else refused;
    if (said != .object or said.object.count() != fields.len) return refused;
    inline for (fields) |name| {
        const value = said.object.get(name) orelse return refused;
        if (value != .string or value.string.len == 0) return refused;
    }
    if (said.object.get("identifier").?.string.len > max_identifier) return refused;
    if (!isChannel(said.object.get("channel").?.string)) return refused;
    if (!isSignature(said.object.get("signature").?.string)) return refused;
    inline for (.{ "verified_at", "expires_at" }) |name|
        if (!iso8601.isInstant(said.object.get(name).?.string)) return refused;
    ctx.detail = "";
    return said;
}

/// `0x` and 64 lower-case digits.
fn isSignature(text: []const u8) bool {
    if (text.len != 66 or !std.mem.startsWith(u8, text, "0x")) return false;
    for (text[2..]) |digit| if (!std.ascii.isDigit(digit) and (digit < 'a' or digit > 'f')) return false;
    return true;
}

fn checkTimes(ctx: *Ctx, said: Json) Error!void {
    const verified_at = said.object.get("verified_at").?.string;
    const expires_at = said.object.get("expires_at").?.string;
    const now_ms = try host.timeMs();
    const now = try iso8601.format(ctx.arena, now_ms);
    const latest = try iso8601.format(ctx.arena, now_ms + max_skew_ms);
    if (!try iso8601.isBefore(ctx.arena, verified_at, expires_at))
        return ctx.fail(error.InvalidField, "verification_proof");
    if (!try iso8601.isBefore(ctx.arena, now, expires_at)) return ctx.fail(error.TokenExpired, "verification_proof");
    if (try iso8601.isBefore(ctx.arena, latest, verified_at))
        return ctx.fail(error.TokenNotYetValid, "verification_proof");
}
