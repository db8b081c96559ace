//! `derive_address`: the address that one of the vault's keys, or a given public key, has on a chain.

const addresses = @import("../chains/addresses.zig");
const args = @import("../call/args.zig");
const curves = @import("../crypto/curves.zig");
const json = @import("../codec/json.zig");
const keyring = @import("keyring.zig");
const session = @import("session.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

/// {chain: "ethereum" | "bitcoin" | "cosmos", public_key? | enclave_id?, form?, prefix?, factory?, implementation?,
/// salt?} -> DeriveAddressResult.
pub fn derive(ctx: *Ctx, input: Json) Error!Json {
    const chain = try addresses.chainOf(ctx, input);
    const public = try publicKey(ctx, input);
    return json.object(ctx.arena, .{ .address = try addresses.onChain(ctx, input, chain, public), .chain = chain });
}

fn publicKey(ctx: *Ctx, input: Json) Error!curves.PublicKey {
    const given = try args.optionalFixed(65, ctx, input, "public_key") orelse {
        const open = try session.require(ctx);
        return (try keyring.load(ctx, open.database, try args.optionalString(ctx, input, "enclave_id", 128))).public;
    };
    const curve = try curves.Curve.parse(try args.optionalString(ctx, input, "curve", 16) orelse "P-256");
    return curves.PublicKey.fromUncompressed(curve, &given);
}
