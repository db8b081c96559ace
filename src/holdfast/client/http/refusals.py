"""The service's refusals as typed errors.

    NetworkError
    └── RequestRefused          the service refused; `code` and `status` say why
        ├── InvalidRequest      any 400
        ├── IdentifierTaken     409 identifier_taken
        └── ...                 one class per code of holdfast.wire.errors

The codes are taken from the service's error table, so they cannot differ from it.
"""

from __future__ import annotations

from holdfast.wire import errors
from holdfast.wire.client_errors import NetworkError

_BAD_REQUEST = 400


class RequestRefused(NetworkError):
    """The service refused a request.

    Attributes:
        code: the body's `error`, or "http_<status>" without one; of a pinning service, `error.reason`.
        status: HTTP status.
        retry_after_s: seconds until the same request may succeed, if the service said so.
        request_id: identifies the request in the service's log.
        details: the sentence that a pinning service sent with its reason, or None.
    """

    def __init__(
        self,
        code: str,
        status: int,
        *,
        retry_after_s: float | None = None,
        request_id: str | None = None,
        details: str | None = None,
    ) -> None:
        super().__init__(f"{code} ({status}): {details}" if details else f"{code} ({status})")
        self.code = code
        self.status = status
        self.retry_after_s = retry_after_s
        self.request_id = request_id
        self.details = details


class InvalidRequest(RequestRefused):
    """Status 400: a field is missing or malformed; `code` is a sentence that names it."""


class IdentifierReserved(RequestRefused):
    """The handle is reserved."""


class IdentifierTaken(RequestRefused):
    """The identifier is already registered."""


class IdempotencyKeyInUse(RequestRefused):
    """The service is still processing the first request with this `Idempotency-Key`."""


class IdempotencyKeyReused(RequestRefused):
    """A different request was sent with this `Idempotency-Key` within the last 24 hours."""


class IpLimitReached(RequestRefused):
    """The client's IP address has reached its limit on registrations."""


class CredentialLimitReached(RequestRefused):
    """The identifier has the maximum number of credentials, or of credentials awaiting confirmation on the chain."""


class RateLimited(RequestRefused):
    """There were too many requests of this kind; `retry_after_s` says when the next one may succeed."""


class SmsSendFailed(RequestRefused):
    """The SMS provider did not accept the message."""


class EmailSendFailed(RequestRefused):
    """The e-mail provider did not accept the message."""


class SmsCheckFailed(RequestRefused):
    """The SMS provider could not check the code."""


class AttestationInvalid(RequestRefused):
    """The attestation was not signed by this service."""


class AttestationMismatch(RequestRefused):
    """The attestation is for a different identifier or channel."""


class AttestationExpired(RequestRefused):
    """The attestation is older than its lifetime."""


class AttestationUsed(RequestRefused):
    """The attestation has been used before."""


class AttestationRequired(RequestRefused):
    """This channel needs an attestation."""


class RegistrationUnproven(RequestRefused):
    """The transaction does not register this DID."""


class CredentialAlreadyRegistered(RequestRefused):
    """The passkey belongs to a registered DID."""


class ChainUnreachable(RequestRefused):
    """The service's call to the chain failed (`rpc_error`)."""


class RpcMethodNotAllowed(RequestRefused):
    """The bundler proxy does not allow this method."""


class NotFound(RequestRefused):
    """No such path."""


class MethodNotAllowed(RequestRefused):
    """The path does not support this HTTP method."""


class RequestTimedOut(RequestRefused):
    """The complete request did not arrive in time."""


class BodyTooLarge(RequestRefused):
    """The body is larger than the service's limit."""


class InternalError(RequestRefused):
    """The service failed; its log contains the reason under `request_id`."""


class BundlerFailed(RequestRefused):
    """The bundler could not be reached."""


class IndexerFailed(RequestRefused):
    """The indexer could not be reached."""


class BundlerNotConfigured(RequestRefused):
    """The service has no bundler."""


class IndexerNotConfigured(RequestRefused):
    """The service has no indexer."""


class WorkflowNotConfigured(RequestRefused):
    """The service has no workflow engine."""


class DatabaseUnavailable(RequestRefused):
    """The service's store cannot be reached."""


class ForeignPage(RequestRefused):
    """The request came from a page of another site, and the service accepts only its own."""


class TooManyResponses(RequestRefused):
    """The service already sends as many large responses to this address as it may; try again after a pause."""


class ServiceBusy(RequestRefused):
    """The service already sends as many large responses as it can; try again after a pause."""


class RegistrationClosed(RequestRefused):
    """The service registers no one at present."""


class InvitationRequired(RequestRefused):
    """The service registers only people with an invitation code."""


class InvitationInvalid(RequestRefused):
    """The invitation code is wrong, has expired or is used up."""


class RecoveryNotFound(RequestRefused):
    """The service was not asked for this recovery, or no code was entered, or it was stopped."""


class RecoveryNotPossible(RequestRefused):
    """The address is not one of the account's DID, or the service is not a guardian of the account."""


class RecoveryWaits(RequestRefused):
    """The service signs later, in `retry_after_s` seconds."""


class GuardianNotConfigured(RequestRefused):
    """The service does not act as a guardian."""


_CLASSES: dict[errors.ErrorRow, type[RequestRefused]] = {
    errors.IDENTIFIER_RESERVED: IdentifierReserved,
    errors.IDENTIFIER_TAKEN: IdentifierTaken,
    errors.IP_LIMIT_REACHED: IpLimitReached,
    errors.IDEMPOTENCY_KEY_IN_USE: IdempotencyKeyInUse,
    errors.IDEMPOTENCY_KEY_REUSED: IdempotencyKeyReused,
    errors.RATE_LIMITED: RateLimited,
    errors.SMS_SEND_FAILED: SmsSendFailed,
    errors.EMAIL_SEND_FAILED: EmailSendFailed,
    errors.SMS_CHECK_FAILED: SmsCheckFailed,
    errors.ATTESTATION_INVALID: AttestationInvalid,
    errors.ATTESTATION_MISMATCH: AttestationMismatch,
    errors.ATTESTATION_EXPIRED: AttestationExpired,
    errors.ATTESTATION_USED: AttestationUsed,
    errors.ATTESTATION_REQUIRED: AttestationRequired,
    errors.REGISTRATION_UNPROVEN: RegistrationUnproven,
    errors.CREDENTIAL_ALREADY_REGISTERED: CredentialAlreadyRegistered,
    errors.CREDENTIAL_LIMIT_REACHED: CredentialLimitReached,
    errors.RPC_ERROR: ChainUnreachable,
    errors.RPC_METHOD_NOT_ALLOWED: RpcMethodNotAllowed,
    errors.NOT_FOUND: NotFound,
    errors.METHOD_NOT_ALLOWED: MethodNotAllowed,
    errors.REQUEST_TIMEOUT: RequestTimedOut,
    errors.BODY_TOO_LARGE: BodyTooLarge,
    errors.INTERNAL_ERROR: InternalError,
    errors.BUNDLER_ERROR: BundlerFailed,
    errors.INDEXER_ERROR: IndexerFailed,
    errors.BUNDLER_NOT_CONFIGURED: BundlerNotConfigured,
    errors.INDEXER_NOT_CONFIGURED: IndexerNotConfigured,
    errors.WORKFLOW_NOT_CONFIGURED: WorkflowNotConfigured,
    errors.DATABASE_UNAVAILABLE: DatabaseUnavailable,
    errors.FOREIGN_PAGE: ForeignPage,
    errors.TOO_MANY_RESPONSES: TooManyResponses,
    errors.SERVICE_BUSY: ServiceBusy,
    errors.REGISTRATION_CLOSED: RegistrationClosed,
    errors.INVITATION_REQUIRED: InvitationRequired,
    errors.INVITATION_INVALID: InvitationInvalid,
    errors.RECOVERY_NOT_FOUND: RecoveryNotFound,
    errors.RECOVERY_NOT_POSSIBLE: RecoveryNotPossible,
    errors.RECOVERY_WAITS: RecoveryWaits,
    errors.GUARDIAN_NOT_CONFIGURED: GuardianNotConfigured,
}
_BY_CODE = {row.error: cls for row, cls in _CLASSES.items()}


def refusal_class(code: str, status: int) -> type[RequestRefused]:
    """Return the class for a refusal's code, or else InvalidRequest for status 400 and RequestRefused for any other."""
    return _BY_CODE.get(code) or (InvalidRequest if status == _BAD_REQUEST else RequestRefused)
