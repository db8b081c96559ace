//! The module's two imports: randomness and the time.

const Error = @import("errors.zig").Error;

extern "env" fn host_random(address: [*]u8, len: u32) i32;
extern "env" fn host_now_ms() f64;

/// Fills `buffer` from the host's cryptographic generator, or fails with EntropyUnavailable, so that zeros are never
/// used as randomness.
pub fn random(buffer: []u8) Error!void {
    if (buffer.len == 0) return;
    if (host_random(buffer.ptr, @intCast(buffer.len)) != 0) return error.EntropyUnavailable;
}

/// `N` fresh random bytes.
pub fn randomBytes(comptime N: usize) Error![N]u8 {
    var bytes: [N]u8 = undefined;
    try random(&bytes);
    return bytes;
}

/// Milliseconds since 1970 in UTC for timestamps, or 0 if the clock returns an impossible time.
pub fn nowMs() i64 {
    const now = host_now_ms();
    if (!(now >= 0 and now < 253_402_300_800_000)) return 0; // year 10000, where ISO 8601 ends
    return @intFromFloat(now);
}

/// Like `nowMs`, but for checking expiry, which is impossible without a valid time. Fails with
/// ClockUnavailable.
pub fn timeMs() Error!i64 {
    const now = nowMs();
    return if (now == 0) error.ClockUnavailable else now;
}
