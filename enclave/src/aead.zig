//! AES-256-GCM, HKDF-SHA256 and Argon2id as the vault's formats use them.

const std = @import("std");
const builtin = @import("builtin");
const gcm = @import("gcm.zig");
const host = @import("host.zig");
const memory = @import("memory.zig");
const Error = @import("errors.zig").Error;

pub const Key = gcm.Key;
pub const Nonce = gcm.Nonce;
pub const tag_length = gcm.tag_length;

/// Ciphertext and tag of `plain`, allocated in `allocator`.
pub fn seal(allocator: std.mem.Allocator, plain: []const u8, associated: []const u8, nonce: Nonce, key: Key) Error![]u8 {
    const out = try allocator.alloc(u8, plain.len + tag_length);
    sealInto(out, plain, associated, nonce, key);
    return out;
}

/// As `seal`, into a buffer of the right length.
pub fn sealInto(out: []u8, plain: []const u8, associated: []const u8, nonce: Nonce, key: Key) void {
    gcm.seal(out, plain, associated, nonce, key);
}

/// The plain bytes, or `failure` when key, nonce, associated data or a single bit of `sealed` is not the right one.
pub fn open(allocator: std.mem.Allocator, sealed: []const u8, associated: []const u8, nonce: Nonce, key: Key, failure: Error) Error![]u8 {
    if (sealed.len < tag_length) return failure;
    const plain = try allocator.alloc(u8, sealed.len - tag_length);
    errdefer allocator.free(plain);
    try openInto(plain, sealed, associated, nonce, key, failure);
    return plain;
}

/// As `open`, into a buffer of the right length.
pub fn openInto(plain: []u8, sealed: []const u8, associated: []const u8, nonce: Nonce, key: Key, failure: Error) Error!void {
    if (!gcm.open(plain, sealed, associated, nonce, key)) return failure;
}

/// 32 bytes of HKDF-SHA256 (RFC 5869).
pub fn hkdf(secret: []const u8, salt: []const u8, info: []const u8) Key {
    const Hkdf = std.crypto.kdf.hkdf.HkdfSha256;
    var extracted = Hkdf.extract(salt, secret);
    defer std.crypto.secureZero(u8, &extracted);
    var key: Key = undefined;
    Hkdf.expand(&key, info, extracted);
    return key;
}

/// Parameters of Argon2id: memory in KiB, passes, lanes.
pub const Argon2 = struct {
    memory_kib: u32 = 64 * 1024,
    passes: u32 = 3,
    lanes: u32 = 4,

    /// What an import accepts: enough to resist, little enough not to exhaust the host.
    pub fn withinBounds(parameters: Argon2) bool {
        return parameters.memory_kib >= 8 * 1024 and parameters.memory_kib <= 64 * 1024 and
            parameters.passes >= 1 and parameters.passes <= 10 and
            parameters.lanes >= 1 and parameters.lanes <= 8;
    }
};

/// 32 bytes of Argon2id (RFC 9106). Its memory is taken once per instance and wiped after each use.
pub fn argon2id(password: []const u8, salt: []const u8, parameters: Argon2) Error!Key {
    if (!parameters.withinBounds()) return error.ParametersOutOfBounds;
    const blocks = try scratch();
    defer memory.wipe(blocks);
    var key: Key = undefined;
    if (!argon2(&key, blocks, password, salt, parameters)) return error.ParametersOutOfBounds;
    return key;
}

extern fn fast_argon2id(key: *Key, blocks: [*]u8, blocks_len: usize, password: [*]const u8, password_len: usize, salt: [*]const u8, salt_len: usize, passes: u32, memory_kib: u32, lanes: u32) bool;

/// The standard library's Argon2id: in the module from fast.zig, elsewhere (unit tests on this machine) directly.
fn argon2(key: *Key, blocks: []u8, password: []const u8, salt: []const u8, parameters: Argon2) bool {
    if (builtin.cpu.arch.isWasm()) return fast_argon2id(key, blocks.ptr, blocks.len, password.ptr, password.len, salt.ptr, salt.len, parameters.passes, parameters.memory_kib, parameters.lanes);
    var fixed = std.heap.FixedBufferAllocator.init(blocks);
    std.crypto.pwhash.argon2.kdf(fixed.allocator(), key, password, salt, .{
        .t = parameters.passes,
        .m = parameters.memory_kib,
        .p = @intCast(parameters.lanes),
    }, .argon2id, std.Io.failing) catch return false;
    return true;
}

/// The largest accepted memory and a page of slack, straight from the engine: allocators would round it to 128 MiB.
const scratch_pages = 64 * 1024 * 1024 / page + 1;
const page = 64 * 1024;
var scratch_memory: ?[]u8 = null;

fn scratch() Error![]u8 {
    if (scratch_memory) |taken| return taken;
    const before = @wasmMemoryGrow(0, scratch_pages);
    if (before < 0) return error.OutOfMemory;
    const start: [*]u8 = @ptrFromInt(@as(usize, @intCast(before)) * page);
    scratch_memory = start[0 .. scratch_pages * page];
    return scratch_memory.?;
}
