//! What the module remembers between calls.

const std = @import("std");
const aead = @import("../crypto/aead.zig");
const memory = @import("../platform/memory.zig");
const sealed = @import("../storage/sealed.zig");
const Database = @import("../storage/database.zig").Database;

/// One vault per instance; the host makes one instance per vault.
pub const State = struct {
    /// Pairing sessions with other devices.
    sync: @import("../pairing/sessions.zig").Sessions = .{},
    /// The open vault; null if no vault is loaded or the vault is locked.
    open: ?Open = null,
    /// The vault's sealed bytes at its last save, load or lock. `unlock` opens them if the host gives none.
    sealed: []u8 = &.{},
    /// The vault's DID. It is public, so it is known while the vault is locked too.
    did: []u8 = &.{},
    /// The seed of the publishing key that the next `generate` adopts; null until a host asks for it.
    pending_publishing_seed: ?[32]u8 = null,
    last_activity_ms: i64 = 0,
    /// Idle time after which the vault locks itself, in milliseconds; 0: never.
    idle_ms: i64 = default_idle_ms,

    pub const default_idle_ms = 15 * 60 * 1000;

    /// Remembers a copy of the sealed bytes.
    pub fn keepSealed(state: *State, bytes: []const u8) error{OutOfMemory}!void {
        const copy = try memory.allocator.dupe(u8, bytes);
        memory.allocator.free(state.sealed);
        state.sealed = copy;
    }

    pub fn keepDid(state: *State, did: []const u8) error{OutOfMemory}!void {
        const copy = try memory.allocator.dupe(u8, did);
        memory.allocator.free(state.did);
        state.did = copy;
    }

    /// Forgets an open vault that could not be completed. Its database is closed by the function that made it.
    pub fn abandon(state: *State, did_before: []const u8) void {
        if (state.open) |*open| open.forget();
        state.open = null;
        state.keepDid(did_before) catch {}; // a wrong name of a vault that is not there
    }

    /// Wipes the waiting publishing key: a vault has adopted it, or another vault takes its place.
    pub fn forgetPending(state: *State) void {
        if (state.pending_publishing_seed) |*seed| memory.wipe(seed);
        state.pending_publishing_seed = null;
    }

    /// Closes the open vault, wipes its key and its database, and ends pairing sessions. Does nothing if no vault is
    /// open.
    pub fn close(state: *State) void {
        state.sync.clear();
        if (state.open) |*open| open.wipe();
        state.open = null;
    }
};

/// An unlocked vault.
pub const Open = struct {
    database: Database,
    data_key: aead.Key,
    revision: u64,
    /// Owns the wraps' identifiers.
    wraps_arena: std.heap.ArenaAllocator,
    wraps: std.ArrayList(sealed.Wrap),
    /// The database's count of changed rows at the last save or at the opening.
    saved_changes: i64 = 0,
    /// Whether the wraps differ from those of the last save.
    rewrapped: bool = false,

    /// Whether a save would store anything new. A vault that was never saved is unsaved.
    pub fn unsaved(open: *const Open) bool {
        return open.revision == 0 or open.rewrapped or open.database.changesInAll() != open.saved_changes;
    }

    pub fn wipe(open: *Open) void {
        open.database.close();
        open.forget();
    }

    fn forget(open: *Open) void {
        memory.wipe(&open.data_key);
        open.wraps_arena.deinit();
    }
};

pub var global: State = .{};
