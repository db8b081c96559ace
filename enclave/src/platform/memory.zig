//! The module's only allocator, which wipes memory before releasing it, and functions that wipe bytes and the stack.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Alignment = std.mem.Alignment;

/// All code of the module allocates here, including SQLite. Memory is overwritten before it is released or moved.
pub const allocator: Allocator = .{ .ptr = undefined, .vtable = &.{
    .alloc = take,
    .resize = resizeInPlace,
    .remap = neverMove,
    .free = wipeAndRelease,
} };

const parent = std.heap.c_allocator;

/// A stack depth that no call reaches, in bytes (tests/enclave/test_memory.py scans the whole memory).
const stack_depth = 128 * 1024;

/// Overwrites `bytes` in a way that the optimiser cannot remove: with one fill, followed by a statement that pretends
/// to read it. The standard library writes byte by byte; for Argon2's 64 MiB, that takes a third of an export's time.
pub noinline fn wipe(bytes: []u8) void {
    @memset(bytes, 0);
    std.mem.doNotOptimizeAway(bytes.ptr);
}

/// Overwrites the stack below the caller, where shares and scalars would otherwise remain.
pub noinline fn wipeStack() void {
    var below: [stack_depth]u8 = undefined;
    wipe(&below);
}

fn take(_: *anyopaque, len: usize, alignment: Alignment, address: usize) ?[*]u8 {
    return parent.rawAlloc(len, alignment, address);
}

fn resizeInPlace(_: *anyopaque, block: []u8, alignment: Alignment, len: usize, address: usize) bool {
    if (len < block.len) wipe(block[len..]);
    return parent.rawResize(block, alignment, len, address);
}

/// Refuses to move a block, because the parent allocator would leave the old bytes behind. The caller copies and frees
/// instead.
fn neverMove(_: *anyopaque, _: []u8, _: Alignment, _: usize, _: usize) ?[*]u8 {
    return null;
}

fn wipeAndRelease(_: *anyopaque, block: []u8, alignment: Alignment, address: usize) void {
    wipe(block);
    parent.rawFree(block, alignment, address);
}
