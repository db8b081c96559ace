//! Reads DAG-CBOR values, content identifiers and tokens from arguments, and writes them into responses.

const std = @import("std");
const cbor = @import("../codec/cbor.zig");
const cid = @import("../codec/cid.zig");
const codec_errors = @import("codec_errors.zig");
const dag_json = @import("../codec/dag_json.zig");
const encoding = @import("../codec/encoding.zig");
const ipld = @import("../codec/ipld.zig");
const json = @import("../codec/json.zig");
const ucan = @import("../ucan/ucan.zig");
const Ctx = @import("context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

const max_token = ucan.container.max_tokens * ucan.envelope.max_bytes;

pub fn valueOf(ctx: *Ctx, given: Json, name: []const u8) Error!ipld.Value {
    return dag_json.toValue(ctx.arena, given) catch |err| codec_errors.value(ctx, err, name);
}

/// The DAG-CBOR value for a JSON value, whose size and nesting have the same limits as in a token.
pub fn canonical(ctx: *Ctx, given: Json, name: []const u8) Error!ipld.Value {
    const value = try valueOf(ctx, given, name);
    if ((try encode(ctx, value)).len > 64 << 10) return ctx.fail(error.ValueTooLarge, name);
    return value;
}

pub fn encode(ctx: *Ctx, value: ipld.Value) Error![]const u8 {
    return cbor.encode(ctx.arena, .dag, value) catch |err| codec_errors.dagCbor(ctx, err);
}

pub fn cidText(ctx: *Ctx, bytes: []const u8) Error![]const u8 {
    return cid.toText(ctx.arena, bytes) catch |err| codec_errors.identifier(ctx, err, "cid");
}

/// The bytes of a token field, which may have any binary form or be the text of a container (`B…`, `C…`).
pub fn tokenBytes(ctx: *Ctx, given: Json, name: []const u8) Error![]const u8 {
    // No text is ambiguous: a token begins with 0x82, so its base64 begins with g and its hex with 0x.
    if (given == .string and given.string.len > 0 and std.mem.findScalar(u8, "BCMOP", given.string[0]) != null) {
        return if (given.string.len > max_token) ctx.fail(error.ValueTooLarge, name) else given.string;
    }
    const bytes = encoding.decodeBinary(ctx.arena, given, null) catch |err| return ctx.fail(err, name);
    return if (bytes.len > max_token) ctx.fail(error.ValueTooLarge, name) else bytes;
}
