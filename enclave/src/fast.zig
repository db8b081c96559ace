//! Compiled on its own for speed rather than size, and empty: what it brings are the compiler's helper functions.
//! The 64-bit multiplication with a 128-bit product is one of them; WebAssembly has no instruction for it, and all
//! curve arithmetic rests on it. In the small form that the rest of the module would bring, signing takes a fifth longer.

const std = @import("std");

pub const panic = std.debug.no_panic;
