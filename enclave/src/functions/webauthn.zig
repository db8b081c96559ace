//! Reads serialized WebAuthn credentials for `generate` and `parse_webauthn`.

const std = @import("std");
const args = @import("../call/args.zig");
const cose = @import("../codec/cose.zig");
const encoding = @import("../codec/encoding.zig");
const codec_errors = @import("../call/codec_errors.zig");
const ipld = @import("../codec/ipld.zig");
const json = @import("../codec/json.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;
const authenticator_data = @import("../webauthn/authenticator_data.zig");
pub const credential = @import("../webauthn/credential.zig");

/// The data that `generate` records about the vault's passkey.
pub const Passkey = struct {
    credential_id: []const u8,
    public_key: cose.Key,
    cose_key: []const u8,
    aaguid: [16]u8,
    flags: authenticator_data.Flags,
    sign_count: u32,
    transports: []const []const u8,
    /// "platform" or "cross-platform", as the browser reports or, if it does not, as the transports imply.
    device_type: []const u8,
    /// The whole credential in the form that `parse_webauthn` returns.
    parsed: Json,
};

/// Reads the bytes of GenerateInput.credential, which must be a registration whose key Holdfast can use.
pub fn passkey(ctx: *Ctx, bytes: []const u8) Error!Passkey {
    const parsed = credential.parse(ctx.arena, bytes) catch |err| return codec_errors.credential(ctx, err);
    if (parsed != .registration) return ctx.fail(error.InvalidCredential, "not a registration");
    const registration = parsed.registration;
    const attested = registration.attestation.data.attested.?;
    if (attested.public_key == .other) return ctx.fail(error.UnsupportedAlgorithm, "credential key");
    return .{
        .credential_id = attested.credential_id,
        .public_key = attested.public_key,
        .cose_key = attested.cose_key,
        .aaguid = attested.aaguid,
        .flags = registration.attestation.data.flags,
        .sign_count = registration.attestation.data.sign_count,
        .transports = registration.transports,
        .device_type = deviceType(registration),
        .parsed = try registrationJson(ctx, registration),
    };
}

/// The browser's value if it is one of the two known values; others are ignored (WebAuthn Level 3, section 5.4.5).
fn deviceType(registration: credential.Registration) []const u8 {
    const transports = registration.transports;
    if (registration.attachment) |said| {
        for ([_][]const u8{ "platform", "cross-platform" }) |known| if (std.mem.eql(u8, said, known)) return known;
    }
    for (transports) |transport| if (std.mem.eql(u8, transport, "internal")) return "platform";
    return if (transports.len == 0) "platform" else "cross-platform";
}

/// {credential: binary} -> {parsed: object} (ParseWebAuthnResult).
pub fn parseWebauthn(ctx: *Ctx, input: Json) Error!Json {
    const bytes = try args.bytes(ctx, input, "credential", credential.max_bytes);
    const parsed = credential.parse(ctx.arena, bytes) catch |err| return codec_errors.credential(ctx, err);
    return json.object(ctx.arena, .{ .parsed = switch (parsed) {
        .registration => |registration| try registrationJson(ctx, registration),
        .assertion => |assertion| try assertionJson(ctx, assertion),
    } });
}

fn registrationJson(ctx: *Ctx, r: credential.Registration) Error!Json {
    const attested = r.attestation.data.attested.?;
    return json.object(ctx.arena, .{
        .type = "registration",
        .credential_id = try encoding.base64Url(ctx.arena, attested.credential_id),
        .format = r.attestation.format,
        .statement = try plain(ctx, r.attestation.statement),
        .aaguid = try uuid(ctx, attested.aaguid),
        .public_key = try keyJson(ctx, attested.public_key),
        .cose_key = try encoding.base64(ctx.arena, attested.cose_key),
        .rp_id_hash = try encoding.base64(ctx.arena, &r.attestation.data.rp_id_hash),
        .flags = r.attestation.data.flags,
        .sign_count = r.attestation.data.sign_count,
        .extensions = if (r.attestation.data.extensions) |e| try plain(ctx, e) else null,
        .transports = try json.array(ctx.arena, r.transports),
        .attachment = r.attachment,
        .client_data = r.client_data,
    });
}

fn assertionJson(ctx: *Ctx, a: credential.Assertion) Error!Json {
    return json.object(ctx.arena, .{
        .type = "assertion",
        .credential_id = try encoding.base64Url(ctx.arena, a.credential_id),
        .rp_id_hash = try encoding.base64(ctx.arena, &a.data.rp_id_hash),
        .flags = a.data.flags,
        .sign_count = a.data.sign_count,
        .extensions = if (a.data.extensions) |e| try plain(ctx, e) else null,
        .signature = try encoding.base64(ctx.arena, a.signature),
        .user_handle = if (a.user_handle) |handle| try encoding.base64Url(ctx.arena, handle) else null,
        .attachment = a.attachment,
        .client_data = a.client_data,
    });
}

fn keyJson(ctx: *Ctx, key: cose.Key) Error!Json {
    const number: i64 = std.math.cast(i64, key.algorithm()) orelse 0;
    const hex = encoding.bareHex;
    return switch (key) {
        .es256 => |k| json.object(ctx.arena, .{
            .algorithm = number,
            .name = "ES256",
            .supported = true,
            .x = try hex(ctx.arena, &k.x),
            .y = try hex(ctx.arena, &k.y),
        }),
        .eddsa => |x| json.object(ctx.arena, .{
            .algorithm = number,
            .name = "EdDSA",
            .supported = true,
            .x = try hex(ctx.arena, &x),
        }),
        .rs256 => |k| json.object(ctx.arena, .{
            .algorithm = number,
            .name = "RS256",
            .supported = true,
            .n = try hex(ctx.arena, k.n),
            .e = try hex(ctx.arena, k.e),
        }),
        .other => json.object(ctx.arena, .{ .algorithm = number, .supported = false }),
    };
}

fn uuid(ctx: *Ctx, id: [16]u8) Error![]const u8 {
    const h = std.fmt.bytesToHex(id, .lower);
    const parts = [_][]const u8{ h[0..8], h[8..12], h[12..16], h[16..20], h[20..32] };
    return std.mem.join(ctx.arena, "-", &parts);
}

/// A decoded CBOR value as JSON, with byte strings in base64 and integer keys as decimal text.
fn plain(ctx: *Ctx, value: ipld.Value) Error!Json {
    return switch (value) {
        .null => .null,
        .bool => |b| .{ .bool = b },
        .int => |i| if (std.math.cast(i64, i)) |small| .{ .integer = small } else .{
            .number_string = try std.fmt.allocPrint(ctx.arena, "{d}", .{i}),
        },
        .float => |f| .{ .float = f },
        .text => |t| .{ .string = t },
        .bytes, .link => |b| .{ .string = try encoding.base64(ctx.arena, b) },
        .list => |items| plainList(ctx, items),
        .map => |entries| plainMap(ctx, entries),
    };
}

fn plainList(ctx: *Ctx, items: []const ipld.Value) Error!Json {
    var list = std.json.Array.init(ctx.arena);
    for (items) |item| try list.append(try plain(ctx, item));
    return .{ .array = list };
}

fn plainMap(ctx: *Ctx, entries: []const ipld.Entry) Error!Json {
    var map: Json = .{ .object = .empty };
    for (entries) |entry| {
        const name = if (entry.key == .text)
            entry.key.text
        else
            try std.fmt.allocPrint(ctx.arena, "{d}", .{entry.key.int});
        try json.put(ctx.arena, &map, name, try plain(ctx, entry.value));
    }
    return map;
}
