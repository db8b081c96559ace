//! Runs the unit tests of pairing natively.

test {
    _ = @import("protocol.zig");
    _ = @import("sessions.zig");
}
