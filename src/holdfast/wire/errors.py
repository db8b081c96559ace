"""The error table: each refusal's HTTP status and exact text.

The interface documents the rows above the marked line; Holdfast adds those below it. A malformed value gets 400 with
the name of its field, because only the caller can correct it. The service sends errors from this table, and the client
recognises them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """A refusal: the HTTP status and the text of the body's `error`."""

    status: int
    error: str


class Refused(Exception):
    """Raised by rules and operations. The web layer turns this exception into a response with the error row.

    Attributes:
        row: the error row.
        retry_after_s: whole seconds until the same request may succeed, if known.
        limit: name of the limit that was reached, if one was; operators see it in a metric, clients do not.
    """

    def __init__(self, row: ErrorRow, retry_after_s: int | None = None, limit: str | None = None) -> None:
        super().__init__(row.error)
        self.row = row
        self.retry_after_s = retry_after_s
        self.limit = limit


RPC_ERROR = ErrorRow(502, "rpc_error")
MISSING_PUBLIC_KEY = ErrorRow(400, "Missing query parameters: pubKeyX, pubKeyY")
INVALID_PUBLIC_KEY = ErrorRow(400, "Invalid pubKeyX or pubKeyY: expected uint256 hex string")
INVALID_SALT = ErrorRow(400, "Invalid salt: expected uint256 decimal or hex string")
MISSING_ACCOUNT = ErrorRow(400, "Missing query parameter: account")
INVALID_ACCOUNT = ErrorRow(400, "Invalid account: expected 20-byte hex address")
MISSING_BALANCE_PARAMETERS = ErrorRow(400, "Missing query parameters: account, token, chainId")
UNSUPPORTED_TOKEN = ErrorRow(400, "Unsupported token. Supported: ETH, USDC")
UNSUPPORTED_CHAIN = ErrorRow(400, "Unsupported chainId")
USDC_NOT_AVAILABLE = ErrorRow(400, "USDC not available on this chain")
MISSING_CREDENTIAL_ID = ErrorRow(400, "Missing query parameter: credentialId")
MISSING_ALIAS = ErrorRow(400, "Missing query parameter: alias")
MISSING_SESSION_FIELDS = ErrorRow(400, "Missing required fields: identifier, channel, did")
IDENTIFIER_RESERVED = ErrorRow(409, "identifier_reserved")
IDENTIFIER_TAKEN = ErrorRow(409, "identifier_taken")
IP_LIMIT_REACHED = ErrorRow(429, "ip_limit_reached")
MISSING_SEND_FIELDS = ErrorRow(400, "Missing required fields: identifier, channel")
INVALID_VERIFY_CHANNEL = ErrorRow(400, 'Invalid channel. Must be "sms" or "email"')
RATE_LIMITED = ErrorRow(429, "rate_limited")
SMS_SEND_FAILED = ErrorRow(502, "sms_send_failed")
EMAIL_SEND_FAILED = ErrorRow(502, "email_send_failed")
MISSING_CHECK_FIELDS = ErrorRow(400, "Missing required fields: identifier, channel, code")
MISSING_DID_FIELDS = ErrorRow(400, "Missing required fields: credentialId, identifier, channel, did, txHash")
ATTESTATION_INVALID = ErrorRow(403, "attestation_invalid")
ATTESTATION_MISMATCH = ErrorRow(403, "attestation_mismatch")
CREDENTIAL_ALREADY_REGISTERED = ErrorRow(409, "credential_already_registered")

# ---- rows that the interface leaves open --------------------------------------------------------------------------

SMS_CHECK_FAILED = ErrorRow(502, "sms_check_failed")  # the body also contains ok: false, as the interface says
ATTESTATION_EXPIRED = ErrorRow(403, "attestation_expired")
ATTESTATION_USED = ErrorRow(403, "attestation_used")
ATTESTATION_REQUIRED = ErrorRow(403, "attestation_required")
REGISTRATION_CLOSED = ErrorRow(403, "registration_closed")
INVITATION_REQUIRED = ErrorRow(403, "invitation_required")
INVITATION_INVALID = ErrorRow(403, "invitation_invalid")
REGISTRATION_UNPROVEN = ErrorRow(403, "registration_unproven")
MISSING_IDENTIFIER_PARAMETER = ErrorRow(400, "Missing query parameter: identifier")
MISSING_STATUS_PARAMETERS = ErrorRow(400, "Missing query parameters: identifier, channel")
INVALID_CHANNEL = ErrorRow(400, 'Invalid channel. Must be "handle", "email" or "sms"')
INVALID_IDENTIFIER = ErrorRow(400, "Invalid identifier")
INVALID_DID = ErrorRow(400, "Invalid did")
INVALID_CREDENTIAL_ID = ErrorRow(400, "Invalid credentialId")
INVALID_TX_HASH = ErrorRow(400, "Invalid txHash")
UNSUPPORTED_COUNTRY = ErrorRow(400, "Unsupported country")
INVALID_IDEMPOTENCY_KEY = ErrorRow(400, "Invalid Idempotency-Key. Must be 1 to 128 visible ASCII characters")
IDEMPOTENCY_KEY_IN_USE = ErrorRow(409, "idempotency_key_in_use")
IDEMPOTENCY_KEY_REUSED = ErrorRow(422, "idempotency_key_reused")
CREDENTIAL_LIMIT_REACHED = ErrorRow(429, "credential_limit_reached")
MISSING_RECOVERY_FIELDS = ErrorRow(400, "Missing required fields: identifier, channel, newOwners")
MISSING_RECOVERY_CODE = ErrorRow(400, "Missing required fields: request, code")
MISSING_RECOVERY_REQUEST = ErrorRow(400, "Missing required field: request")
MISSING_NEW_OWNERS = ErrorRow(400, "Missing required fields: account, newOwners")
INVALID_NEW_OWNERS = ErrorRow(400, "Invalid newOwners: expected 1 to 16 different signers in hex")
RECOVERY_NOT_FOUND = ErrorRow(404, "recovery_not_found")
RECOVERY_NOT_POSSIBLE = ErrorRow(409, "recovery_not_possible")
RECOVERY_WAITS = ErrorRow(409, "recovery_waits")
AMBIGUOUS_REQUEST = ErrorRow(400, "ambiguous_request")
INVALID_JSON_RPC = ErrorRow(400, "Invalid JSON-RPC request")
FOREIGN_PAGE = ErrorRow(403, "foreign_page")
RPC_METHOD_NOT_ALLOWED = ErrorRow(403, "rpc_method_not_allowed")
NOT_FOUND = ErrorRow(404, "not_found")
METHOD_NOT_ALLOWED = ErrorRow(405, "method_not_allowed")
REQUEST_TIMEOUT = ErrorRow(408, "request_timeout")
BODY_TOO_LARGE = ErrorRow(413, "body_too_large")
TOO_MANY_RESPONSES = ErrorRow(429, "too_many_responses")
INTERNAL_ERROR = ErrorRow(500, "internal_error")
BUNDLER_ERROR = ErrorRow(502, "bundler_error")
INDEXER_ERROR = ErrorRow(502, "indexer_error")
BUNDLER_NOT_CONFIGURED = ErrorRow(503, "bundler_not_configured")
GUARDIAN_NOT_CONFIGURED = ErrorRow(503, "guardian_not_configured")
INDEXER_NOT_CONFIGURED = ErrorRow(503, "indexer_not_configured")
WORKFLOW_NOT_CONFIGURED = ErrorRow(503, "workflow_not_configured")
DATABASE_UNAVAILABLE = ErrorRow(503, "database_unavailable")
SERVICE_BUSY = ErrorRow(503, "service_busy")

ERRORS: dict[str, ErrorRow] = {name: row for name, row in globals().items() if isinstance(row, ErrorRow)}
