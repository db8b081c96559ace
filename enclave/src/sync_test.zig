//! Runs the unit tests of synchronisation natively.

test {
    _ = @import("sync/protocol.zig");
    _ = @import("sync/sessions.zig");
    _ = @import("iso8601.zig");
}
