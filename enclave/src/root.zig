//! The root of the build. Everything of ours is the module "enclave", compiled with all safety checks; the root's mode,
//! which the standard library follows, is the small one: that keeps the module within its size.

const enclave = @import("enclave");

pub const std_options = enclave.std_options;
pub const panic = enclave.panic;

comptime {
    _ = enclave; // its exports are the module's
}
