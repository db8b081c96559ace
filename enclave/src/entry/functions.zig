//! The table of functions. Each row has a name and a function `fn (ctx: *Ctx, args: Json) Error!Json`.

const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const json = @import("../codec/json.zig");
const schema = @import("../vault/schema.zig");
const Json = json.Json;
const hashing = @import("../functions/hashing.zig");
const addressing = @import("../vault/addressing.zig");
const hd = @import("../functions/derivation.zig");
const identity = @import("../functions/generation.zig");
const ipld = @import("../functions/codecs.zig");
const publishing = @import("../functions/publishing.zig");
const registration = @import("../functions/registration.zig");
const signing = @import("../vault/signing.zig");
const exec = @import("../functions/exec.zig");
const mtrv = @import("../functions/export.zig");
const tokens = @import("../actions/tokens.zig");
const vault = @import("../functions/vault.zig");
const sync = @import("../functions/sync.zig");
const ucan = @import("../actions/verification.zig");
const webauthn = @import("../functions/webauthn.zig");

/// Version of the calling convention. The version changes only when older hosts could no longer work.
pub const abi = 1;

pub const Function = *const fn (ctx: *Ctx, args: Json) Error!Json;

pub const Row = struct { name: []const u8, function: Function };

pub const rows = [_]Row{
    .{ .name = "version", .function = version },
    .{ .name = "keccak256", .function = hashing.keccak256 },
    .{ .name = "generate", .function = identity.generate },
    .{ .name = "load", .function = vault.load },
    .{ .name = "unlock", .function = vault.unlock },
    .{ .name = "lock", .function = vault.lock },
    .{ .name = "save", .function = vault.save },
    .{ .name = "status", .function = vault.status },
    .{ .name = "set_auto_lock", .function = vault.setAutoLock },
    .{ .name = "query", .function = vault.query },
    .{ .name = "exec", .function = exec.exec },
    .{ .name = "export", .function = mtrv.exportVault },
    .{ .name = "import", .function = mtrv.importVault },
    .{ .name = "mint_ucan", .function = tokens.mint },
    .{ .name = "invoke_ucan", .function = tokens.invoke },
    .{ .name = "add_wrap", .function = vault.addWrap },
    .{ .name = "remove_wrap", .function = vault.removeWrap },
    .{ .name = "list_wraps", .function = vault.listWraps },
    .{ .name = "sign", .function = signing.sign },
    .{ .name = "sign_user_op", .function = signing.signUserOp },
    .{ .name = "sign_account_message", .function = signing.signAccountMessage },
    .{ .name = "user_op_hash", .function = signing.userOpHash },
    .{ .name = "verify_signature", .function = signing.verifySignature },
    .{ .name = "recover_public_keys", .function = signing.recoverPublicKeys },
    .{ .name = "refresh_shares", .function = signing.refreshShares },
    .{ .name = "derive_address", .function = addressing.derive },
    .{ .name = "derive_key", .function = hd.deriveKey },
    .{ .name = "create_registration", .function = registration.create },
    .{ .name = "parse_webauthn", .function = webauthn.parseWebauthn },
    .{ .name = "verify_ucan", .function = ucan.verify },
    .{ .name = "inspect_ucan", .function = ucan.inspect },
    .{ .name = "sync_init", .function = sync.init },
    .{ .name = "sync_respond", .function = sync.respond },
    .{ .name = "sync_compare", .function = sync.compare },
    .{ .name = "sync_complete", .function = sync.complete },
    .{ .name = "publishing_key", .function = publishing.key },
    .{ .name = "publish", .function = publishing.publish },
    .{ .name = "publishing_delegation", .function = publishing.delegation },
    .{ .name = "dag_cbor_encode", .function = ipld.dagCborEncode },
    .{ .name = "dag_cbor_decode", .function = ipld.dagCborDecode },
    .{ .name = "cid", .function = ipld.cidOf },
    .{ .name = "did_key", .function = ipld.didKey },
    .{ .name = "evaluate_policy", .function = ipld.evaluatePolicy },
};

/// {} -> {abi, schema_version, functions}: the versions of the ABI and of the vault's schema, and the functions' names.
fn version(ctx: *Ctx, _: Json) Error!Json {
    var names: [rows.len][]const u8 = undefined;
    for (&names, rows) |*name, row| name.* = row.name;
    return json.object(ctx.arena, .{
        .abi = abi,
        .schema_version = schema.version,
        .functions = try json.array(ctx.arena, &names),
    });
}
