//! The module's root, with the functions that the host calls. enclave/ABI.md describes them for authors of hosts.

const std = @import("std");
const dispatch = @import("entry/dispatch.zig");
const functions = @import("entry/functions.zig");
const memory = @import("platform/memory.zig");
const sqlite_os = @import("storage/sqlite_os.zig");

pub const std_options: std.Options = .{
    // Also protects the table look-ups of the AES key schedule against side channels. Measurements show no cost.
    .side_channels_mitigations = .full,
};

/// Traps when an invariant is violated. The default panic handler would import a dozen WASI functions.
pub const panic = std.debug.no_panic;

comptime {
    // SQLite calls these by name.
    _ = sqlite_os;
}

/// Version of the calling convention.
export fn enclave_abi() u32 {
    return functions.abi;
}

/// The address of a buffer of `len` bytes for the host to write into, or 0 if memory has run out.
export fn enclave_alloc(len: u32) u32 {
    const buffer = memory.allocator.alloc(u8, @max(len, 1)) catch return 0;
    return @intCast(@intFromPtr(buffer.ptr));
}

/// Wipes and releases a buffer that `enclave_alloc` returned for the same `len`.
export fn enclave_free(address: u32, len: u32) void {
    if (address == 0) return;
    const start: [*]u8 = @ptrFromInt(address);
    memory.allocator.free(start[0..@max(len, 1)]);
}

/// Runs the named function. Returns address << 32 | length of the response, which the module owns until the next call.
/// The input is wiped before the function returns.
export fn enclave_call(name_address: u32, name_len: u32, input_address: u32, input_len: u32) u64 {
    const answer = dispatch.call(view(name_address, name_len), view(input_address, input_len));
    memory.wipeStack();
    return @as(u64, @intFromPtr(answer.ptr)) << 32 | answer.len;
}

fn view(address: u32, len: u32) []u8 {
    if (len == 0) return &.{};
    const start: [*]u8 = @ptrFromInt(address);
    return start[0..len];
}
