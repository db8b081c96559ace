//! The state that the module keeps between calls.

const std = @import("std");
const aead = @import("../crypto/aead.zig");
const memory = @import("../platform/memory.zig");
const sealed = @import("../storage/sealed.zig");
const Database = @import("../storage/database.zig").Database;

/// An instance's state, which contains at most one vault. The host creates one instance per vault.
pub const State = struct {
    /// Pairing sessions with other devices.
    sync: @import("../pairing/sessions.zig").Sessions = .{},
    /// The open vault, or null if no vault is loaded or the vault is locked.
    open: ?Open = null,
    /// The vault's sealed bytes at its last save, load or lock. `unlock` opens these bytes if the host supplies none.
    sealed: []u8 = &.{},
    /// The vault's DID. The DID is public, so it stays in memory while the vault is locked.
    did: []u8 = &.{},
    /// The seed of the publishing key that the next `generate` adopts, or null until a host requests that key.
    pending_publishing_seed: ?[32]u8 = null,
    last_activity_ms: i64 = 0,
    /// Idle time after which the vault locks itself, in milliseconds. With 0, it never does.
    idle_ms: i64 = default_idle_ms,

    pub const default_idle_ms = 15 * 60 * 1000;

    /// Stores a copy of the sealed bytes.
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

    /// Forgets an open vault whose creation failed. The function that created the vault's database closes the database.
    pub fn abandon(state: *State, did_before: []const u8) void {
        if (state.open) |*open| open.forget();
        state.open = null;
        state.keepDid(did_before) catch {}; // a wrong name of a vault that is not there
    }

    /// Closes and forgets a vault that was received but must not stay.
    pub fn discard(state: *State) void {
        state.close();
        memory.allocator.free(state.sealed);
        state.sealed = &.{};
        state.abandon("");
    }

    /// Wipes the pending publishing key, because a vault has adopted it or another vault was opened.
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
    /// The database's count of changed rows at the last save or when the vault was opened.
    saved_changes: i64 = 0,
    /// Whether the wraps have changed since the last save.
    rewrapped: bool = false,

    /// Whether a save would store anything new, as is always the case before the first save.
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
