//! Runs the unit tests of synchronisation natively.

test {
    _ = @import("protocol.zig");
    _ = @import("sessions.zig");
    _ = @import("../codec/iso8601.zig");
}
