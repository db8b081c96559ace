//! All of the module's unit tests, natively: `python -m ziglang test enclave/src/unit_test.zig`.

test {
    _ = @import("codec_test.zig");
    _ = @import("ucan_test.zig");
    _ = @import("sync_test.zig");
}
