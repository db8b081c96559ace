//! Runs all of the module's unit tests natively: `python -m ziglang test enclave/src/unit_test.zig`.

test {
    _ = @import("codec/codec_test.zig");
    _ = @import("ucan/ucan_test.zig");
    _ = @import("pairing/pairing_test.zig");
}
