//! Reads a browser's PublicKeyCredential from a registration or an assertion, as the JSON of its toJSON() (WebAuthn
//! Level 3, section 5.1). Also reads a bare attestation object.

const std = @import("std");
const attestation = @import("attestation.zig");
const authenticator_data = @import("authenticator_data.zig");
const Allocator = std.mem.Allocator;
const Json = std.json.Value;

pub const Error = error{
    CredentialJsonInvalid,
    CredentialFieldInvalid,
    CredentialIdMismatch,
    ClientDataInvalid,
    ClientDataTypeMismatch,
} || attestation.Error;

/// Longest credential, in bytes of JSON or CBOR.
pub const max_bytes = 256 << 10;

/// The maximum number of transports that a credential may list, and the maximum length of a transport's name.
const max_transports = 16;
const max_transport = 32;

pub const ClientData = struct {
    type: []const u8,
    challenge: []const u8,
    origin: []const u8,
    cross_origin: bool,
    /// The origin of the topmost page, if the ceremony ran inside another site's frame.
    top_origin: ?[]const u8,
};

pub const Registration = struct {
    attestation: attestation.Attestation,
    client_data: ?ClientData,
    transports: []const []const u8,
    /// "platform", "cross-platform", or null if the browser did not say.
    attachment: ?[]const u8,
};

pub const Assertion = struct {
    credential_id: []const u8,
    data: authenticator_data.AuthenticatorData,
    client_data: ClientData,
    signature: []const u8,
    /// The signed bytes: the authenticator data and the client data as encoded.
    raw: struct { authenticator_data: []const u8, client_data: []const u8 },
    user_handle: ?[]const u8,
    attachment: ?[]const u8,
};

pub const Credential = union(enum) { registration: Registration, assertion: Assertion };

/// Reads a registration or an assertion.
pub fn parse(arena: Allocator, bytes: []const u8) Error!Credential {
    if (bytes.len > max_bytes) return error.CborTooLarge;
    if (bytes.len == 0 or bytes[0] != '{') return .{ .registration = .{
        .attestation = try attestation.parse(arena, bytes),
        .client_data = null,
        .transports = &.{},
        .attachment = null,
    } };
    const json = try parseJson(arena, bytes, error.CredentialJsonInvalid);
    const response = try objectOf(json, "response");
    if (optional(response, "attestationObject") != null)
        return .{ .registration = try registration(arena, json, response) };
    return .{ .assertion = try assertion(arena, json, response) };
}

fn registration(arena: Allocator, json: Json, response: Json) Error!Registration {
    const object = try base64Of(arena, response, "attestationObject");
    const parsed = try attestation.parse(arena, object);
    const id = try idOf(arena, json);
    if (!std.mem.eql(u8, id, parsed.data.attested.?.credential_id)) return error.CredentialIdMismatch;
    return .{
        .attestation = parsed,
        .client_data = try clientData(arena, try base64Of(arena, response, "clientDataJSON"), "webauthn.create"),
        .transports = try transports(arena, response),
        .attachment = try attachment(json),
    };
}

fn assertion(arena: Allocator, json: Json, response: Json) Error!Assertion {
    const data = try base64Of(arena, response, "authenticatorData");
    const client_data = try base64Of(arena, response, "clientDataJSON");
    return .{
        .credential_id = try idOf(arena, json),
        .data = try authenticator_data.parse(arena, data),
        .client_data = try clientData(arena, client_data, "webauthn.get"),
        .raw = .{ .authenticator_data = data, .client_data = client_data },
        .signature = try base64Of(arena, response, "signature"),
        .user_handle = if (optional(response, "userHandle") == null)
            null
        else
            try base64Of(arena, response, "userHandle"),
        .attachment = try attachment(json),
    };
}

/// `id`, which must equal `rawId` if both are given.
fn idOf(arena: Allocator, json: Json) Error![]const u8 {
    const id = try base64Of(arena, json, "id");
    if (optional(json, "rawId") != null) {
        if (!std.mem.eql(u8, id, try base64Of(arena, json, "rawId"))) return error.CredentialIdMismatch;
    }
    if (optional(json, "type")) |kind| {
        if (kind != .string or !std.mem.eql(u8, kind.string, "public-key")) return error.CredentialFieldInvalid;
    }
    return if (id.len == 0 or id.len > 1023) error.CredentialIdInvalid else id;
}

fn clientData(arena: Allocator, bytes: []const u8, wanted: []const u8) Error!ClientData {
    const json = try parseJson(arena, bytes, error.ClientDataInvalid);
    const data: ClientData = .{
        .type = try textOf(json, "type"),
        .challenge = try textOf(json, "challenge"),
        .origin = try textOf(json, "origin"),
        .cross_origin = if (optional(json, "crossOrigin")) |c|
            if (c == .bool) c.bool else return error.ClientDataInvalid
        else
            false,
        .top_origin = if (optional(json, "topOrigin") != null) try textOf(json, "topOrigin") else null,
    };
    return if (std.mem.eql(u8, data.type, wanted)) data else error.ClientDataTypeMismatch;
}

fn textOf(json: Json, name: []const u8) Error![]const u8 {
    const value = optional(json, name) orelse return error.ClientDataInvalid;
    return if (value == .string) value.string else error.ClientDataInvalid;
}

fn transports(arena: Allocator, response: Json) Error![]const []const u8 {
    const listed = optional(response, "transports") orelse return &.{};
    if (listed != .array or listed.array.items.len > max_transports) return error.CredentialFieldInvalid;
    const out = try arena.alloc([]const u8, listed.array.items.len);
    for (listed.array.items, out) |item, *slot| {
        if (item != .string or item.string.len > max_transport) return error.CredentialFieldInvalid;
        slot.* = item.string;
    }
    return out;
}

fn attachment(json: Json) Error!?[]const u8 {
    const value = optional(json, "authenticatorAttachment") orelse return null;
    if (value != .string or value.string.len > max_transport) return error.CredentialFieldInvalid;
    return value.string;
}

fn parseJson(arena: Allocator, bytes: []const u8, refused: Error) Error!Json {
    if (!shallow(bytes)) return refused;
    const json = std.json.parseFromSliceLeaky(Json, arena, bytes, .{}) catch |err| switch (err) {
        error.OutOfMemory => return error.OutOfMemory,
        else => return refused,
    };
    return if (json == .object) json else refused;
}

/// Whether the JSON is shallow enough to be read recursively. A credential needs four levels.
fn shallow(bytes: []const u8) bool {
    var open: usize = 0;
    for (bytes) |byte| {
        if (byte == '{' or byte == '[') open += 1;
        if (byte == '}' or byte == ']') open -|= 1;
        if (open > 64) return false;
    }
    return true;
}

fn optional(json: Json, name: []const u8) ?Json {
    const value = json.object.get(name) orelse return null;
    return if (value == .null) null else value;
}

fn objectOf(json: Json, name: []const u8) Error!Json {
    const value = optional(json, name) orelse return error.CredentialJsonInvalid;
    return if (value == .object) value else error.CredentialJsonInvalid;
}

/// The bytes in base64url, as toJSON() writes it. Standard base64 and padding are accepted too.
fn base64Of(arena: Allocator, json: Json, name: []const u8) Error![]const u8 {
    const value = optional(json, name) orelse return error.CredentialFieldInvalid;
    if (value != .string) return error.CredentialFieldInvalid;
    const text = std.mem.trimEnd(u8, value.string, "=");
    const standard = std.mem.findAny(u8, text, "+/") != null;
    const codecs = if (standard) std.base64.standard_no_pad else std.base64.url_safe_no_pad;
    const size = codecs.Decoder.calcSizeForSlice(text) catch return error.CredentialFieldInvalid;
    const out = try arena.alloc(u8, size);
    codecs.Decoder.decode(out, text) catch return error.CredentialFieldInvalid;
    return out;
}
