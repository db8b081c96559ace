//! What owners and guardians of an account sign once for every chain: changes, a recovery, its cancellation.

const args = @import("../call/args.zig");
const encoding = @import("../codec/encoding.zig");
const eth = @import("eth.zig");
const hashes = @import("../crypto/hashes.zig");
const std = @import("std");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = @import("../codec/json.zig").Json;
const Word = eth.Word;

const max_changes = 64;
/// As in the contract.
const max_new_owners = 16;
const max_signer = 1024;
const largest = (1 << 53) - 1;

/// The contract's `ChangeKind`, in its order.
const ChangeKind = enum {
    add_owner,
    remove_owner,
    set_primary,
    set_threshold,
    add_guardian,
    remove_guardian,
    set_quorum,
    set_delay,

    fn hasSigner(kind: ChangeKind) bool {
        return switch (kind) {
            .set_threshold, .set_quorum, .set_delay => false,
            else => true,
        };
    }

    fn hasValue(kind: ChangeKind) bool {
        return kind == .add_owner or !kind.hasSigner();
    }
};

const Message = enum { changes, recovery, cancellation };

/// {account, message: "changes", sequence, changes} | {account, message: "recovery", nonce, new_owners} |
/// {account, message: "cancellation", nonce} -> its EIP-712 digest in the account's domain without a chain.
pub fn digest(ctx: *Ctx, input: Json) Error!Word {
    const account = eth.parseAddress(try args.string(ctx, input, "account", 42)) catch |err|
        return ctx.fail(err, "account");
    const domain = eth.hashWords(&.{
        comptime typeHash("EIP712Domain(string name,string version,address verifyingContract)"),
        comptime typeHash("Holdfast VaultAccount"),
        comptime typeHash("1"),
        eth.padded(account),
    });
    const preimage = [2]u8{ 0x19, 0x01 } ++ domain ++ try structHash(ctx, input);
    return hashes.keccak(&preimage);
}

noinline fn structHash(ctx: *Ctx, input: Json) Error!Word {
    const name = try args.string(ctx, input, "message", 16);
    const message = std.meta.stringToEnum(Message, name) orelse return ctx.fail(error.InvalidField, "message");
    const number = eth.word(@intCast(switch (message) {
        .changes => try integer(ctx, input, "sequence", largest),
        else => try integer(ctx, input, "nonce", std.math.maxInt(u32)),
    }));
    const recovery_type = comptime typeHash("Recovery(uint32 nonce,bytes[] newOwners)");
    return switch (message) {
        .changes => changesHash(ctx, input, number),
        .recovery => eth.hashWords(&.{ recovery_type, number, try ownersHash(ctx, input) }),
        .cancellation => eth.hashWords(&.{ comptime typeHash("CancelRecovery(uint32 nonce)"), number }),
    };
}

noinline fn changesHash(ctx: *Ctx, input: Json, sequence: Word) Error!Word {
    const change_type = "Change(uint8 kind,bytes signer,uint256 value)";
    const given = try args.items(ctx, input, "changes", max_changes);
    if (given.len == 0) return ctx.fail(error.MissingField, "changes");
    const words = try ctx.arena.alloc(Word, given.len);
    for (given, words) |change, *slot| {
        if (change != .object) return ctx.fail(error.InvalidField, "changes");
        const name = try args.string(ctx, change, "kind", 16);
        const kind = std.meta.stringToEnum(ChangeKind, name) orelse return ctx.fail(error.InvalidField, "kind");
        slot.* = eth.hashWords(&.{
            comptime typeHash(change_type),
            eth.word(@backingInt(kind)),
            hashes.keccak(try signerOf(ctx, change, kind)),
            eth.word(@intCast(try valueOf(ctx, change, kind))),
        });
    }
    const type_hash = comptime typeHash("OwnerChanges(uint64 sequence,Change[] changes)" ++ change_type);
    return eth.hashWords(&.{ type_hash, sequence, eth.hashWords(words) });
}

/// The change's signer. A signer that the change does not mention is refused: it would be signed but have no effect.
fn signerOf(ctx: *Ctx, change: Json, kind: ChangeKind) Error![]const u8 {
    const given = args.field(change, "signer");
    if (kind.hasSigner()) return signerBytes(ctx, given orelse return ctx.fail(error.MissingField, "signer"), "signer");
    return if (given == null) "" else ctx.fail(error.InvalidField, "signer");
}

fn valueOf(ctx: *Ctx, change: Json, kind: ChangeKind) Error!i64 {
    if (kind == .add_owner) return try args.optionalInteger(ctx, change, "value", 0, largest) orelse 0;
    if (kind.hasValue()) return integer(ctx, change, "value", largest);
    return if (args.field(change, "value") == null) 0 else ctx.fail(error.InvalidField, "value");
}

noinline fn ownersHash(ctx: *Ctx, input: Json) Error!Word {
    const given = try args.items(ctx, input, "new_owners", max_new_owners);
    if (given.len == 0) return ctx.fail(error.MissingField, "new_owners");
    const words = try ctx.arena.alloc(Word, given.len);
    for (given, words) |signer, *slot| slot.* = hashes.keccak(try signerBytes(ctx, signer, "new_owners"));
    return eth.hashWords(words);
}

/// A signer in 0x-hex: at least an address.
noinline fn signerBytes(ctx: *Ctx, given: Json, name: []const u8) Error![]const u8 {
    if (given != .string or !std.mem.startsWith(u8, given.string, "0x")) return ctx.fail(error.InvalidField, name);
    if (given.string.len > 2 + 2 * max_signer) return ctx.fail(error.ValueTooLarge, name);
    const bytes = encoding.fromHex(ctx.arena, given.string[2..]) catch |err| return ctx.fail(err, name);
    return if (bytes.len < 20) ctx.fail(error.InvalidField, name) else bytes;
}

noinline fn integer(ctx: *Ctx, input: Json, name: []const u8, max: i64) Error!i64 {
    return try args.optionalInteger(ctx, input, name, 0, max) orelse ctx.fail(error.MissingField, name);
}

fn typeHash(comptime text: []const u8) Word {
    @setEvalBranchQuota(1_000_000);
    return hashes.keccak(text);
}
