//! Functions for DAG-CBOR, CIDs, did:key and policies, so that a host needs no codecs for them.

const args = @import("../call/args.zig");
const cbor = @import("../codec/cbor.zig");
const cid = @import("../codec/cid.zig");
const dag_json = @import("../codec/dag_json.zig");
const did_key = @import("../codec/did_key.zig");
const encoding = @import("../codec/encoding.zig");
const codec_errors = @import("../call/codec_errors.zig");
const json = @import("../codec/json.zig");
const policy = @import("../codec/policy.zig");
const std = @import("std");
const values = @import("../call/values.zig");
const varsig = @import("../codec/varsig.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;
const Json = json.Json;

/// {value: DAG-JSON} -> {data: binary, cid: string}.
pub fn dagCborEncode(ctx: *Ctx, input: Json) Error!Json {
    // In this function, null is a value and does not mean an absent field.
    const given = input.object.get("value") orelse return ctx.fail(error.MissingField, "value");
    const data = try values.encode(ctx, try values.valueOf(ctx, given, "value"));
    return json.object(ctx.arena, .{
        .data = try encoding.base64(ctx.arena, data),
        .cid = try values.cidText(ctx, &cid.of(cid.dag_cbor, data)),
    });
}

/// {data: binary} -> {value: DAG-JSON, cid: string}.
pub fn dagCborDecode(ctx: *Ctx, input: Json) Error!Json {
    const data = try args.bytes(ctx, input, "data", cbor.max_bytes);
    const value = cbor.decode(ctx.arena, .dag, data) catch |err| return codec_errors.dagCbor(ctx, err);
    return json.object(ctx.arena, .{
        .value = dag_json.fromValue(ctx.arena, value) catch |err| return codec_errors.value(ctx, err, "data"),
        .cid = try values.cidText(ctx, &cid.of(cid.dag_cbor, data)),
    });
}

/// {data: binary, codec?: "raw" | "dag-cbor"} -> {cid: string}; or {cid: string} -> its parts.
pub fn cidOf(ctx: *Ctx, input: Json) Error!Json {
    if (try args.optionalString(ctx, input, "cid", 256)) |text| return cidParts(ctx, text);
    const data = try args.bytes(ctx, input, "data", 16 << 20);
    const codec = try args.optionalString(ctx, input, "codec", 16) orelse "raw";
    const number: u7 = if (std.mem.eql(u8, codec, "raw")) cid.raw else if (std.mem.eql(u8, codec, "dag-cbor"))
        cid.dag_cbor
    else
        return ctx.fail(error.InvalidField, "codec");
    return json.object(ctx.arena, .{ .cid = try values.cidText(ctx, &cid.of(number, data)) });
}

fn cidParts(ctx: *Ctx, text: []const u8) Error!Json {
    const bytes = cid.fromText(ctx.arena, text) catch |err| return codec_errors.identifier(ctx, err, "cid");
    const parsed = cid.parse(bytes) catch |err| return codec_errors.identifier(ctx, err, "cid");
    return json.object(ctx.arena, .{
        .cid = try values.cidText(ctx, bytes),
        .version = parsed.version,
        .codec = parsed.codec,
        .hash = parsed.hash,
        .digest = try encoding.base64(ctx.arena, parsed.digest),
        .data = try encoding.base64(ctx.arena, bytes),
    });
}

/// {public_key: binary (SEC 1, or 32 bytes of Ed25519), curve} -> {did}; or {did} -> {curve, public_key}.
pub fn didKey(ctx: *Ctx, input: Json) Error!Json {
    const key = if (try args.optionalString(ctx, input, "did", did_key.max_text)) |did|
        did_key.parse(ctx.arena, did) catch |err| return codec_errors.key(ctx, err)
    else
        try keyOf(ctx, input);
    const new = key.didNew() catch |err| return codec_errors.key(ctx, err);
    return json.object(ctx.arena, .{
        .did = try did_key.format(ctx.arena, key),
        .curve = curveName(key),
        .public_key = try encoding.bareHex(ctx.arena, key.bytes()),
        .did_new = if (new) |n| try ctx.arena.dupe(u8, &n) else null,
    });
}

fn keyOf(ctx: *Ctx, input: Json) Error!did_key.PublicKey {
    const curve = try args.string(ctx, input, "curve", 16);
    const algorithm = for (std.enums.values(varsig.Algorithm)) |candidate| {
        if (std.mem.eql(u8, curveName(candidate), curve)) break candidate;
    } else return ctx.fail(error.UnsupportedCurve, "curve");
    const bytes = try publicKey(ctx, input, algorithm);
    return did_key.fromSec1(algorithm, bytes) catch |err| codec_errors.key(ctx, err);
}

/// A public key's bytes. Hex without 0x, as in responses, is accepted too, because no base64 of a key is that long.
fn publicKey(ctx: *Ctx, input: Json, algorithm: varsig.Algorithm) Error![]const u8 {
    const given = try args.required(ctx, input, "public_key");
    const lengths: []const usize = if (algorithm == .ed25519) &.{32} else &.{ 33, 65 };
    for (lengths) |length| {
        if (given != .string or given.string.len != 2 * length) continue;
        return encoding.decodeBinary(ctx.arena, given, length) catch |err| ctx.fail(err, "public_key");
    }
    return args.bytes(ctx, input, "public_key", 65);
}

fn curveName(algorithm: varsig.Algorithm) []const u8 {
    return switch (algorithm) {
        .ed25519 => "Ed25519",
        .p256 => "P-256",
        .secp256k1 => "secp256k1",
    };
}

/// {policy: array, args: DAG-JSON} -> {holds: boolean}.
pub fn evaluatePolicy(ctx: *Ctx, input: Json) Error!Json {
    const statements = try values.canonical(ctx, try args.required(ctx, input, "policy"), "policy");
    const arguments = try values.canonical(ctx, try args.required(ctx, input, "args"), "args");
    policy.validate(ctx.arena, statements) catch |err| return codec_errors.predicate(ctx, err);
    const holds = policy.holds(ctx.arena, statements, arguments) catch |err| return codec_errors.predicate(ctx, err);
    return json.object(ctx.arena, .{ .holds = holds });
}
