//! Reads authenticator data (WebAuthn Level 3, section 6.1): a fixed header, then the parts that its flags announce.

const std = @import("std");
const cbor = @import("../codec/cbor.zig");
const cose = @import("../codec/cose.zig");
const ipld = @import("../codec/ipld.zig");
const Allocator = std.mem.Allocator;

pub const Error = error{
    AuthenticatorDataTruncated,
    AuthenticatorDataTrailingBytes,
    AuthenticatorFlagsInvalid,
    CredentialIdInvalid,
} || cbor.Error || cose.Error;

/// Longest credential ID, in bytes (section 4, "Credential ID").
const max_credential_id = 1023;

pub const Flags = struct {
    user_present: bool,
    user_verified: bool,
    backup_eligible: bool,
    backup_state: bool,
    attested: bool,
    extensions: bool,

    fn of(byte: u8) Error!Flags {
        const flags: Flags = .{
            .user_present = byte & 0x01 != 0,
            .user_verified = byte & 0x04 != 0,
            .backup_eligible = byte & 0x08 != 0,
            .backup_state = byte & 0x10 != 0,
            .attested = byte & 0x40 != 0,
            .extensions = byte & 0x80 != 0,
        };
        // Section 6.1.3 rules out a credential that is backed up but not eligible for backup.
        return if (flags.backup_state and !flags.backup_eligible) error.AuthenticatorFlagsInvalid else flags;
    }
};

pub const Attested = struct {
    aaguid: [16]u8,
    credential_id: []const u8,
    public_key: cose.Key,
    /// The COSE key in its original encoding.
    cose_key: []const u8,
};

pub const AuthenticatorData = struct {
    rp_id_hash: [32]u8,
    flags: Flags,
    sign_count: u32,
    attested: ?Attested,
    extensions: ?ipld.Value,
};

/// Reads all of `bytes`.
pub fn parse(arena: Allocator, bytes: []const u8) Error!AuthenticatorData {
    var rest = bytes;
    const rp_id_hash = (try take(&rest, 32))[0..32].*;
    const flags = try Flags.of((try take(&rest, 1))[0]);
    const sign_count = std.mem.readInt(u32, (try take(&rest, 4))[0..4], .big);
    const attested = if (flags.attested) try parseAttested(arena, &rest) else null;
    const extensions = if (flags.extensions) try parseExtensions(arena, &rest) else null;
    if (rest.len != 0) return error.AuthenticatorDataTrailingBytes;
    return .{
        .rp_id_hash = rp_id_hash,
        .flags = flags,
        .sign_count = sign_count,
        .attested = attested,
        .extensions = extensions,
    };
}

fn parseAttested(arena: Allocator, rest: *[]const u8) Error!Attested {
    const aaguid = (try take(rest, 16))[0..16].*;
    const length = std.mem.readInt(u16, (try take(rest, 2))[0..2], .big);
    if (length == 0 or length > max_credential_id) return error.CredentialIdInvalid;
    const credential_id = try take(rest, length);
    const start = rest.*;
    const key = try cbor.decodePrefix(arena, .ctap2, rest);
    return .{
        .aaguid = aaguid,
        .credential_id = credential_id,
        .public_key = try cose.parse(key),
        .cose_key = start[0 .. start.len - rest.len],
    };
}

fn parseExtensions(arena: Allocator, rest: *[]const u8) Error!ipld.Value {
    const value = try cbor.decodePrefix(arena, .ctap2, rest);
    return if (value == .map) value else error.CborUnsupported;
}

fn take(rest: *[]const u8, length: usize) Error![]const u8 {
    if (rest.len < length) return error.AuthenticatorDataTruncated;
    defer rest.* = rest.*[length..];
    return rest.*[0..length];
}
