//! Runs the reference implementation of Argon2id (RFC 9106; argon2id.c) in memory that is allocated once per instance.

const Error = @import("../platform/errors.zig").Error;

/// The inputs of RFC 9106. An empty secret means that there is no secret; the same applies to the associated data.
pub const Input = struct {
    password: []const u8,
    salt: []const u8,
    secret: []const u8 = "",
    associated: []const u8 = "",
};

/// Memory in KiB, passes, lanes.
pub const Parameters = struct {
    memory_kib: u32 = 64 * 1024,
    passes: u32 = 3,
    lanes: u32 = 4,

    /// Whether an import accepts the parameters, which must resist guessing without exhausting the
    /// host.
    pub fn withinBounds(parameters: Parameters) bool {
        return parameters.memory_kib >= 8 * 1024 and parameters.memory_kib <= 64 * 1024 and
            parameters.passes >= 1 and parameters.passes <= 10 and
            parameters.lanes >= 1 and parameters.lanes <= 8;
    }
};

/// Fills `out` if the parameters are within the module's bounds. Fails with ParametersOutOfBounds.
pub fn fill(out: []u8, input: Input, parameters: Parameters) Error!void {
    if (!parameters.withinBounds()) return error.ParametersOutOfBounds;
    return fillWith(try scratch(), out, input, parameters);
}

/// Like `fill`, but accepts all parameters of RFC 9106 that fit in `blocks`. The implementation wipes `blocks`.
pub fn fillWith(blocks: []u8, out: []u8, input: Input, parameters: Parameters) Error!void {
    const done = reference_argon2id(
        &.of(out),
        &.of(input.password),
        &.of(input.salt),
        &.of(input.secret),
        &.of(input.associated),
        &.of(blocks),
        parameters.memory_kib,
        parameters.passes,
        parameters.lanes,
    );
    if (!done) return error.ParametersOutOfBounds;
}

/// Must have the same fields as the struct in argon2id.c.
const Part = extern struct {
    bytes: [*]const u8,
    length: u32,

    fn of(bytes: []const u8) Part {
        return .{ .bytes = bytes.ptr, .length = @intCast(bytes.len) };
    }
};

extern fn reference_argon2id(
    out: *const Part,
    password: *const Part,
    salt: *const Part,
    secret: *const Part,
    associated: *const Part,
    blocks: *const Part,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
) bool;

/// The largest amount of memory accepted, requested from the engine because an allocator would round it up to 128 MiB.
const scratch_pages = 64 * 1024 * 1024 / page;
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
