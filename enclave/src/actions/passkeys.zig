//! Verifies an assertion against the credential's key, counter and identifier, which the vault stores.

const std = @import("std");
const args = @import("../call/args.zig");
const assertion = @import("../webauthn/assertion.zig");
const credential = @import("../webauthn/credential.zig");
const encoding = @import("../codec/encoding.zig");
const codec_errors = @import("../call/codec_errors.zig");
const host = @import("../platform/host.zig");
const iso8601 = @import("../codec/iso8601.zig");
const json = @import("../codec/json.zig");
const resources = @import("../vault/resources.zig");
const rows = @import("../vault/rows.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

/// Minimum length of a challenge, in bytes, so that it cannot be guessed (WebAuthn Level 3, section 13.4.3).
const min_challenge = 16;
const max_challenge = 1024;
const max_name = 512;
const max_top_origins = 16;

/// {assertion, challenge, origin, rp_id, credential_id?, user_verification?, cross_origin?, top_origins?} -> {valid,
/// reason?, credential_id, user_verified?, sign_count?}. A valid assertion is recorded as the credential's last use.
pub fn verify(ctx: *Ctx, database: Database, input: Json) Error!Json {
    const made = try assertionOf(ctx, input);
    const asserted = try encoding.base64Url(ctx.arena, made.credential_id);
    const id = try rows.optionalKey(ctx, resources.find("credentials").?, input) orelse asserted;
    const expected = try expectedOf(ctx, database, input, id);
    const failed = try assertion.failedStep(ctx.arena, made, expected);
    if (failed) |reason| return json.object(ctx.arena, .{ .valid = false, .reason = reason, .credential_id = id });
    try recordUse(ctx, database, id, made.data.sign_count);
    return json.object(ctx.arena, .{
        .valid = true,
        .credential_id = id,
        .user_verified = made.data.flags.user_verified,
        .sign_count = made.data.sign_count,
    });
}

/// The ID of the credential that an assertion identifies.
pub fn named(ctx: *Ctx, input: Json) Error![]const u8 {
    return encoding.base64Url(ctx.arena, (try assertionOf(ctx, input)).credential_id);
}

fn assertionOf(ctx: *Ctx, input: Json) Error!credential.Assertion {
    const bytes = try args.bytes(ctx, input, "assertion", credential.max_bytes);
    const parsed = credential.parse(ctx.arena, bytes) catch |err| return codec_errors.credential(ctx, err);
    return if (parsed == .assertion) parsed.assertion else ctx.fail(error.InvalidCredential, "not an assertion");
}

fn expectedOf(ctx: *Ctx, database: Database, input: Json, id: []const u8) Error!assertion.Expected {
    const challenge = try args.bytes(ctx, input, "challenge", max_challenge);
    if (challenge.len < min_challenge) return ctx.fail(error.InvalidField, "challenge");
    const kept = try stored(ctx, database, id);
    return .{
        .credential_id = try credentialBytes(ctx, id),
        .challenge = try encoding.base64Url(ctx.arena, challenge),
        .origin = try args.string(ctx, input, "origin", max_name),
        .rp_id = try args.string(ctx, input, "rp_id", max_name),
        .user_verification = try verificationRequired(ctx, input),
        .top_origins = try topOrigins(ctx, input),
        .key = assertion.keyOf(ctx.arena, kept.key) catch |err| return keyError(ctx, err),
        .sign_count = kept.sign_count,
    };
}

/// The origins of pages that may embed this relying party's page in a frame, or null if frames are not allowed.
/// `cross_origin` requires the list, because without it any page could obtain an assertion (WebAuthn Level 3, section
/// 13.4.9).
fn topOrigins(ctx: *Ctx, input: Json) Error!?[]const ?[]const u8 {
    const given = try args.items(ctx, input, "top_origins", max_top_origins);
    if (!try args.boolean(ctx, input, "cross_origin", false)) return null;
    if (given.len == 0) return ctx.fail(error.MissingField, "top_origins");
    const out = try ctx.arena.alloc(?[]const u8, given.len);
    for (given, out) |item, *slot| slot.* = switch (item) {
        .string => |text| if (text.len <= max_name) text else return ctx.fail(error.ValueTooLarge, "top_origins"),
        .null => null,
        else => return ctx.fail(error.InvalidField, "top_origins"),
    };
    return out;
}

/// Whether user verification is required, which it is unless `user_verification` is "preferred" or "discouraged".
fn verificationRequired(ctx: *Ctx, input: Json) Error!bool {
    const wanted = try args.optionalString(ctx, input, "user_verification", 16) orelse return true;
    const Requirement = enum { required, preferred, discouraged };
    const parsed = std.meta.stringToEnum(Requirement, wanted) orelse
        return ctx.fail(error.InvalidField, "user_verification");
    return parsed == .required;
}

fn credentialBytes(ctx: *Ctx, id: []const u8) Error![]const u8 {
    return encoding.fromBase64(ctx.arena, id) catch |err| return ctx.fail(err, "credential_id");
}

const Stored = struct { key: []const u8, sign_count: u32 };

fn stored(ctx: *Ctx, database: Database, id: []const u8) Error!Stored {
    const found = try database.query(
        "SELECT public_key, sign_count FROM credentials WHERE credential_id = ?",
        &.{.{ .text = id }},
    );
    defer found.finish();
    if (!try found.next()) return ctx.fail(error.NotFound, "credentials");
    if (found.isNull(0)) return ctx.fail(error.NotFound, "public_key");
    return .{
        .key = try found.blob(ctx.arena, 0),
        // `update` accepts any integer, and an authenticator counts to 2^32 - 1 at most.
        .sign_count = std.math.cast(u32, found.integer(1)) orelse std.math.maxInt(u32),
    };
}

fn keyError(ctx: *Ctx, err: assertion.Error) Error {
    return switch (err) {
        error.OutOfMemory => error.OutOfMemory,
        error.KeyInvalid => ctx.fail(error.InvalidKey, "public_key"),
        error.KeyUnsupported => ctx.fail(error.UnsupportedAlgorithm, "public_key"),
    };
}

fn recordUse(ctx: *Ctx, database: Database, id: []const u8, sign_count: u32) Error!void {
    try database.run("UPDATE credentials SET sign_count = ?, last_used = ? WHERE credential_id = ?", &.{
        .{ .integer = sign_count },
        .{ .text = try iso8601.format(ctx.arena, host.nowMs()) },
        .{ .text = id },
    });
}
