//! Runs the unit tests of synchronisation natively.

test {
    _ = @import("protocol.zig");
    _ = @import("sessions.zig");
}
