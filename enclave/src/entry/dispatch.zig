//! Runs one call: parses the JSON, runs the named function, writes the response and wipes everything else.

const std = @import("std");
const memory = @import("../platform/memory.zig");
const functions = @import("functions.zig");
const host = @import("../platform/host.zig");
const errors = @import("../platform/errors.zig");
const json = @import("../codec/json.zig");
const state = @import("../call/state.zig");
const session = @import("../vault/session.zig");
const Ctx = @import("../call/context.zig").Ctx;
const Scratch = @import("../platform/scratch.zig").Scratch;

/// Longest input, in bytes: enough for a vault of 16 MiB in base64, twice, and the other fields.
const max_input = 48 << 20;
/// The last response, which the module owns until the next call.
var answer: []u8 = &.{};

const no_memory = errors.row(error.OutOfMemory);
const out_of_memory = "{\"error\":{\"code\":\"" ++ no_memory.code ++ "\",\"message\":\"" ++ no_memory.message ++ "\"}}";
/// A copy of the constant response, because hosts overwrite responses after copying them.
var out_of_memory_answer: [out_of_memory.len]u8 = undefined;

/// The response to one call. Never fails and never retains the input.
pub fn call(name: []const u8, input: []u8) []const u8 {
    memory.allocator.free(answer);
    answer = &.{};
    defer memory.wipe(input);
    var scratch: Scratch = .{};
    defer scratch.deinit();
    var ctx: Ctx = .{ .arena = scratch.allocator(), .state = &state.global };
    session.lockWhenIdle(&state.global);
    state.global.sync.expire(host.nowMs());
    const result = run(&ctx, name, input) catch |err| failure(&ctx, err) catch return noMemory();
    answer = write(result) catch return noMemory();
    return answer;
}

/// The response for when memory has run out, which needs no allocation.
fn noMemory() []const u8 {
    out_of_memory_answer = out_of_memory.*;
    return &out_of_memory_answer;
}

fn run(ctx: *Ctx, name: []const u8, input: []const u8) errors.Error!json.Json {
    if (input.len > max_input) return error.InputTooLarge;
    if (ctx.state.open) |open| try open.database.abandon();
    const function = find(name) orelse return error.UnknownFunction;
    return function(ctx, try parse(ctx, input));
}

fn find(name: []const u8) ?functions.Function {
    for (functions.rows) |row| {
        if (std.mem.eql(u8, row.name, name)) return row.function;
    }
    return null;
}

fn parse(ctx: *Ctx, input: []const u8) errors.Error!json.Json {
    if (!json.withinDepth(input)) return ctx.fail(error.InvalidJson, "nested too deeply");
    const value = std.json.parseFromSliceLeaky(json.Json, ctx.arena, input, .{}) catch |err| return switch (err) {
        error.OutOfMemory => error.OutOfMemory,
        else => error.InvalidJson,
    };
    if (value != .object) return error.InvalidJson;
    return value;
}

fn failure(ctx: *Ctx, err: errors.Error) errors.Error!json.Json {
    const row = errors.row(err);
    const message = if (ctx.detail.len == 0)
        row.message
    else
        try std.mem.concat(ctx.arena, u8, &.{ row.message, ": ", ctx.detail });
    return json.object(ctx.arena, .{ .@"error" = .{ .code = row.code, .message = message } });
}

fn write(value: json.Json) errors.Error![]u8 {
    // Allocate enough for large fields at once, because growing would copy the text repeatedly and wipe each copy.
    var writer = std.Io.Writer.Allocating.initCapacity(memory.allocator, roomFor(value)) catch return error.OutOfMemory;
    defer writer.deinit();
    std.json.Stringify.value(value, .{}, &writer.writer) catch return error.OutOfMemory;
    return writer.toOwnedSlice() catch error.OutOfMemory;
}

/// Estimates the response's length from the texts in its outermost fields, which are the largest.
fn roomFor(value: json.Json) usize {
    var room: usize = 1024;
    if (value != .object) return room;
    for (value.object.values()) |field| {
        room += switch (field) {
            .string, .number_string => |text| text.len,
            else => 0,
        };
    }
    return room;
}
