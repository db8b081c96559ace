//! The build's root. All of the enclave's code is in the Zig module "enclave", compiled with all safety checks. The
//! standard library is compiled in the root's mode, which optimises for size, to keep the module small enough.

const enclave = @import("enclave");

pub const std_options = enclave.std_options;
pub const panic = enclave.panic;

comptime {
    _ = enclave; // its exports are the module's
}
