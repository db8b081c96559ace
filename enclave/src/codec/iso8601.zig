//! Instants in the interface's form: ISO 8601 in UTC (`Z`) with milliseconds.

const std = @import("std");

/// Milliseconds since 1970 as `2026-11-21T08:30:00.000Z`. Instants outside 1970 to 9999 are clamped.
pub fn format(arena: std.mem.Allocator, ms: i64) error{OutOfMemory}![]const u8 {
    const bounded: u64 = @intCast(std.math.clamp(ms, 0, 253_402_300_799_999));
    const seconds: std.time.epoch.EpochSeconds = .{ .secs = bounded / 1000 };
    const date = seconds.getEpochDay().calculateYearDay();
    const day = date.calculateMonthDay();
    const clock = seconds.getDaySeconds();
    return std.fmt.allocPrint(arena, "{d:0>4}-{d:0>2}-{d:0>2}T{d:0>2}:{d:0>2}:{d:0>2}.{d:0>3}Z", .{
        date.year,
        day.month.numeric(),
        day.day_index + 1,
        clock.getHoursIntoDay(),
        clock.getMinutesIntoHour(),
        clock.getSecondsIntoMinute(),
        bounded % 1000,
    });
}

/// Whether the text is an instant in the form that `format` writes, with or without milliseconds.
pub fn isInstant(text: []const u8) bool {
    const pattern = "0000-00-00T00:00:00.000Z";
    if (text.len != pattern.len and text.len != pattern.len - 4) return false;
    const body = text[0..19];
    for (body, pattern[0..19]) |given, wanted| {
        if (wanted == '0' and !std.ascii.isDigit(given)) return false;
        if (wanted != '0' and given != wanted) return false;
    }
    if (text[text.len - 1] != 'Z' or !isDate(body)) return false;
    if (text.len == 20) return true;
    if (text[19] != '.') return false;
    for (text[20..23]) |digit| if (!std.ascii.isDigit(digit)) return false;
    return true;
}

/// Whether the text is an instant with nine fractional digits: `2040-01-01T00:00:00.000000000Z`.
pub fn isNanosecondInstant(text: []const u8) bool {
    if (text.len != 30 or text[29] != 'Z') return false;
    for (text[23..29]) |digit| if (!std.ascii.isDigit(digit)) return false;
    var milliseconds: [24]u8 = text[0..24].*;
    milliseconds[23] = 'Z';
    return isInstant(&milliseconds);
}

/// Whether `body` contains a valid calendar date and a valid time of day.
fn isDate(body: []const u8) bool {
    const month = number(body[5..7]);
    if (month < 1 or month > 12 or number(body[11..13]) > 23 or number(body[14..16]) > 59 or number(body[17..19]) > 59)
        return false;
    const day = number(body[8..10]);
    return day >= 1 and
        day <= std.time.epoch.getDaysInMonth(number(body[0..4]), @fromBackingInt(@as(u4, @intCast(month))));
}

fn number(digits: []const u8) u16 {
    var value: u16 = 0;
    for (digits) |digit| value = value * 10 + (digit - '0');
    return value;
}

/// Whether the first of two instants is the earlier one. Adds missing milliseconds before comparing, so that the
/// texts sort like the instants.
pub fn isBefore(arena: std.mem.Allocator, first: []const u8, second: []const u8) error{OutOfMemory}!bool {
    return std.mem.order(u8, try whole(arena, first), try whole(arena, second)) == .lt;
}

fn whole(arena: std.mem.Allocator, text: []const u8) error{OutOfMemory}![]const u8 {
    return if (text.len == 20) std.mem.concat(arena, u8, &.{ text[0..19], ".000Z" }) else text;
}

test "instants with nanoseconds" {
    try std.testing.expect(isNanosecondInstant("2040-02-29T23:59:59.123456789Z"));
    const bad_instants = [_][]const u8{
        "2040-01-01T00:00:00.000Z",       "2040-02-30T00:00:00.000000000Z",
        "2040-01-01T00:00:00.00000000aZ", "2040-01-01T00:00:00.000000000z",
        "2040-01-01T00:00:00,000000000Z",
    };
    for (bad_instants) |bad| {
        try std.testing.expect(!isNanosecondInstant(bad));
    }
}

test "known instants" {
    var arena = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena.deinit();
    try std.testing.expectEqualStrings("1970-01-01T00:00:00.000Z", try format(arena.allocator(), 0));
    try std.testing.expectEqualStrings("2024-02-29T23:59:59.999Z", try format(arena.allocator(), 1709251199999));
    try std.testing.expectEqualStrings("9999-12-31T23:59:59.999Z", try format(arena.allocator(), std.math.maxInt(i64)));
    try std.testing.expectEqualStrings("1970-01-01T00:00:00.000Z", try format(arena.allocator(), -5));
}
