//! When a vault is opened, corrects rows that earlier versions recorded wrongly.

const std = @import("std");
const addresses_file = @import("../chains/addresses.zig");
const bech32 = @import("../codec/bech32.zig");
const contract_set = @import("../chains/contract_set.zig");
const curves = @import("../crypto/curves.zig");
const eth = @import("../chains/eth.zig");
const Database = @import("../storage/database.zig").Database;
const Error = @import("../platform/errors.zig").Error;
const Allocator = std.mem.Allocator;
const Chain = addresses_file.Chain;

/// Corrects addresses that version 1 derived for P-256 keys and from which no key can spend: the last 20 bytes of
/// Keccak-256(X‖Y) as an Ethereum account, and ADR-028 with half of the type's name. Version 1 also recorded coin
/// type 60 for every account.
pub fn addresses(database: Database, arena: Allocator) Error!void {
    for (try accountsOfKeys(database, arena)) |account| {
        const found = try chainOf(arena, account) orelse continue;
        const right = try onChain(arena, found, account);
        try correct(database, arena, account, right, found.chain);
    }
}

const Account = struct {
    id: []const u8,
    address: []const u8,
    chain_id: []const u8,
    is_default: bool,
    coin_type: i64,
    key: curves.PublicKey,
};

/// The chain of an address, with the prefix if it is a Cosmos chain.
const Found = struct { chain: Chain, prefix: []const u8 = "" };

fn accountsOfKeys(database: Database, arena: Allocator) Error![]const Account {
    const statement = try database.query(
        \\SELECT accounts.id, address, chain_id, is_default, coin_type, curve, public_key
        \\FROM accounts JOIN enclaves ON enclaves.enclave_id = accounts.enclave_id
    , &.{});
    defer statement.finish();
    var all: std.ArrayList(Account) = .empty;
    while (try statement.next()) {
        const point = try statement.fixed(65, 6);
        try all.append(arena, .{
            .id = try statement.text(arena, 0),
            .address = try statement.text(arena, 1),
            .chain_id = try statement.text(arena, 2),
            .is_default = statement.integer(3) != 0,
            .coin_type = statement.integer(4),
            .key = .{
                .curve = try curves.Curve.parse(try statement.text(arena, 5)),
                .x = point[1..33].*,
                .y = point[33..65].*,
            },
        });
    }
    return all.items;
}

/// The chain for which version 1 derived the address, or null if it did not derive it from the account's key.
fn chainOf(arena: Allocator, account: Account) Error!?Found {
    if (std.mem.startsWith(u8, account.address, "bc1")) return .{ .chain = .bitcoin };
    const hashed = try eth.checksummed(arena, account.key.hash()[12..32].*);
    if (std.mem.eql(u8, account.address, hashed)) return .{ .chain = .ethereum };
    const end = std.mem.lastIndexOfScalar(u8, account.address, '1') orelse return null;
    const prefix = account.address[0..end];
    const made = switch (account.key.curve) {
        .secp256k1 => try addresses_file.cosmos(arena, prefix, account.key),
        .p256 => try bech32.encode(arena, prefix, null, &addresses_file.typedHash("secp256r1", account.key), .bech32),
    };
    return if (std.mem.eql(u8, account.address, made)) .{ .chain = .cosmos, .prefix = prefix } else null;
}

fn onChain(arena: Allocator, found: Found, account: Account) Error![]const u8 {
    if (found.chain == .cosmos) return addresses_file.cosmos(arena, found.prefix, account.key);
    if (found.chain == .bitcoin or account.key.curve == .secp256k1) return account.address;
    const key = account.key;
    const address = eth.cloneAddress(contract_set.app_factory, contract_set.vault_account, key.x, key.y, eth.word(0));
    return eth.checksummed(arena, address);
}

/// Corrects one account. An existing account with the right address stays, and becomes the default if the wrong account
/// was the default.
fn correct(database: Database, arena: Allocator, account: Account, right: []const u8, chain: Chain) Error!void {
    const coin_type = if (account.coin_type == Chain.ethereum.coinType()) chain.coinType() else account.coin_type;
    const other = try database.query("SELECT id FROM accounts WHERE address = ? AND chain_id = ? AND id <> ?", &.{
        .{ .text = right }, .{ .text = account.chain_id }, .{ .text = account.id },
    });
    const twin: ?[]const u8 = twin: {
        defer other.finish();
        break :twin if (try other.next()) try other.text(arena, 0) else null;
    };
    const kept = twin orelse return database.run("UPDATE accounts SET address = ?, coin_type = ? WHERE id = ?", &.{
        .{ .text = right }, .{ .integer = coin_type }, .{ .text = account.id },
    });
    try database.run("DELETE FROM accounts WHERE id = ?", &.{.{ .text = account.id }});
    if (account.is_default) try database.run("UPDATE accounts SET is_default = 1 WHERE id = ?", &.{.{ .text = kept }});
}
