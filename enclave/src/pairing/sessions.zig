//! The pairing sessions of an instance: a few at a time, each of which lasts five minutes and is used once.

const std = @import("std");
const memory = @import("../platform/memory.zig");
const protocol = @import("protocol.zig");

pub const Error = error{ SessionUnknown, SessionExpired, SessionUsed };

const open_at_once = 8;
const remembered = 32;

pub const Role = enum { initiator, responder };

pub const Session = struct {
    id: [32]u8,
    role: Role,
    own: protocol.KeyPair,
    peer: ?[protocol.public_length]u8,
    /// The initiator's nonce, which the responder learns only when the initiator reveals it.
    nonce: ?[protocol.nonce_length]u8,
    expires_ms: i64,

    /// The hash of the whole exchange, or null until this side has seen all of it.
    pub fn transcript(self: *const Session) ?[32]u8 {
        const peer = self.peer orelse return null;
        const initiates = self.role == .initiator;
        return protocol.transcript(.{
            .session = self.id,
            .initiator = if (initiates) self.own.public else peer,
            .responder = if (initiates) peer else self.own.public,
            .nonce = self.nonce orelse return null,
        });
    }

    pub fn channel(self: *const Session) ?protocol.Channel {
        const seen = self.transcript() orelse return null;
        return .{ .secret = self.own.secret, .peer = self.peer.?, .transcript = seen };
    }
};

pub const Sessions = struct {
    open: [open_at_once]?Session = @splat(null),
    /// Identifiers of finished sessions, so that the error for a replay differs from that for an unknown session.
    used: [remembered][32]u8 = @splat(@splat(0)),
    next_used: usize = 0,

    /// The open session with this identifier and role. If it has expired, ends it and fails with SessionExpired.
    pub fn find(self: *Sessions, id: [32]u8, role: Role, now_ms: i64) Error!*Session {
        for (&self.open) |*slot| {
            const session = if (slot.*) |*s| s else continue;
            if (session.role != role or !std.mem.eql(u8, &session.id, &id)) continue;
            if (late(session, now_ms)) {
                self.finish(session);
                return error.SessionExpired;
            }
            return session;
        }
        return if (self.wasUsed(id)) error.SessionUsed else error.SessionUnknown;
    }

    /// Stores a new session in a free slot or, if none exists, in that of an expired session or of the oldest.
    pub fn add(self: *Sessions, session: Session, now_ms: i64) Error!*Session {
        if (self.wasUsed(session.id)) return error.SessionUsed;
        for (&self.open) |*slot| {
            if (slot.*) |*s| if (std.mem.eql(u8, &s.id, &session.id)) return error.SessionUsed;
        }
        const place = self.room(now_ms);
        self.open[place] = session;
        return &self.open[place].?;
    }

    fn room(self: *Sessions, now_ms: i64) usize {
        var oldest: usize = 0;
        for (&self.open, 0..) |*slot, i| {
            const session = if (slot.*) |*s| s else return i;
            if (late(session, now_ms)) oldest = i;
            if (self.open[oldest].?.expires_ms > session.expires_ms) oldest = i;
        }
        self.finish(&self.open[oldest].?);
        return oldest;
    }

    /// Ends a session, successful or not, and wipes its secret.
    pub fn finish(self: *Sessions, session: *Session) void {
        self.used[self.next_used] = session.id;
        self.next_used = (self.next_used + 1) % remembered;
        for (&self.open) |*slot| {
            if (slot.*) |*s| if (s == session) {
                memory.wipe(std.mem.asBytes(s));
                slot.* = null;
                return;
            };
        }
    }

    /// Wipes the secrets of expired sessions, so that setting the clock back cannot revive them. `find` still
    /// reports them as expired.
    pub fn expire(self: *Sessions, now_ms: i64) void {
        for (&self.open) |*slot| if (slot.*) |*s| {
            if (!late(s, now_ms)) continue;
            memory.wipe(&s.own.secret);
            s.expires_ms = std.math.minInt(i64) + protocol.lifetime_ms;
        };
    }

    /// Forgets every session, because the vault was locked.
    pub fn clear(self: *Sessions) void {
        for (&self.open) |*slot| if (slot.*) |*s| self.finish(s);
    }

    fn wasUsed(self: *const Sessions, id: [32]u8) bool {
        for (&self.used) |*known| if (std.mem.eql(u8, known, &id)) return true;
        return false;
    }
};

/// Whether a session has expired. If the clock was set back, the session counts as expired.
fn late(session: *const Session, now_ms: i64) bool {
    return now_ms > session.expires_ms or now_ms < session.expires_ms - protocol.lifetime_ms;
}

test "a session is found until it is late or used" {
    var sessions: Sessions = .{};
    const session: Session = .{
        .id = @splat(5),
        .role = .responder,
        .own = protocol.KeyPair.of(@splat(1)).?,
        .peer = null,
        .nonce = null,
        .expires_ms = 1000 + protocol.lifetime_ms,
    };
    const kept = try sessions.add(session, 1000);
    try std.testing.expectEqual(kept, try sessions.find(@splat(5), .responder, 1000));
    try std.testing.expectError(error.SessionUnknown, sessions.find(@splat(5), .initiator, 1000));
    try std.testing.expectError(error.SessionUsed, sessions.add(session, 1000));
    const after = session.expires_ms + 1;
    try std.testing.expectError(error.SessionExpired, sessions.find(@splat(5), .responder, after));
    try std.testing.expectError(error.SessionUsed, sessions.find(@splat(5), .responder, after));
    var other = session;
    other.id = @splat(6);
    _ = try sessions.add(other, 1000);
    sessions.expire(1000);
    _ = try sessions.find(@splat(6), .responder, 1000);
    sessions.expire(0); // set back, and corrected later
    try std.testing.expectError(error.SessionExpired, sessions.find(@splat(6), .responder, 1000));
    for (0..20) |i| {
        other.id = @splat(@intCast(100 + i));
        _ = try sessions.add(other, 1000);
    }
    try std.testing.expectError(error.SessionUsed, sessions.find(@splat(100), .responder, 1000));
}
