//! Memory that forgets: one allocator that wipes what it releases, and the wiping of the stack after a call.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Alignment = std.mem.Alignment;

/// Everything in the module allocates here, SQLite included: whatever is released or moved is overwritten first.
pub const allocator: Allocator = .{ .ptr = undefined, .vtable = &.{
    .alloc = take,
    .resize = resizeInPlace,
    .remap = neverMove,
    .free = wipeAndRelease,
} };

const parent = std.heap.c_allocator;

/// Deeper than any call reaches (tests/enclave/test_memory.py scans the whole memory).
const stack_depth = 128 * 1024;

/// Overwrites `bytes` so that no optimiser takes it for useless. The standard library's way writes byte by byte, which
/// takes a third of an export's time on Argon2's 64 MiB; this is one fill, and then a statement that "reads" it.
pub noinline fn wipe(bytes: []u8) void {
    @memset(bytes, 0);
    std.mem.doNotOptimizeAway(bytes.ptr);
}

/// Overwrites the stack below the caller: spilled shares and scalars stay there otherwise.
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

/// A move by the parent would leave the old bytes behind; the caller copies and frees instead.
fn neverMove(_: *anyopaque, _: []u8, _: Alignment, _: usize, _: usize) ?[*]u8 {
    return null;
}

fn wipeAndRelease(_: *anyopaque, block: []u8, alignment: Alignment, address: usize) void {
    wipe(block);
    parent.rawFree(block, alignment, address);
}
