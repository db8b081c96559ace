//! Translates the codecs' errors into the module's errors. An error's detail says which rule was violated.

const cbor = @import("../codec/cbor.zig");
const cid = @import("../codec/cid.zig");
const dag_json = @import("../codec/dag_json.zig");
const did_key = @import("../codec/did_key.zig");
const policy = @import("../codec/policy.zig");
const ucan = @import("../ucan/ucan.zig");
const webauthn = @import("../webauthn/credential.zig");
const Ctx = @import("context.zig").Ctx;
const Error = @import("../platform/errors.zig").Error;

/// Translates a CBOR error in bytes that should be in `format`.
fn encoded(ctx: *Ctx, err: cbor.Error, format: Error) Error {
    return switch (err) {
        error.OutOfMemory => error.OutOfMemory,
        error.CborNotCanonical => ctx.fail(error.NonCanonical, "longer than needed, indefinite, or keys out of order"),
        error.CborDuplicateKey => ctx.fail(error.NonCanonical, "a key appears twice"),
        error.CborTruncated => ctx.fail(format, "the encoding ends too early"),
        error.CborTrailingBytes => ctx.fail(format, "bytes follow the encoding"),
        error.CborTooDeep => ctx.fail(format, "nested too deeply"),
        error.CborTooLarge => error.ValueTooLarge,
        error.CborUnsupported => ctx.fail(format, "an unsupported kind of value"),
        error.CborInvalidUtf8 => ctx.fail(format, "text that is not UTF-8"),
        error.CborInvalidLink => ctx.fail(format, "a link that is not a CID"),
    };
}

pub fn dagCbor(ctx: *Ctx, err: cbor.Error) Error {
    return encoded(ctx, err, error.InvalidFormat);
}

pub fn value(ctx: *Ctx, err: dag_json.Error, field: []const u8) Error {
    return switch (err) {
        error.OutOfMemory => error.OutOfMemory,
        error.JsonUnsupported, error.JsonTooDeep => ctx.fail(error.InvalidField, field),
    };
}

pub fn identifier(ctx: *Ctx, err: cid.Error, field: []const u8) Error {
    return switch (err) {
        error.OutOfMemory => error.OutOfMemory,
        error.CidInvalid => ctx.fail(error.InvalidField, field),
    };
}

pub fn key(ctx: *Ctx, err: did_key.Error) Error {
    return switch (err) {
        error.OutOfMemory => error.OutOfMemory,
        error.DidKeyInvalid => ctx.fail(error.InvalidKey, "did:key"),
        error.DidKeyUnsupported => ctx.fail(error.UnsupportedAlgorithm, "did:key"),
    };
}

pub fn predicate(ctx: *Ctx, err: policy.Error) Error {
    return switch (err) {
        error.OutOfMemory => error.OutOfMemory,
        error.PolicyInvalid => ctx.fail(error.InvalidField, "policy"),
        error.PolicyTooCostly => ctx.fail(error.PolicyDenied, "too costly to evaluate"),
    };
}

const TokenError = ucan.Error || ucan.mint.Error;

pub fn token(ctx: *Ctx, err: TokenError) Error {
    return switch (err) {
        error.UcanMalformed => ctx.fail(error.InvalidToken, "envelope"),
        error.UcanUnsupportedVersion => ctx.fail(error.UnsupportedVersion, "token"),
        error.UcanMissingField => ctx.fail(error.InvalidToken, "a claim is missing"),
        error.UcanUnknownField => ctx.fail(error.InvalidToken, "an unknown claim"),
        error.UcanInvalidField => ctx.fail(error.InvalidToken, "a claim of another type"),
        error.UcanInvalidCommand => ctx.fail(error.InvalidToken, "command"),
        error.UcanInvalidDid => ctx.fail(error.InvalidToken, "a principal is not a DID"),
        error.UcanContainerInvalid => ctx.fail(error.InvalidToken, "container"),
        error.UcanContainerCompressed => ctx.fail(error.InvalidToken, "compressed container"),
        error.UcanMixedContainer => ctx.fail(error.InvalidToken, "more than one invocation"),
        error.PolicyInvalid => ctx.fail(error.InvalidToken, "policy"),
        error.PolicyTooCostly => ctx.fail(error.PolicyDenied, "too costly to evaluate"),
        error.VarsigUnsupported => ctx.fail(error.UnsupportedAlgorithm, "signature header"),
        error.DidKeyInvalid => ctx.fail(error.InvalidKey, "issuer"),
        error.DidKeyUnsupported => ctx.fail(error.UnsupportedAlgorithm, "issuer"),
        error.UcanSignatureInvalid => error.InvalidSignature,
        error.UcanNotYetValid => error.TokenNotYetValid,
        error.UcanExpired => error.TokenExpired,
        error.UcanRevoked => error.TokenRevoked,
        error.UcanNotRooted => ctx.fail(error.BrokenChain, "the root's issuer is not the subject"),
        error.UcanProofMissing => ctx.fail(error.BrokenChain, "a proof is missing"),
        error.UcanChainTooLong => ctx.fail(error.BrokenChain, "too many proofs"),
        error.UcanAudienceMismatch => error.WrongAudience,
        error.UcanSubjectMismatch => error.WrongSubject,
        error.UcanCommandNotCovered => error.CommandDenied,
        error.UcanPolicyViolated => error.PolicyDenied,
        error.UcanArgumentsMismatch => ctx.fail(error.PolicyDenied, "the arguments differ from the invoked ones"),
        error.SigningFailed => error.CryptoFailure,
        else => |other| encoded(ctx, other, error.InvalidToken),
    };
}

pub fn credential(ctx: *Ctx, err: webauthn.Error) Error {
    return switch (err) {
        error.CredentialJsonInvalid => ctx.fail(error.InvalidCredential, "JSON"),
        error.CredentialFieldInvalid => ctx.fail(error.InvalidCredential, "a field is missing or of another form"),
        error.CredentialIdMismatch => ctx.fail(error.InvalidCredential, "id differs from the attested one"),
        error.CredentialIdInvalid => ctx.fail(error.InvalidCredential, "credential ID length"),
        error.ClientDataInvalid => ctx.fail(error.InvalidCredential, "client data"),
        error.ClientDataTypeMismatch => ctx.fail(error.InvalidCredential, "client data type"),
        error.AttestationObjectInvalid => ctx.fail(error.InvalidCredential, "attestation object"),
        error.AttestationFormatUnknown => ctx.fail(error.InvalidCredential, "attestation format"),
        error.AttestationStatementInvalid => ctx.fail(error.InvalidCredential, "attestation statement"),
        error.AttestedCredentialMissing => ctx.fail(error.InvalidCredential, "no attested credential"),
        error.AuthenticatorDataTruncated => ctx.fail(error.InvalidCredential, "authenticator data too short"),
        error.AuthenticatorDataTrailingBytes => ctx.fail(
            error.InvalidCredential,
            "bytes follow the authenticator data",
        ),
        error.AuthenticatorFlagsInvalid => ctx.fail(error.InvalidCredential, "authenticator flags"),
        error.CoseInvalid => ctx.fail(error.InvalidCredential, "COSE key"),
        error.CoseOffCurve => ctx.fail(error.InvalidKey, "the point is not on its curve"),
        else => |other| encoded(ctx, other, error.InvalidCredential),
    };
}
