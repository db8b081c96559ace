//! The sealed form of a vault: a clear header, the data key wrapped once for each key-encryption key, and the database
//! encrypted with the data key. docs/formats.md describes the bytes.

const std = @import("std");
const memory = @import("../platform/memory.zig");
const aead = @import("../crypto/aead.zig");
const host = @import("../platform/host.zig");
const Error = @import("../platform/errors.zig").Error;
const Allocator = std.mem.Allocator;

const magic = "HFDB";
const format_version = 1;
const fixed_header = 44;
const max_header = fixed_header + max_did + max_wraps * (2 + max_wrap_id + 16 + 12 + 12 + 48);
pub const max_wraps = 16;
pub const max_wrap_id = 128;
pub const max_did = 512;
/// The highest revision that JSON parsers read exactly. One save per microsecond reaches it in 285 years.
pub const max_revision = (1 << 53) - 1;

/// The source of a key-encryption key.
pub const Kind = enum(u8) { secret = 1, prf = 2, password = 3 };

/// A key-encryption key as the host supplies it.
pub const HostKey = struct {
    kind: Kind,
    /// Distinguishes wraps of one kind, such as a credential ID or the name of a keyring entry. Empty if the kind has
    /// only one wrap.
    id: []const u8,
    secret: []const u8,
};

/// The data key, encrypted with one key-encryption key.
pub const Wrap = struct {
    kind: Kind,
    id: []const u8,
    salt: [16]u8,
    argon2: aead.Argon2,
    nonce: aead.Nonce,
    sealed: [48]u8,
};

pub const Header = struct {
    did: []const u8,
    revision: u64,
    updated_at_ms: u64,
    nonce: aead.Nonce,
    wraps: []const Wrap,
    /// All bytes before the ciphertext, which are its associated data.
    raw: []const u8,
    ciphertext: []const u8,
};

/// Reads the header. Nothing is authenticated yet. Slices refer to `bytes`.
pub fn parse(arena: Allocator, bytes: []const u8) Error!Header {
    var reader: Reader = .{ .bytes = bytes };
    if (!std.mem.eql(u8, try reader.take(4), magic)) return error.InvalidDatabase;
    if (try reader.int(u8) != format_version) return error.UnsupportedVersion;
    const wrap_count = try reader.int(u8);
    const did_len = try reader.int(u16);
    const revision = try reader.int(u64);
    const updated_at = try reader.int(u64);
    const nonce = (try reader.take(12))[0..12].*;
    const ciphertext_len = try reader.int(u64);
    if (wrap_count == 0 or wrap_count > max_wraps or did_len == 0 or did_len > max_did or
        revision > max_revision) return error.InvalidDatabase;
    const did = try reader.text(did_len);
    const wraps = try arena.alloc(Wrap, wrap_count);
    for (wraps) |*slot| slot.* = try parseWrap(&reader);
    const rest = bytes[reader.position..];
    if (rest.len != ciphertext_len or rest.len < aead.tag_length) return error.InvalidDatabase;
    return .{
        .did = did,
        .revision = revision,
        .updated_at_ms = updated_at,
        .nonce = nonce,
        .wraps = wraps,
        .raw = bytes[0..reader.position],
        .ciphertext = rest,
    };
}

/// The sealed bytes of `database` with a fresh nonce, in memory from `allocator`.
pub fn seal(
    allocator: Allocator,
    did: []const u8,
    revision: u64,
    now_ms: i64,
    wraps: []const Wrap,
    data_key: aead.Key,
    database: []const u8,
) Error![]u8 {
    var writer = std.Io.Writer.Allocating.initCapacity(allocator, max_header + database.len + aead.tag_length) catch
        return error.OutOfMemory;
    defer writer.deinit();
    const nonce = try host.randomBytes(12);
    writeHeader(&writer.writer, did, revision, now_ms, wraps, nonce, database.len + aead.tag_length) catch
        return error.OutOfMemory;
    const header_len = writer.written().len;
    const body = writer.writer.writableSlice(database.len + aead.tag_length) catch return error.OutOfMemory;
    aead.sealInto(body, database, writer.written()[0..header_len], nonce, data_key);
    return writer.toOwnedSlice() catch error.OutOfMemory;
}

/// The database's bytes, in memory from `allocator`.
pub fn open(allocator: Allocator, header: Header, data_key: aead.Key) Error![]u8 {
    return aead.open(allocator, header.ciphertext, header.raw, header.nonce, data_key, error.InvalidDatabase);
}

/// Wraps the data key with another key-encryption key.
pub fn wrap(arena: Allocator, did: []const u8, key: HostKey, data_key: aead.Key) Error!Wrap {
    var made: Wrap = .{
        .kind = key.kind,
        .id = key.id,
        .salt = try host.randomBytes(16),
        .argon2 = .{},
        .nonce = try host.randomBytes(12),
        .sealed = undefined,
    };
    var kek = try derive(key, made);
    defer memory.wipe(&kek);
    aead.sealInto(&made.sealed, &data_key, try binding(arena, did, made), made.nonce, kek);
    return made;
}

/// The data key from the first wrap that this key-encryption key opens. Fails with WrongKey.
pub fn unwrap(arena: Allocator, header: Header, key: HostKey) Error!aead.Key {
    for (header.wraps) |candidate| {
        if (candidate.kind != key.kind) continue;
        if (key.id.len > 0 and !std.mem.eql(u8, candidate.id, key.id)) continue;
        return unwrapOne(arena, header.did, candidate, key) catch |err| if (err == error.WrongKey) continue else err;
    }
    return error.WrongKey;
}

/// The data key from one wrap. Fails with WrongKey.
pub fn unwrapOne(arena: Allocator, did: []const u8, of: Wrap, key: HostKey) Error!aead.Key {
    var kek = try derive(key, of);
    defer memory.wipe(&kek);
    var data_key: aead.Key = undefined;
    try aead.openInto(&data_key, &of.sealed, try binding(arena, did, of), of.nonce, kek, error.WrongKey);
    return data_key;
}

fn derive(key: HostKey, parameters: Wrap) Error!aead.Key {
    return switch (key.kind) {
        .password => aead.argon2id(key.secret, &parameters.salt, parameters.argon2),
        .prf => aead.hkdf(key.secret, &parameters.salt, "holdfast/vault-wrap/v1/prf"),
        .secret => aead.hkdf(key.secret, &parameters.salt, "holdfast/vault-wrap/v1/secret"),
    };
}

fn binding(arena: Allocator, did: []const u8, of: Wrap) Error![]u8 {
    var writer: std.Io.Writer.Allocating = .init(arena);
    writer.writer.writeAll("holdfast/vault-wrap/v1\x00") catch return error.OutOfMemory;
    writer.writer.writeAll(did) catch return error.OutOfMemory;
    writeWrapClear(&writer.writer, of) catch return error.OutOfMemory;
    return writer.written();
}

fn writeHeader(
    out: *std.Io.Writer,
    did: []const u8,
    revision: u64,
    now_ms: i64,
    wraps: []const Wrap,
    nonce: aead.Nonce,
    len: u64,
) !void {
    try out.writeAll(magic);
    try out.writeInt(u8, format_version, .big);
    try out.writeInt(u8, @intCast(wraps.len), .big);
    try out.writeInt(u16, @intCast(did.len), .big);
    try out.writeInt(u64, revision, .big);
    try out.writeInt(u64, @intCast(@max(now_ms, 0)), .big);
    try out.writeAll(&nonce);
    try out.writeInt(u64, len, .big);
    try out.writeAll(did);
    for (wraps) |each| {
        try writeWrapClear(out, each);
        try out.writeAll(&each.sealed);
    }
}

fn writeWrapClear(out: *std.Io.Writer, each: Wrap) !void {
    try out.writeInt(u8, @backingInt(each.kind), .big);
    try out.writeInt(u8, @intCast(each.id.len), .big);
    try out.writeAll(each.id);
    try out.writeAll(&each.salt);
    try out.writeInt(u32, each.argon2.memory_kib, .big);
    try out.writeInt(u32, each.argon2.passes, .big);
    try out.writeInt(u32, each.argon2.lanes, .big);
    try out.writeAll(&each.nonce);
}

fn parseWrap(reader: *Reader) Error!Wrap {
    const kind = std.enums.fromInt(Kind, try reader.int(u8)) orelse return error.InvalidDatabase;
    const id_len = try reader.int(u8);
    if (id_len > max_wrap_id) return error.InvalidDatabase;
    const id = try reader.text(id_len);
    const salt = (try reader.take(16))[0..16].*;
    const argon2: aead.Argon2 = .{
        .memory_kib = try reader.int(u32),
        .passes = try reader.int(u32),
        .lanes = try reader.int(u32),
    };
    if (!argon2.withinBounds()) return error.InvalidDatabase;
    const nonce = (try reader.take(12))[0..12].*;
    return .{
        .kind = kind,
        .id = id,
        .salt = salt,
        .argon2 = argon2,
        .nonce = nonce,
        .sealed = (try reader.take(48))[0..48].*,
    };
}

const Reader = struct {
    bytes: []const u8,
    position: usize = 0,

    fn take(reader: *Reader, len: usize) Error![]const u8 {
        if (reader.bytes.len - reader.position < len) return error.InvalidDatabase;
        defer reader.position += len;
        return reader.bytes[reader.position..][0..len];
    }

    fn text(reader: *Reader, len: usize) Error![]const u8 {
        const taken = try reader.take(len);
        return if (std.unicode.utf8ValidateSlice(taken)) taken else error.InvalidDatabase;
    }

    fn int(reader: *Reader, comptime T: type) Error!T {
        return std.mem.readInt(T, (try reader.take(@sizeOf(T)))[0..@sizeOf(T)], .big);
    }
};

comptime {
    std.debug.assert(fixed_header == 4 + 1 + 1 + 2 + 8 + 8 + 12 + 8);
}
