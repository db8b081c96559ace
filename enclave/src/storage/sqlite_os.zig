//! SQLite's operating system layer, with the host's clock and randomness, memory that is wiped, and no files.

const std = @import("std");
const host = @import("../platform/host.zig");
const memory = @import("../platform/memory.zig");

const ok: c_int = 0;
const cant_open: c_int = 14;
const config_malloc: c_int = 4;

const File = extern struct { methods: ?*const anyopaque };

const Vfs = extern struct {
    version: c_int = 2,
    file_size: c_int = @sizeOf(File),
    max_path: c_int = 64,
    next: ?*Vfs = null,
    name: [*:0]const u8 = "memory",
    app_data: ?*anyopaque = null,
    open: *const fn (*Vfs, ?[*:0]const u8, *File, c_int, ?*c_int) callconv(.c) c_int = refuseToOpen,
    delete: *const fn (*Vfs, [*:0]const u8, c_int) callconv(.c) c_int = nothingToDelete,
    access: *const fn (*Vfs, [*:0]const u8, c_int, *c_int) callconv(.c) c_int = nothingThere,
    full_pathname: *const fn (*Vfs, [*:0]const u8, c_int, [*]u8) callconv(.c) c_int = noPath,
    dl_open: ?*const anyopaque = null,
    dl_error: ?*const anyopaque = null,
    dl_sym: ?*const anyopaque = null,
    dl_close: ?*const anyopaque = null,
    randomness: *const fn (*Vfs, c_int, [*]u8) callconv(.c) c_int = randomness,
    sleep: *const fn (*Vfs, c_int) callconv(.c) c_int = noSleep,
    current_time: *const fn (*Vfs, *f64) callconv(.c) c_int = julianDay,
    last_error: *const fn (*Vfs, c_int, ?[*]u8) callconv(.c) c_int = noError,
    current_time_int64: *const fn (*Vfs, *i64) callconv(.c) c_int = julianMs,
};

const Methods = extern struct {
    malloc: *const fn (c_int) callconv(.c) ?[*]u8 = take,
    free: *const fn (?[*]u8) callconv(.c) void = release,
    realloc: *const fn (?[*]u8, c_int) callconv(.c) ?[*]u8 = grow,
    size: *const fn (?[*]u8) callconv(.c) c_int = sizeOf,
    round_up: *const fn (c_int) callconv(.c) c_int = roundUp,
    init: *const fn (?*anyopaque) callconv(.c) c_int = start,
    shutdown: *const fn (?*anyopaque) callconv(.c) void = stop,
    app_data: ?*anyopaque = null,
};

extern fn sqlite3_config(option: c_int, ...) c_int;
extern fn sqlite3_initialize() c_int;
extern fn sqlite3_vfs_register(vfs: *Vfs, make_default: c_int) c_int;

var vfs: Vfs = .{};
const methods: Methods = .{};

/// Sets SQLite's allocator. Must be called before any other SQLite function. A second call has no effect.
pub fn configure() bool {
    const done = struct {
        var value = false;
    };
    if (done.value) return true;
    done.value = sqlite3_config(config_malloc, &methods) == ok and sqlite3_initialize() == ok;
    return done.value;
}

export fn sqlite3_os_init() c_int {
    return sqlite3_vfs_register(&vfs, 1);
}

export fn sqlite3_os_end() c_int {
    return ok;
}

fn refuseToOpen(_: *Vfs, _: ?[*:0]const u8, file: *File, _: c_int, _: ?*c_int) callconv(.c) c_int {
    file.methods = null; // SQLite then does not call xClose
    return cant_open;
}

fn nothingToDelete(_: *Vfs, _: [*:0]const u8, _: c_int) callconv(.c) c_int {
    return ok;
}

fn nothingThere(_: *Vfs, _: [*:0]const u8, _: c_int, exists: *c_int) callconv(.c) c_int {
    exists.* = 0;
    return ok;
}

fn noPath(_: *Vfs, _: [*:0]const u8, _: c_int, _: [*]u8) callconv(.c) c_int {
    return cant_open;
}

fn randomness(_: *Vfs, len: c_int, out: [*]u8) callconv(.c) c_int {
    // SQLite uses randomness only for row numbers, so its absence is tolerated here.
    host.random(out[0..@intCast(len)]) catch return 0;
    return len;
}

fn noSleep(_: *Vfs, _: c_int) callconv(.c) c_int {
    return 0;
}

fn julianDay(_: *Vfs, out: *f64) callconv(.c) c_int {
    var ms: i64 = 0;
    _ = julianMs(undefined, &ms);
    out.* = @as(f64, @floatFromInt(ms)) / 86_400_000.0;
    return ok;
}

fn julianMs(_: *Vfs, out: *i64) callconv(.c) c_int {
    out.* = 210_866_760_000_000 + host.nowMs(); // 1970 in Julian milliseconds
    return ok;
}

fn noError(_: *Vfs, _: c_int, _: ?[*]u8) callconv(.c) c_int {
    return 0;
}

/// Each block begins with its length, so that it can be wiped.
const header = 16;
const alignment: std.mem.Alignment = .@"16";

fn take(len: c_int) callconv(.c) ?[*]u8 {
    const wanted: usize = @intCast(len);
    const block = memory.allocator.alignedAlloc(u8, alignment, wanted + header) catch return null;
    std.mem.writeInt(usize, block[0..@sizeOf(usize)], wanted, .little);
    return block.ptr + header;
}

fn blockOf(pointer: [*]u8) []align(header) u8 {
    const start_of_block: [*]align(header) u8 = @alignCast(pointer - header);
    const len = std.mem.readInt(usize, start_of_block[0..@sizeOf(usize)], .little);
    return start_of_block[0 .. len + header];
}

fn release(pointer: ?[*]u8) callconv(.c) void {
    if (pointer) |given| memory.allocator.free(blockOf(given));
}

fn grow(pointer: ?[*]u8, len: c_int) callconv(.c) ?[*]u8 {
    const given = pointer orelse return take(len);
    const old = blockOf(given)[header..];
    if (len <= old.len and 2 * @as(usize, @intCast(len)) > old.len) return given;
    const moved = take(len) orelse return null;
    const kept = @min(old.len, @as(usize, @intCast(len)));
    @memcpy(moved[0..kept], old[0..kept]);
    release(given);
    return moved;
}

fn sizeOf(pointer: ?[*]u8) callconv(.c) c_int {
    const given = pointer orelse return 0;
    return @intCast(blockOf(given).len - header);
}

fn roundUp(len: c_int) callconv(.c) c_int {
    return (len + 7) & ~@as(c_int, 7);
}

fn start(_: ?*anyopaque) callconv(.c) c_int {
    return ok;
}

fn stop(_: ?*anyopaque) callconv(.c) void {}
