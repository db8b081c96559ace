//! Allocates a call's memory: small pieces in an arena, large pieces as separate blocks. Wipes all of it at the end.
//!
//! An arena makes each new block half as large again as its last block plus the request, and releases nothing until the
//! end. With an arena alone, sealing a vault of 16 MiB would need 300 MiB.

const std = @import("std");
const memory = @import("memory.zig");
const Allocator = std.mem.Allocator;
const Alignment = std.mem.Alignment;

/// The length in bytes at which a piece becomes a separate block. Resizing never crosses this length, so a piece's
/// length always determines its kind.
const large = 32 * 1024;

/// The header of each large piece.
const Block = struct { next: ?*Block, previous: ?*Block, len: usize };

const header = 32;
const alignment: Alignment = .@"16";

comptime {
    std.debug.assert(@sizeOf(Block) <= header);
}

pub const Scratch = struct {
    arena: std.heap.ArenaAllocator = .init(memory.allocator),
    blocks: ?*Block = null,

    /// The allocator is valid until the Scratch is moved.
    pub fn allocator(self: *Scratch) Allocator {
        return .{ .ptr = self, .vtable = &.{ .alloc = take, .resize = resize, .remap = remap, .free = release } };
    }

    pub fn deinit(self: *Scratch) void {
        while (self.blocks) |block| self.drop(block);
        self.arena.deinit();
    }

    fn drop(self: *Scratch, block: *Block) void {
        if (block.previous) |previous| previous.next = block.next else self.blocks = block.next;
        if (block.next) |next| next.previous = block.previous;
        const start: [*]align(header / 2) u8 = @ptrCast(@alignCast(block));
        memory.allocator.free(start[0 .. header + block.len]);
    }
};

fn take(context: *anyopaque, len: usize, wanted: Alignment, address: usize) ?[*]u8 {
    const self: *Scratch = @ptrCast(@alignCast(context));
    if (len < large) return self.arena.allocator().rawAlloc(len, wanted, address);
    if (wanted.order(alignment) == .gt) return null; // nothing here requests more
    const whole = memory.allocator.alignedAlloc(u8, alignment, std.math.add(usize, len, header) catch return null) catch
        return null;
    const block: *Block = @ptrCast(@alignCast(whole.ptr));
    block.* = .{ .next = self.blocks, .previous = null, .len = len };
    if (self.blocks) |first| first.previous = block;
    self.blocks = block;
    return whole.ptr + header;
}

fn resize(context: *anyopaque, piece: []u8, wanted: Alignment, len: usize, address: usize) bool {
    const self: *Scratch = @ptrCast(@alignCast(context));
    if (piece.len >= large or len >= large) return false;
    return self.arena.allocator().rawResize(piece, wanted, len, address);
}

fn remap(context: *anyopaque, piece: []u8, wanted: Alignment, len: usize, address: usize) ?[*]u8 {
    return if (resize(context, piece, wanted, len, address)) piece.ptr else null;
}

fn release(context: *anyopaque, piece: []u8, wanted: Alignment, address: usize) void {
    const self: *Scratch = @ptrCast(@alignCast(context));
    if (piece.len < large) return self.arena.allocator().rawFree(piece, wanted, address);
    self.drop(@ptrCast(@alignCast(piece.ptr - header)));
}
