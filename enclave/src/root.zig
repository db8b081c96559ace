//! The root of the build. All of the enclave's code is the module "enclave", compiled with all safety checks. The
//! standard library is compiled in the root's mode, which optimises for size, to keep the module within its size limit.

const enclave = @import("enclave");

pub const std_options = enclave.std_options;
pub const panic = enclave.panic;

comptime {
    _ = enclave; // its exports are the module's
}
