//! The table of all errors that a function of the module can return. enclave/ABI.md lists the same codes.

const std = @import("std");

pub const Error = error{
    // The call itself.
    OutOfMemory,
    UnknownFunction,
    InputTooLarge,
    InvalidJson,
    // Its arguments.
    MissingField,
    InvalidField,
    InvalidEncoding,
    ValueTooLarge,
    // Entropy and arithmetic.
    EntropyUnavailable,
    ClockUnavailable,
    CryptoFailure,
    // Keys and operations.
    UnsupportedCurve,
    InvalidKey,
    KeyMismatch,
    ShareRejected,
    UnsupportedAlgorithm,
    UnsupportedChain,
    UnsupportedEntryPoint,
    // The vault.
    VaultLocked,
    VaultUninitialized,
    KeyRequired,
    WrongKey,
    InvalidDatabase,
    LastWrap,
    StaleRevision,
    NotFound,
    Conflict,
    DatabaseFailure,
    // exec.
    InvalidFilter,
    UnknownAction,
    // Formats.
    InvalidFormat,
    UnsupportedVersion,
    ParametersOutOfBounds,
    ExportRejected,
    NonCanonical,
    // UCAN.
    InvalidToken,
    InvalidSignature,
    TokenExpired,
    TokenNotYetValid,
    TokenRevoked,
    WrongAudience,
    WrongSubject,
    BrokenChain,
    CommandDenied,
    PolicyDenied,
    // WebAuthn.
    InvalidCredential,
    // Sync.
    SessionUnknown,
    SessionExpired,
    SessionUsed,
    SyncRejected,
    CodeMismatch,
};

const Row = struct { err: Error, code: []const u8, message: []const u8 };

/// Codes are stable and in lower case. Messages say what is wrong with the input and never repeat any of it.
pub const rows = [_]Row{
    .{ .err = error.OutOfMemory, .code = "out_of_memory", .message = "not enough memory for this call" },
    .{ .err = error.UnknownFunction, .code = "unknown_function", .message = "no such function" },
    .{ .err = error.InputTooLarge, .code = "input_too_large", .message = "the input is longer than the limit" },
    .{
        .err = error.InvalidJson,
        .code = "invalid_json",
        .message = "the input is not one JSON object within the limits",
    },
    .{ .err = error.MissingField, .code = "missing_field", .message = "a required field is absent" },
    .{
        .err = error.InvalidField,
        .code = "invalid_field",
        .message = "a field has another type or form than documented",
    },
    .{
        .err = error.InvalidEncoding,
        .code = "invalid_encoding",
        .message = "a binary field is neither a byte array nor base64 nor 0x-hex",
    },
    .{ .err = error.ValueTooLarge, .code = "value_too_large", .message = "a field is longer than its limit" },
    .{ .err = error.EntropyUnavailable, .code = "entropy_unavailable", .message = "the host returned no randomness" },
    .{ .err = error.ClockUnavailable, .code = "clock_unavailable", .message = "the host returned no valid time" },
    .{
        .err = error.CryptoFailure,
        .code = "crypto_failure",
        .message = "a cryptographic self-check failed; nothing was released",
    },
    .{ .err = error.UnsupportedCurve, .code = "unsupported_curve", .message = "the curve is not P-256 or secp256k1" },
    .{ .err = error.InvalidKey, .code = "invalid_key", .message = "the key is not valid for its curve or kind" },
    .{
        .err = error.KeyMismatch,
        .code = "key_mismatch",
        .message = "the shares do not make up the secret of the public key",
    },
    .{ .err = error.ShareRejected, .code = "share_rejected", .message = "a sealed share could not be opened" },
    .{
        .err = error.UnsupportedAlgorithm,
        .code = "unsupported_algorithm",
        .message = "the algorithm is not supported",
    },
    .{
        .err = error.UnsupportedChain,
        .code = "unsupported_chain",
        .message = "the chain is unknown or has no addresses for this curve",
    },
    .{
        .err = error.UnsupportedEntryPoint,
        .code = "unsupported_entry_point",
        .message = "the entry point is not v0.7, v0.8 or v0.9",
    },
    .{ .err = error.VaultLocked, .code = "vault_locked", .message = "the vault is locked" },
    .{ .err = error.VaultUninitialized, .code = "vault_uninitialized", .message = "no vault is loaded" },
    .{ .err = error.KeyRequired, .code = "key_required", .message = "a key is required to open or to seal the vault" },
    .{ .err = error.WrongKey, .code = "wrong_key", .message = "no wrap of the data key opens with this key" },
    .{
        .err = error.InvalidDatabase,
        .code = "invalid_database",
        .message = "the sealed database is damaged or belongs to another vault",
    },
    .{ .err = error.LastWrap, .code = "last_wrap", .message = "the last wrap of the data key cannot be removed" },
    .{
        .err = error.StaleRevision,
        .code = "stale_revision",
        .message = "the database is older than the one last seen",
    },
    .{ .err = error.NotFound, .code = "not_found", .message = "no such row" },
    .{ .err = error.Conflict, .code = "conflict", .message = "the row exists already or another row depends on it" },
    .{
        .err = error.DatabaseFailure,
        .code = "database_failure",
        .message = "the vault's database refused the statement",
    },
    .{
        .err = error.InvalidFilter,
        .code = "invalid_filter",
        .message = "the filter is not of the form resource:<name> action:<name>",
    },
    .{ .err = error.UnknownAction, .code = "unknown_action", .message = "the resource does not have this action" },
    .{ .err = error.InvalidFormat, .code = "invalid_format", .message = "the bytes are not of the expected format" },
    .{
        .err = error.UnsupportedVersion,
        .code = "unsupported_version",
        .message = "the format's version is not supported",
    },
    .{
        .err = error.ParametersOutOfBounds,
        .code = "parameters_out_of_bounds",
        .message = "the key derivation parameters are outside the accepted bounds",
    },
    .{
        .err = error.ExportRejected,
        .code = "export_rejected",
        .message = "the password is wrong or the file is damaged",
    },
    .{ .err = error.NonCanonical, .code = "non_canonical", .message = "the encoding is not canonical" },
    .{
        .err = error.InvalidToken,
        .code = "invalid_token",
        .message = "the token is not a UCAN 1.0 delegation or invocation",
    },
    .{ .err = error.InvalidSignature, .code = "invalid_signature", .message = "the signature does not verify" },
    .{ .err = error.TokenExpired, .code = "token_expired", .message = "the token has expired" },
    .{ .err = error.TokenNotYetValid, .code = "token_not_yet_valid", .message = "the token is not valid yet" },
    .{ .err = error.TokenRevoked, .code = "token_revoked", .message = "the token or one of its proofs is revoked" },
    .{ .err = error.WrongAudience, .code = "wrong_audience", .message = "the token is for another audience" },
    .{ .err = error.WrongSubject, .code = "wrong_subject", .message = "the token is for another subject" },
    .{ .err = error.BrokenChain, .code = "broken_chain", .message = "the chain of proofs does not reach the subject" },
    .{ .err = error.CommandDenied, .code = "command_denied", .message = "the token does not cover this command" },
    .{ .err = error.PolicyDenied, .code = "policy_denied", .message = "the token's policy refuses these arguments" },
    .{
        .err = error.InvalidCredential,
        .code = "invalid_credential",
        .message = "the WebAuthn credential is malformed",
    },
    .{ .err = error.SessionUnknown, .code = "session_unknown", .message = "no such pairing session" },
    .{ .err = error.SessionExpired, .code = "session_expired", .message = "the pairing session has expired" },
    .{ .err = error.SessionUsed, .code = "session_used", .message = "the pairing session has been used" },
    .{
        .err = error.SyncRejected,
        .code = "sync_rejected",
        .message = "the other device's answer does not open or does not match",
    },
    .{ .err = error.CodeMismatch, .code = "code_mismatch", .message = "the six digits differ" },
};

comptime {
    std.debug.assert(rows.len == std.meta.tags(Error).len);
}

/// The row for an error.
pub fn row(err: Error) Row {
    for (rows) |candidate| {
        if (candidate.err == err) return candidate;
    }
    unreachable; // the table has a row for each error: the assertion above counts them
}
