//! `keccak256`: Ethereum's hash, for hosts that lack it.

const args = @import("../call/args.zig");
const encoding = @import("../codec/encoding.zig");
const hashes = @import("../crypto/hashes.zig");
const json = @import("../codec/json.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;

const max_input = 8 << 20;

/// {data: binary} or {text: string} -> {hash: 0x-hex}.
pub fn keccak256(ctx: *Ctx, input: json.Json) Error!json.Json {
    const text = try args.optionalString(ctx, input, "text", max_input);
    const data = text orelse try args.bytes(ctx, input, "data", max_input);
    return json.object(ctx.arena, .{ .hash = try encoding.hex(ctx.arena, &hashes.keccak(data)) });
}
