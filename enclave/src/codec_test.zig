//! Runs the unit tests of every codec natively: `python -m ziglang test enclave/src/codec_test.zig`.

test {
    _ = @import("codec/ipld.zig");
    _ = @import("codec/cbor.zig");
    _ = @import("codec/varint.zig");
    _ = @import("codec/base58.zig");
    _ = @import("codec/base32.zig");
    _ = @import("codec/cid.zig");
    _ = @import("codec/varsig.zig");
    _ = @import("codec/did_key.zig");
    _ = @import("codec/cose.zig");
    _ = @import("codec/dag_json.zig");
    _ = @import("codec/selector.zig");
    _ = @import("codec/policy.zig");
    _ = @import("codec/policy_test.zig");
}
