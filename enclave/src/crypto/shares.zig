//! Seals the two shares of a key with different sealing keys. One share alone reveals nothing.

const aead = @import("aead.zig");
const curves = @import("curves.zig");
const host = @import("../platform/host.zig");
const Error = @import("../platform/errors.zig").Error;

pub const sealed_length = 32 + aead.tag_length;

/// The interface's EncryptedShares. `nonce` is the val share's 12 bytes, then the user share's.
pub const Sealed = struct {
    val: [sealed_length]u8,
    user: [sealed_length]u8,
    nonce: [24]u8,
};

pub const Keys = struct {
    val: aead.Key,
    user: aead.Key,

    /// Two new sealing keys.
    pub fn generate() Error!Keys {
        return .{ .val = try host.randomBytes(32), .user = try host.randomBytes(32) };
    }
};

/// Seals both shares with fresh nonces. Each sealed share is bound to the public key and to its name (val or user).
pub fn seal(public: curves.PublicKey, shares: curves.Shares, keys: Keys) Error!Sealed {
    var sealed: Sealed = undefined;
    sealed.nonce = try host.randomBytes(24);
    aead.sealInto(&sealed.val, &shares.val, &binding("val", public), sealed.nonce[0..12].*, keys.val);
    aead.sealInto(&sealed.user, &shares.user, &binding("usr", public), sealed.nonce[12..24].*, keys.user);
    return sealed;
}

/// Both shares. Fails with ShareRejected.
pub fn open(public: curves.PublicKey, sealed: Sealed, keys: Keys) Error!curves.Shares {
    var shares: curves.Shares = undefined;
    errdefer shares.wipe();
    try aead.openInto(
        &shares.val,
        &sealed.val,
        &binding("val", public),
        sealed.nonce[0..12].*,
        keys.val,
        error.ShareRejected,
    );
    try aead.openInto(
        &shares.user,
        &sealed.user,
        &binding("usr", public),
        sealed.nonce[12..24].*,
        keys.user,
        error.ShareRejected,
    );
    return shares;
}

const label = "holdfast/share/v1/";

fn binding(comptime which: *const [3]u8, public: curves.PublicKey) [label.len + 3 + 1 + 65]u8 {
    return (label ++ which ++ "\x00").* ++ public.uncompressed();
}
