//! The root of the build. All of the enclave's code is the module "enclave", compiled with all safety checks. The
//! standard library follows the root's mode, which is the small one: that keeps the module within its size.

const enclave = @import("enclave");

pub const std_options = enclave.std_options;
pub const panic = enclave.panic;

comptime {
    _ = enclave; // its exports are the module's
}
