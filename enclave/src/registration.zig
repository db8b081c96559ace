//! `create_registration`: what the registry is told, wrapped in the account's call.

const std = @import("std");
const addresses = @import("addresses.zig");
const args = @import("args.zig");
const encoding = @import("encoding.zig");
const eth = @import("eth.zig");
const hashes = @import("hashes.zig");
const json = @import("json.zig");
const user_op = @import("user_op.zig");
const Ctx = @import("context.zig").Ctx;
const Error = @import("errors.zig").Error;
const Json = json.Json;

const zero_word: eth.Word = @splat(0);

const Registration = struct { did_hash: eth.Word, alias_hash: eth.Word, cid: []const u8, sender: eth.Address, secret: ?eth.Word };

/// CreateRegistrationInput and {registry_addr, entry_point?, nonce?, secret?, step?: "commit" | "register",
/// registered?} -> RegistrationResult. The registry takes a registration only after a commitment to it of an earlier
/// block: `step` "commit" makes that operation's call. With `registered` true there is nothing to do: user_op null.
pub fn create(ctx: *Ctx, input: Json) Error!Json {
    const registration = try read(ctx, input);
    const registry = try addresses.optionalAddress(ctx, input, "registry_addr") orelse
        return ctx.fail(error.MissingField, "registry_addr");
    const entry_point = try args.optionalString(ctx, input, "entry_point", 42) orelse user_op.v07;
    _ = eth.parseAddress(entry_point) catch |err| return ctx.fail(err, "entry_point");
    const inner = if (try committing(ctx, input)) try commitCall(ctx, registration) else try registerCall(ctx, registration);
    const call_data = try encoding.hex(ctx.arena, try executeCall(ctx, registry, inner));
    const done = try args.boolean(ctx, input, "registered", false);
    return json.object(ctx.arena, .{
        .user_op = if (done) Json.null else try operation(ctx, input, registration.sender, call_data),
        .did_hash = try encoding.hex(ctx.arena, &registration.did_hash),
        .alias_hash = try encoding.hex(ctx.arena, &registration.alias_hash),
        .metadata_cid = registration.cid,
        .call_data = call_data,
        .entry_point = entry_point,
        .registry_addr = try eth.checksummed(ctx.arena, registry),
    });
}

fn read(ctx: *Ctx, input: Json) Error!Registration {
    const did = try args.optionalString(ctx, input, "did", 512) orelse
        if (ctx.state.did.len > 0) ctx.state.did else return error.VaultUninitialized;
    const alias = try args.string(ctx, input, "alias", 320);
    return .{
        .did_hash = hashes.keccak(did),
        .alias_hash = if (alias.len == 0) zero_word else hashes.keccak(try lowered(ctx, alias)),
        .cid = try args.optionalString(ctx, input, "cid", 256) orelse "",
        .sender = try addresses.optionalAddress(ctx, input, "sender") orelse return ctx.fail(error.MissingField, "sender"),
        .secret = try args.optionalFixed(32, ctx, input, "secret"),
    };
}

/// ASCII only: an identifier is canonical before it comes here, and Unicode case is the host's knowledge.
fn lowered(ctx: *Ctx, alias: []const u8) Error![]const u8 {
    return std.ascii.allocLowerString(ctx.arena, alias);
}

fn committing(ctx: *Ctx, input: Json) Error!bool {
    const step = try args.optionalString(ctx, input, "step", 16) orelse return false;
    if (std.mem.eql(u8, step, "commit")) return true;
    return if (std.mem.eql(u8, step, "register")) false else ctx.fail(error.InvalidField, "step");
}

fn commitCall(ctx: *Ctx, r: Registration) Error![]const u8 {
    const commitment = eth.hashWords(&.{ r.did_hash, r.alias_hash, eth.padded(r.sender), r.secret orelse zero_word });
    return std.mem.concat(ctx.arena, u8, &.{ &eth.selector("commit(bytes32)"), &commitment });
}

fn registerCall(ctx: *Ctx, r: Registration) Error![]const u8 {
    var out: std.ArrayList(u8) = .empty;
    if (r.secret) |secret| {
        try out.appendSlice(ctx.arena, &eth.selector("registerWithSecret(bytes32,bytes32,string,bytes32)"));
        try appendWords(ctx, &out, &.{ r.did_hash, r.alias_hash, eth.word(4 * 32), secret });
    } else {
        try out.appendSlice(ctx.arena, &eth.selector("register(bytes32,bytes32,string)"));
        try appendWords(ctx, &out, &.{ r.did_hash, r.alias_hash, eth.word(3 * 32) });
    }
    try eth.appendDynamic(ctx.arena, &out, r.cid);
    return out.items;
}

fn executeCall(ctx: *Ctx, target: eth.Address, data: []const u8) Error![]const u8 {
    var out: std.ArrayList(u8) = .empty;
    try out.appendSlice(ctx.arena, &eth.selector("execute(address,uint256,bytes)"));
    try appendWords(ctx, &out, &.{ eth.padded(target), zero_word, eth.word(3 * 32) });
    try eth.appendDynamic(ctx.arena, &out, data);
    return out.items;
}

fn appendWords(ctx: *Ctx, out: *std.ArrayList(u8), words: []const eth.Word) Error!void {
    try out.appendSlice(ctx.arena, std.mem.sliceAsBytes(words));
}

/// The operation before gas is estimated and before it is signed.
fn operation(ctx: *Ctx, input: Json, sender: eth.Address, call_data: []const u8) Error!Json {
    const nonce = try args.optionalString(ctx, input, "nonce", 66) orelse "0x0";
    _ = eth.parseQuantity(nonce) catch |err| return ctx.fail(err, "nonce");
    return json.object(ctx.arena, .{
        .sender = try eth.checksummed(ctx.arena, sender),
        .nonce = nonce,
        .factory = Json.null,
        .factoryData = Json.null,
        .callData = call_data,
        .callGasLimit = "0x0",
        .verificationGasLimit = "0x0",
        .preVerificationGas = "0x0",
        .maxFeePerGas = "0x0",
        .maxPriorityFeePerGas = "0x0",
        .paymaster = Json.null,
        .paymasterVerificationGasLimit = Json.null,
        .paymasterPostOpGasLimit = Json.null,
        .paymasterData = Json.null,
        .signature = "0x",
    });
}
