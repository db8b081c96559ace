//! Runs the unit tests of every codec natively: `python -m ziglang test enclave/src/unit_test.zig`.

test {
    _ = @import("ipld.zig");
    _ = @import("cbor.zig");
    _ = @import("varint.zig");
    _ = @import("base58.zig");
    _ = @import("base32.zig");
    _ = @import("cid.zig");
    _ = @import("varsig.zig");
    _ = @import("did_key.zig");
    _ = @import("cose.zig");
    _ = @import("dag_json.zig");
    _ = @import("selector.zig");
    _ = @import("policy.zig");
    _ = @import("policy_test.zig");
    _ = @import("iso8601.zig");
    _ = @import("base36.zig");
    _ = @import("ipns.zig");
}
