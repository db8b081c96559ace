//! `create_registration`: encodes the registry's call, wrapped in the account's call and in a user operation.

const std = @import("std");
const addresses = @import("../chains/addresses.zig");
const args = @import("../call/args.zig");
const contract_set = @import("../chains/contract_set.zig");
const curves = @import("../crypto/curves.zig");
const encoding = @import("../codec/encoding.zig");
const eth = @import("../chains/eth.zig");
const hashes = @import("../crypto/hashes.zig");
const json = @import("../codec/json.zig");
const memory = @import("../platform/memory.zig");
const keyring = @import("../vault/keyring.zig");
const seeds = @import("../vault/seeds.zig");
const session = @import("../vault/session.zig");
const user_op = @import("../chains/user_op.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

const zero_word: eth.Word = @splat(0);
const own_method = "did:new:";

const Registration = struct {
    did: []const u8,
    did_hash: eth.Word,
    alias_hash: eth.Word,
    cid: []const u8,
    sender: eth.Address,
    /// Whether the DID is the vault's, which is the hash of its key. A DID with another method needs a commitment
    /// instead.
    own: bool,
    secret: eth.Word,

    fn committed(r: Registration) bool {
        return !r.own or !std.mem.eql(u8, &r.alias_hash, &zero_word);
    }
};

/// The key and salt of the account that the factory deploys.
const Account = struct { key: curves.PublicKey, salt: eth.Word };

/// CreateRegistrationInput and {registry_addr?, entry_point?, factory?, implementation?, salt?, nonce?, deployed?,
/// secret?, step?: "commit" | "register", registered?} -> RegistrationResult. An alias, or a DID with another method,
/// can be registered only after a commitment in an earlier block, which the operation for `step` "commit" posts.
/// `user_op` is null if nothing needs to be done: with `registered` true, and for a commitment that is not needed.
pub fn create(ctx: *Ctx, input: Json) Error!Json {
    const registration = try read(ctx, input);
    const registry = try addresses.optionalAddress(ctx, input, "registry_addr") orelse contract_set.did_registry;
    const entry_point = try addresses.optionalAddress(ctx, input, "entry_point") orelse contract_set.entry_point_v07;
    const commits = try committing(ctx, input);
    const inner = if (commits) try commitCall(ctx, registration) else try registerCall(ctx, input, registration);
    const call_data = try encoding.hex(ctx.arena, try executeCall(ctx, registry, inner));
    const done = try args.boolean(ctx, input, "registered", false) or (commits and !registration.committed());
    return json.object(ctx.arena, .{
        .user_op = if (done) Json.null else try operation(ctx, input, registration.sender, call_data),
        .did_hash = try encoding.hex(ctx.arena, &registration.did_hash),
        .alias_hash = try encoding.hex(ctx.arena, &registration.alias_hash),
        .metadata_cid = registration.cid,
        .call_data = call_data,
        .entry_point = try eth.checksummed(ctx.arena, entry_point),
        .registry_addr = try eth.checksummed(ctx.arena, registry),
    });
}

fn read(ctx: *Ctx, input: Json) Error!Registration {
    const did = try args.optionalString(ctx, input, "did", 512) orelse
        if (ctx.state.did.len > 0) ctx.state.did else return error.VaultUninitialized;
    const own = std.mem.eql(u8, did, ctx.state.did);
    // The registry accepts a did:new only from the account of the DID's key.
    if (!own and std.mem.startsWith(u8, did, own_method)) return ctx.fail(error.InvalidField, "did");
    if (!std.mem.startsWith(u8, did, "did:")) return ctx.fail(error.InvalidField, "did");
    const alias = try args.string(ctx, input, "alias", 320);
    var made: Registration = .{
        .did = did,
        .did_hash = hashes.keccak(did),
        .alias_hash = if (alias.len == 0) zero_word else hashes.keccak(try lowered(ctx, alias)),
        .cid = try args.optionalString(ctx, input, "cid", 256) orelse "",
        .sender = try addresses.optionalAddress(ctx, input, "sender") orelse
            return ctx.fail(error.MissingField, "sender"),
        .own = own,
        .secret = zero_word,
    };
    made.secret = try args.optionalFixed(32, ctx, input, "secret") orelse
        if (made.committed()) try secretOf(ctx, made) else zero_word;
    return made;
}

/// Converts the alias's ASCII letters to lower case. The host must pass the canonical form, which is all lower case.
fn lowered(ctx: *Ctx, alias: []const u8) Error![]const u8 {
    return std.ascii.allocLowerString(ctx.arena, alias);
}

/// The commitment's secret, the same for both steps. Only the vault knows the secret until the second step.
fn secretOf(ctx: *Ctx, r: Registration) Error!eth.Word {
    const open = try session.require(ctx);
    var seed = try seeds.open(ctx, open.database);
    defer memory.wipe(&seed);
    const Hmac = std.crypto.auth.hmac.sha2.HmacSha256;
    var mac = Hmac.init(&seed);
    defer memory.wipe(std.mem.asBytes(&mac));
    for ([_][]const u8{ "holdfast/registration/v1\x00", &r.did_hash, &r.alias_hash, &r.sender }) |part|
        mac.update(part);
    var secret: eth.Word = undefined;
    mac.final(&secret);
    return secret;
}

fn committing(ctx: *Ctx, input: Json) Error!bool {
    const step = try args.optionalString(ctx, input, "step", 16) orelse return false;
    if (std.mem.eql(u8, step, "commit")) return true;
    return if (std.mem.eql(u8, step, "register")) false else ctx.fail(error.InvalidField, "step");
}

fn commitCall(ctx: *Ctx, r: Registration) Error![]const u8 {
    const commitment = eth.hashWords(&.{ r.did_hash, r.alias_hash, eth.padded(r.sender), r.secret });
    return std.mem.concat(ctx.arena, u8, &.{ &eth.selector("commit(bytes32)"), &commitment });
}

fn registerCall(ctx: *Ctx, input: Json, r: Registration) Error![]const u8 {
    var out: std.ArrayList(u8) = .empty;
    if (r.own) {
        const account = try accountOf(ctx, input, r.sender);
        try out.appendSlice(ctx.arena, &eth.selector("register(uint256,uint256,uint256,bytes32,bytes32,string)"));
        try appendWords(
            ctx,
            &out,
            &.{ account.key.x, account.key.y, account.salt, r.alias_hash, r.secret, eth.word(6 * 32) },
        );
    } else {
        const after = 5 * 32 + (r.did.len + 31) / 32 * 32;
        try out.appendSlice(ctx.arena, &eth.selector("registerForeign(string,bytes32,bytes32,string)"));
        try appendWords(ctx, &out, &.{ eth.word(4 * 32), r.alias_hash, r.secret, eth.word(after) });
        try eth.appendDynamic(ctx.arena, &out, r.did);
    }
    try eth.appendDynamic(ctx.arena, &out, r.cid);
    return out.items;
}

/// The vault's account. `sender` must be its address, because only that account can prove the key.
fn accountOf(ctx: *Ctx, input: Json, sender: eth.Address) Error!Account {
    const open = try session.require(ctx);
    const key = (try keyring.load(ctx, open.database, null)).public;
    const account = try addresses.smartAccount(ctx, input, key);
    if (!std.mem.eql(u8, &account, &sender)) return ctx.fail(error.InvalidField, "sender");
    return .{ .key = key, .salt = try addresses.saltOf(ctx, input) };
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

/// The operation without gas limits or a signature. The operation deploys the account unless `deployed` is true. If
/// `deployed` is absent, a nonce above zero means that the account exists.
fn operation(ctx: *Ctx, input: Json, sender: eth.Address, call_data: []const u8) Error!Json {
    const nonce = try args.optionalString(ctx, input, "nonce", 66) orelse "0x0";
    const number = eth.parseQuantity(nonce) catch |err| return ctx.fail(err, "nonce");
    const deployed = try args.boolean(ctx, input, "deployed", !std.mem.eql(u8, &number, &zero_word));
    const factory = if (deployed) null else try addresses.optionalAddress(ctx, input, "factory") orelse
        contract_set.app_factory;
    return json.object(ctx.arena, .{
        .sender = try eth.checksummed(ctx.arena, sender),
        .nonce = nonce,
        .factory = if (factory) |made| Json{ .string = try eth.checksummed(ctx.arena, made) } else Json.null,
        .factoryData = if (deployed) Json.null else try factoryData(ctx, input, sender),
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

fn factoryData(ctx: *Ctx, input: Json, sender: eth.Address) Error!Json {
    const account = try accountOf(ctx, input, sender);
    var out: std.ArrayList(u8) = .empty;
    try out.appendSlice(ctx.arena, &eth.selector("createAccount(uint256,uint256,uint256)"));
    try appendWords(ctx, &out, &.{ account.key.x, account.key.y, account.salt });
    return .{ .string = try encoding.hex(ctx.arena, out.items) };
}
