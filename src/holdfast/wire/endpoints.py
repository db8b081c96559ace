"""The declarations of all endpoints, each of which is declared only here.

The router, the input checks, the OpenAPI document, the comparison with `interface/` and the clients are derived from
them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from holdfast.wire import errors as e
from holdfast.wire import failures as f
from holdfast.wire import models as m
from holdfast.wire import pinning as p
from holdfast.wire import requests as r

A = TypeVar("A", bound=r.Input)

HTML = "text/html"
_PARAMETER = re.compile(r"{([a-z_]+)}")
_COMMON = (e.INTERNAL_ERROR, e.DATABASE_UNAVAILABLE)
_BODY = (e.BODY_TOO_LARGE, e.REQUEST_TIMEOUT, *_COMMON)
_KEY = (e.INVALID_IDEMPOTENCY_KEY, e.IDEMPOTENCY_KEY_IN_USE, e.IDEMPOTENCY_KEY_REUSED, e.RATE_LIMITED)
_IDENTIFIER = (e.INVALID_IDENTIFIER, e.INVALID_CHANNEL, e.INVALID_DID)
_CLAIM = (
    e.IDENTIFIER_RESERVED,
    e.IDENTIFIER_TAKEN,
    e.REGISTRATION_CLOSED,
    e.INVITATION_REQUIRED,
    e.INVITATION_INVALID,
    e.IP_LIMIT_REACHED,
)
_PROOF = (
    e.ATTESTATION_REQUIRED,
    e.ATTESTATION_INVALID,
    e.ATTESTATION_MISMATCH,
    e.ATTESTATION_EXPIRED,
    e.ATTESTATION_USED,
)


class ErrorForm(Enum):
    """The form of an endpoint's error bodies."""

    HOLDFAST = "holdfast"  # {"error": text}
    FAILURE = "failure"  # the Pinning Service API's Failure, which clients of Kubo's RPC read too
    TEXT = "text"  # one sentence, as gateways return it
    RESOLUTION = "resolution"  # a DID resolution result without a document


@dataclass(frozen=True, kw_only=True)
class Endpoint(Generic[A]):
    """One method on one path.

    Attributes:
        name: the name of the clients' method.
        method: HTTP method. GET includes HEAD.
        path: as the interface writes it; `{path}` at the end matches everything below, any other name in braces,
            wherever it is, for one segment.
        summary: one line for people.
        input: the request's type, whose fields are those of the query (GET) or of the JSON body.
        missing: the error row for a request without a required field; for strict input, any that cannot be read.
        answers: types of the body on success; none if it is not one of the JSON shapes.
        refusals: this endpoint's error rows, in addition to those that every endpoint may return.
        media: content type of the success.
        status: status of the success.
        keyed: whether a request may have an `Idempotency-Key`, with which a repeat gets the first response.
        takes: the request body's content type.
        errors_as: the form of its refusals.
        failures: refusals of an endpoint whose error form is not Holdfast's.
        of_snapshots: whether it belongs to snapshots, which a setting can disable.
        client: whether the clients have a method for it. Browsers load pages and files, and the protocols of others
            have clients.
    """

    name: str
    method: str
    path: str
    summary: str
    input: type[A] | None = None
    missing: e.ErrorRow | None = None
    answers: tuple[type[m.Answer], ...] = ()
    refusals: tuple[e.ErrorRow, ...] = ()
    media: str = "application/json"
    status: int = 200
    keyed: bool = False
    takes: str = "application/json"
    errors_as: ErrorForm = ErrorForm.HOLDFAST
    failures: tuple[f.FailureRow, ...] = ()
    of_snapshots: bool = False
    client: bool = True

    @property
    def key(self) -> tuple[str, str]:
        """The method and path that identify the endpoint."""
        return self.method, self.path

    @property
    def path_parameters(self) -> tuple[str, ...]:
        """The parameter names in braces, in the order of the path."""
        return tuple(_PARAMETER.findall(self.path))

    @property
    def in_query(self) -> bool:
        """Whether the input's fields are in the query; otherwise they are in the JSON body."""
        return self.method == "GET" or self.takes != "application/json"

    @property
    def errors(self) -> tuple[e.ErrorRow, ...]:
        """All error rows of this endpoint, starting with the row for a missing field."""
        rows = (*self.refusals, *_KEY) if self.keyed else self.refusals
        return tuple(dict.fromkeys((self.missing, *rows) if self.missing else rows))


ENCLAVE = Endpoint[r.Input](
    name="enclave_wasm",
    method="GET",
    path="/enclave.wasm",
    summary="The enclave, a WebAssembly module",
    media="application/wasm",
)
CONTRACTS = Endpoint[r.Input](
    name="contracts", method="GET", path="/api/contracts", summary="The default contract set", answers=(m.ContractSet,)
)
BUNDLER = Endpoint(
    name="bundler",
    method="POST",
    keyed=True,
    path="/api/bundler",
    summary="One allowed JSON-RPC request to the bundler",
    input=r.CallBundler,
    missing=e.INVALID_JSON_RPC,
    refusals=(
        e.RPC_METHOD_NOT_ALLOWED,
        e.BUNDLER_NOT_CONFIGURED,
        e.RATE_LIMITED,
        e.BUNDLER_ERROR,
        *_BODY,
    ),
)
STATUS = Endpoint[r.Input](
    name="status",
    method="GET",
    path="/api/status",
    summary="Chain and database",
    answers=(m.Status,),
    refusals=_COMMON,
)
CHAINS = Endpoint[r.Input](
    name="chains",
    method="GET",
    path="/api/chains",
    summary="The chains that the service serves, with their endpoints",
    answers=(m.ServedChains,),
    refusals=_COMMON,
)
BUNDLER_OF_CHAIN = Endpoint(
    name="bundler_of_chain",
    method="POST",
    keyed=True,
    path="/api/bundler/{chain_id}",
    summary="The same request to the bundler of another served chain",
    input=r.CallBundler,
    missing=e.INVALID_JSON_RPC,
    refusals=(e.UNSUPPORTED_CHAIN, *BUNDLER.refusals),
    client=False,
)
PAYMASTER = Endpoint(
    name="paymaster",
    method="POST",
    path="/api/paymaster/{chain_id}",
    summary="One request to the service's own paymaster (ERC-7677)",
    input=r.CallBundler,
    missing=e.INVALID_JSON_RPC,
    refusals=(
        e.UNSUPPORTED_CHAIN,
        e.RPC_METHOD_NOT_ALLOWED,
        e.NOT_FOUND,
        e.RATE_LIMITED,
        e.BUNDLER_ERROR,
        *_BODY,
    ),
    client=False,
)
PREDICT_ADDRESS = Endpoint(
    name="predict_address",
    method="GET",
    path="/api/accounts/predict",
    summary="The counterfactual address of a P-256 key",
    input=r.PredictAddress,
    missing=e.MISSING_PUBLIC_KEY,
    answers=(m.PredictedAddress,),
    refusals=(e.INVALID_PUBLIC_KEY, e.INVALID_SALT, e.RATE_LIMITED, e.RPC_ERROR, *_COMMON),
)
ACCOUNT_STATE = Endpoint(
    name="account_state",
    method="GET",
    path="/api/accounts/state",
    summary="An account's state on the chain",
    input=r.ReadAccount,
    missing=e.MISSING_ACCOUNT,
    answers=(m.AccountState,),
    refusals=(e.INVALID_ACCOUNT, e.RATE_LIMITED, e.RPC_ERROR, *_COMMON),
)
STATE_ON_CHAIN = Endpoint(
    name="account_state_on_chain",
    method="GET",
    path="/api/accounts/state/{chain_id}",
    summary="An account's state on another served chain",
    input=r.ReadAccount,
    missing=e.MISSING_ACCOUNT,
    answers=(m.AccountState,),
    refusals=(e.UNSUPPORTED_CHAIN, *ACCOUNT_STATE.refusals),
    client=False,
)
BALANCE = Endpoint(
    name="balance",
    method="GET",
    path="/api/balance",
    summary="ETH or USDC of an address",
    input=r.ReadBalance,
    missing=e.MISSING_BALANCE_PARAMETERS,
    answers=(m.Balance,),
    refusals=(
        e.UNSUPPORTED_TOKEN,
        e.UNSUPPORTED_CHAIN,
        e.USDC_NOT_AVAILABLE,
        e.INVALID_ACCOUNT,
        e.RATE_LIMITED,
        e.RPC_ERROR,
        *_COMMON,
    ),
)
REGISTRATION_COUNTERS = Endpoint[r.Input](
    name="registration_counters",
    method="GET",
    path="/api/sessions/status",
    summary="Registration counters",
    answers=(m.RegistrationCounters,),
    refusals=_COMMON,
)
LOOK_UP_DID = Endpoint(
    name="lookup_did",
    method="GET",
    path="/api/dids/lookup",
    summary="The DID that a credential leads to",
    input=r.LookUpDid,
    missing=e.MISSING_CREDENTIAL_ID,
    answers=(m.DidRecord, m.DidNotFound),
    refusals=(e.INVALID_CREDENTIAL_ID, *_COMMON),
)
CHECK_ALIAS = Endpoint(
    name="check_alias",
    method="GET",
    path="/api/aliases/check",
    summary="Whether an alias is free",
    input=r.CheckAlias,
    missing=e.MISSING_ALIAS,
    answers=(m.AliasAvailability,),
    refusals=(e.INVALID_IDENTIFIER, *_COMMON),
)
OPEN_SESSION = Endpoint(
    name="create_session",
    method="POST",
    keyed=True,
    path="/api/sessions",
    summary="Open a registration session",
    input=r.OpenSession,
    missing=e.MISSING_SESSION_FIELDS,
    answers=(m.SessionCreated,),
    refusals=(*_IDENTIFIER, *_CLAIM, *_BODY),
)
CHECK_SESSION = Endpoint(
    name="check_session",
    method="GET",
    path="/api/sessions/check",
    summary="Whether an identifier is free",
    input=r.CheckSession,
    missing=e.MISSING_IDENTIFIER_PARAMETER,
    answers=(m.Availability,),
    refusals=(e.INVALID_IDENTIFIER, e.INVALID_CHANNEL, *_COMMON),
)
SEND_CODE = Endpoint(
    name="send_code",
    method="POST",
    keyed=True,
    path="/api/verify/send",
    summary="Send a one-time code",
    input=r.SendCode,
    missing=e.MISSING_SEND_FIELDS,
    answers=(m.CodeSent,),
    refusals=(
        e.INVALID_VERIFY_CHANNEL,
        e.INVALID_IDENTIFIER,
        e.UNSUPPORTED_COUNTRY,
        e.RATE_LIMITED,
        e.SMS_SEND_FAILED,
        e.EMAIL_SEND_FAILED,
        *_BODY,
    ),
)
CHECK_CODE = Endpoint(
    name="check_code",
    method="POST",
    keyed=True,
    path="/api/verify/check",
    summary="Check a one-time code",
    input=r.CheckCode,
    missing=e.MISSING_CHECK_FIELDS,
    answers=(m.CodeAccepted, m.CodeRefused),
    refusals=(e.INVALID_VERIFY_CHANNEL, e.INVALID_IDENTIFIER, e.RATE_LIMITED, e.SMS_CHECK_FAILED, *_BODY),
)
VERIFICATION_STATUS = Endpoint(
    name="verification_status",
    method="GET",
    path="/api/verify/status",
    summary="Whether an identifier was verified",
    input=r.ReadVerification,
    missing=e.MISSING_STATUS_PARAMETERS,
    answers=(m.VerificationStatus,),
    refusals=(e.INVALID_VERIFY_CHANNEL, e.INVALID_IDENTIFIER, *_COMMON),
)
RECOVERY_TERMS = Endpoint[r.Input](
    name="recovery_terms",
    method="GET",
    path="/api/recovery",
    summary="The service's key as a guardian of accounts, and when it signs",
    answers=(m.RecoveryTerms,),
    refusals=_COMMON,
)
_RECOVERY = (e.GUARDIAN_NOT_CONFIGURED, e.RATE_LIMITED)
ASK_RECOVERY = Endpoint(
    name="ask_recovery",
    method="POST",
    path="/api/recovery/send",
    summary="Ask the service to sign a recovery: it sends a code to an address of the DID",
    input=r.AskRecovery,
    missing=e.MISSING_RECOVERY_FIELDS,
    answers=(m.RecoveryCodeSent,),
    refusals=(
        e.INVALID_VERIFY_CHANNEL,
        e.INVALID_IDENTIFIER,
        e.INVALID_ACCOUNT,
        e.INVALID_NEW_OWNERS,
        e.RECOVERY_NOT_POSSIBLE,
        *_RECOVERY,
        e.UNSUPPORTED_COUNTRY,
        e.SMS_SEND_FAILED,
        e.EMAIL_SEND_FAILED,
        e.RPC_ERROR,
        *_BODY,
    ),
)
CHECK_RECOVERY = Endpoint(
    name="check_recovery",
    method="POST",
    path="/api/recovery/check",
    summary="Check the code of a recovery; the waiting time then begins",
    input=r.CheckRecovery,
    missing=e.MISSING_RECOVERY_CODE,
    answers=(m.RecoveryConfirmed, m.CodeRefused),
    refusals=(*_RECOVERY, *_BODY),
)
SIGN_RECOVERY = Endpoint(
    name="sign_recovery",
    method="POST",
    path="/api/recovery/sign",
    summary="The service's signature under a recovery, after the waiting time",
    input=r.SignRecovery,
    missing=e.MISSING_NEW_OWNERS,
    answers=(m.RecoverySigned,),
    refusals=(
        e.INVALID_ACCOUNT,
        e.INVALID_NEW_OWNERS,
        e.RECOVERY_NOT_FOUND,
        e.RECOVERY_WAITS,
        e.RECOVERY_NOT_POSSIBLE,
        *_RECOVERY,
        e.RPC_ERROR,
        *_BODY,
    ),
)
STOP_RECOVERY = Endpoint(
    name="stop_recovery",
    method="POST",
    path="/api/recovery/stop",
    summary="Stop the service's help with a recovery, by the request's number from the mail",
    input=r.StopRecovery,
    missing=e.MISSING_RECOVERY_REQUEST,
    answers=(m.RecoveryStopped,),
    refusals=(*_RECOVERY, *_BODY),
)
REGISTER_DID = Endpoint(
    name="register_did",
    method="POST",
    keyed=True,
    path="/api/dids",
    summary="Register a DID",
    input=r.RegisterDid,
    missing=e.MISSING_DID_FIELDS,
    answers=(m.DidRegistered,),
    refusals=(
        *_IDENTIFIER,
        e.INVALID_CREDENTIAL_ID,
        e.INVALID_TX_HASH,
        e.RATE_LIMITED,
        *_PROOF,
        e.REGISTRATION_UNPROVEN,
        e.CREDENTIAL_ALREADY_REGISTERED,
        *_CLAIM,
        e.CREDENTIAL_LIMIT_REACHED,
        e.RPC_ERROR,
        *_BODY,
    ),
)
INDEXER = Endpoint[r.Input](
    name="indexer",
    method="GET",
    path="/api/indexer/{path}",
    summary="An allowed path of the indexer",
    refusals=(e.NOT_FOUND, e.RATE_LIMITED, e.INDEXER_NOT_CONFIGURED, e.INDEXER_ERROR, *_COMMON),
)


def _file(name: str, path: str, summary: str, media: str = "application/json", status: int = 200) -> Endpoint[r.Input]:
    return Endpoint[r.Input](
        name=name, method="GET", path=path, summary=summary, media=media, status=status, client=False
    )


HEALTH = _file("healthz", "/healthz", "The process answers")
READINESS = Endpoint[r.Input](
    name="readyz",
    method="GET",
    path="/readyz",
    summary="The store reads and writes",
    refusals=(e.DATABASE_UNAVAILABLE,),
)
OPENAPI = _file("openapi", "/openapi.json", "This document")
DOCS = _file("docs", "/docs", "This document as a page", HTML)
DOCS_SCRIPT = _file("docs_script", "/docs.js", "The script that sends requests from that page", "text/javascript")


SECURITY_TXT = Endpoint[r.Input](
    name="security_txt",
    method="GET",
    path="/.well-known/security.txt",
    summary="Where to report a vulnerability (RFC 9116)",
    media="text/plain",
    refusals=(e.NOT_FOUND,),
    client=False,
)
ROBOTS = _file("robots", "/robots.txt", "What search engines may read (RFC 9309)", "text/plain")
FAVICON = _file("favicon", "/favicon.ico", "The service's logo, where browsers look for it", "image/*")
PAY = _file("payment_address", "/pay", "The payment method's own address", HTML)
PAY_WORKER = _file("payment_worker", "/pay/sw.js", "The payment service worker", "text/javascript")
PAY_CONFIRM = _file("payment_page", "/pay/confirm", "The payment confirmation page", HTML)
PAY_CONFIRM_SCRIPT = _file("payment_script", "/pay/confirm.js", "The confirmation page's script", "text/javascript")
PAY_CONFIRM_STYLE = _file("payment_style", "/pay/confirm.css", "The confirmation page's style", "text/css")
PAY_ICON = _file("payment_icon", "/pay/icon.svg", "The payment handler's icon", "image/svg+xml")
PAY_MANIFEST = _file("payment_manifest", "/pay/manifest.json", "The payment handler's manifest")
PAY_METHOD = _file("payment_method", "/pay/payment-method.json", "The payment method manifest")
START_PAGE = _file("start_page", "/", "The start page, where people register", HTML)
VAULT_PAGE = _file("vault_page", "/vault", "The page of a person's vault", HTML)
CONNECT_PAGE = _file("connect_page", "/connect", "The page on which a person answers another origin's app", HTML)
MOVE_PAGE = _file("move_page", "/move", "The page on which a person moves to another service", HTML)
PAGES_STYLE = _file("pages_style", "/pages.css", "The pages' style", "text/css")
PAGES_THEME = _file("pages_theme", "/theme.css", "The operator's colour for the pages", "text/css")
PAGES_LOGO = _file("pages_logo", "/logo", "The pages' logo", "image/*")
PAGES = (START_PAGE, VAULT_PAGE, CONNECT_PAGE, MOVE_PAGE, PAGES_STYLE, PAGES_THEME, PAGES_LOGO)
CLIENT_FILE = Endpoint[r.Input](
    name="client_file",
    method="GET",
    path="/client/{path}",
    summary="A module of the JavaScript client",
    media="text/javascript",
    refusals=(e.NOT_FOUND,),
    client=False,
)
RELATED_ORIGINS = Endpoint[r.Input](
    name="related_origins",
    method="GET",
    path="/.well-known/webauthn",
    summary="Origins that may use this service's passkeys",
    answers=(m.RelatedOrigins,),
    client=False,
)
WELL_KNOWN_PAYMENT_METHOD = _file(
    "well_known_payment_method",
    "/.well-known/payment-method-manifest",
    "Leads to the payment method manifest",
    status=302,
)


def _workflow(name: str, method: str, summary: str, *more: e.ErrorRow) -> Endpoint[r.Input]:
    return Endpoint[r.Input](
        name=name,
        method=method,
        path="/api/workflow",
        summary=summary,
        refusals=(e.WORKFLOW_NOT_CONFIGURED, *more),
        client=False,
    )


WORKFLOW = _workflow("workflow", "GET", "The workflow engine inspects")
WORKFLOW_REGISTER = _workflow("register_workflow", "PUT", "The workflow engine registers functions", *_BODY)
WORKFLOW_RUN = _workflow("run_workflow", "POST", "The workflow engine runs a function", *_BODY)

_TOKEN = (
    f.UNAUTHORIZED,
    f.TOKEN_EXPIRED,
    f.TOKEN_NOT_YET_VALID,
    f.TOKEN_LIVES_TOO_LONG,
    f.WRONG_AUDIENCE,
    f.WRONG_COMMAND,
    f.WRONG_SUBJECT,
    f.TOKEN_REVOKED,
    f.DID_NOT_REGISTERED,
    f.TOO_MANY_REQUESTS,
)
_FAILING = (f.INTERNAL_SERVER_ERROR, f.STORE_UNAVAILABLE)
_NEW_PIN = (*_TOKEN, f.TOKEN_USED, f.BAD_REQUEST, f.ANOTHER_DID, f.INSUFFICIENT_FUNDS, f.TOO_LARGE, f.TOO_SLOW)


def _writing(  # noqa: PLR0913 - each is a fact of the declaration
    name: str,
    method: str,
    path: str,
    summary: str,
    *failures: f.FailureRow,
    fields: type[r.Input] | None = None,
    answers: tuple[type[m.Answer], ...] = (),
    status: int = 202,
    takes: str = "application/json",
) -> Endpoint[Any]:
    return Endpoint(
        name=name,
        method=method,
        path=path,
        summary=summary,
        input=fields,
        answers=answers,
        status=status,
        takes=takes,
        errors_as=ErrorForm.FAILURE,
        failures=(*failures, *_FAILING),
        of_snapshots=True,
        client=False,
    )


def _reading(
    name: str, path: str, summary: str, media: str, *failures: f.FailureRow, fields: type[r.Input] | None = None
) -> Endpoint[Any]:
    return Endpoint(
        name=name,
        method="GET",
        path=path,
        summary=summary,
        input=fields,
        media=media,
        errors_as=ErrorForm.TEXT,
        failures=(*failures, f.TOO_MANY_REQUESTS, *_FAILING),
        of_snapshots=True,
        client=False,
    )


IMPORT_SNAPSHOT = _writing(
    "import_snapshot",
    "POST",
    "/api/v0/dag/import",
    "Upload a snapshot as a CAR file (Kubo RPC)",
    *_NEW_PIN,
    f.INVALID_CAR,
    f.UNSUPPORTED_MEDIA,
    f.OUT_OF_SPACE,
    fields=r.ImportSnapshot,
    answers=(p.ImportedLine, p.StatsLine),
    status=200,
    takes="multipart/form-data",
)
LIST_PINS = _writing(
    "list_pins",
    "GET",
    "/pins",
    "Pins of the token's DID, newest first (Pinning Service API)",
    *_TOKEN,
    f.BAD_REQUEST,
    fields=r.ListPins,
    answers=(p.PinResults,),
    status=200,
)
ADD_PIN = _writing(
    "add_pin",
    "POST",
    "/pins",
    "Pin a snapshot",
    *_NEW_PIN,
    fields=r.PinSnapshot,
    answers=(p.PinReport,),
)
GET_PIN = _writing(
    "get_pin",
    "GET",
    "/pins/{requestid}",
    "One pin",
    *_TOKEN,
    f.PIN_NOT_FOUND,
    answers=(p.PinReport,),
    status=200,
)
REPLACE_PIN = _writing(
    "replace_pin",
    "POST",
    "/pins/{requestid}",
    "Replace a pin by another in one step",
    *_NEW_PIN,
    f.PIN_NOT_FOUND,
    fields=r.PinSnapshot,
    answers=(p.PinReport,),
)
REMOVE_PIN = _writing("remove_pin", "DELETE", "/pins/{requestid}", "Give a pin up", *_TOKEN, f.PIN_NOT_FOUND)
REVOKE_TOKENS = _writing(
    "revoke_tokens",
    "POST",
    "/api/snapshots/revocations",
    "Revoke one bearer token, or all that were issued until now",
    *_TOKEN,
    answers=(p.Revoked,),
    status=200,
)
NAME_OF_SNAPSHOTS = Endpoint(
    name="name_of_snapshots",
    method="GET",
    path="/api/snapshots/name",
    summary="The IPNS name of the snapshots of a credential's vault, for passkeys whose user handle is not the name",
    input=r.NameOfSnapshots,
    missing=e.MISSING_CREDENTIAL_ID,
    answers=(m.SnapshotName, m.DidNotFound),
    refusals=(e.INVALID_CREDENTIAL_ID, e.RATE_LIMITED, *_COMMON),
    of_snapshots=True,
    client=False,
)
IPFS = _reading(
    "ipfs",
    "/ipfs/{path}",
    "A block, or a snapshot as a CAR file (trustless gateway)",
    "application/vnd.ipld.raw",
    f.BAD_REQUEST,
    f.BLOCK_NOT_FOUND,
    f.PATH_NOT_FOUND,
    f.NOT_ACCEPTABLE,
    f.NOT_CACHED,
    f.RANGE_BEYOND_END,
    fields=r.ReadBlock,
)
IPNS = _reading(
    "ipns",
    "/ipns/{path}",
    "The IPNS record of a name (trustless gateway)",
    "application/vnd.ipfs.ipns-record",
    f.BAD_REQUEST,
    f.RECORD_NOT_FOUND,
    f.NOT_ACCEPTABLE,
    fields=r.ReadRecord,
)
ROUTED_NAME = _reading(
    "routed_name",
    "/routing/v1/ipns/{name}",
    "The IPNS record of a name (HTTP Routing V1)",
    "application/vnd.ipfs.ipns-record",
    f.BAD_REQUEST,
    f.RECORD_NOT_FOUND,
    f.NOT_ACCEPTABLE,
)
PUBLISH_NAME = Endpoint[r.Input](
    name="publish_name",
    method="PUT",
    path="/routing/v1/ipns/{name}",
    summary="Publish an IPNS record (HTTP Routing V1)",
    takes="application/vnd.ipfs.ipns-record",
    media="text/plain",
    errors_as=ErrorForm.TEXT,
    failures=(
        f.BAD_REQUEST,
        f.NAME_NOT_REGISTERED,
        f.NOT_ACCEPTABLE,
        f.TOO_SLOW,
        f.RECORD_DOES_NOT_RISE,
        f.TOO_LARGE,
        f.TOO_MANY_REQUESTS,
        *_FAILING,
    ),
    of_snapshots=True,
    client=False,
)


def _of_person(
    name: str, method: str, path: str, summary: str, answer: type[m.Answer], *failures: f.FailureRow
) -> Endpoint[r.Input]:
    return Endpoint[r.Input](
        name=name,
        method=method,
        path=path,
        summary=summary,
        answers=(answer,),
        errors_as=ErrorForm.FAILURE,
        failures=(*(row for row in _TOKEN if row is not f.DID_NOT_REGISTERED), f.BAD_REQUEST, *failures, *_FAILING),
        client=False,
    )


EXPORT_PERSON = _of_person(
    "export_person", "GET", "/api/person", "All that the service stores about the token's DID", m.PersonExport
)
REMOVE_OF_PERSON = _of_person(
    "remove_of_person",
    "POST",
    "/api/person/removals",
    "Take back a credential, an identifier or everything of the token's DID",
    m.PersonRemoved,
)

ADD_ADDRESS = _of_person(
    "add_address",
    "POST",
    "/api/person/identifiers",
    "Add the verified address, whose attestation the token contains, to the token's DID",
    m.AddressAdded,
    f.DID_NOT_REGISTERED,
    f.ATTESTATION_REFUSED,
    f.ADDRESS_TAKEN,
    f.TOO_MANY_ADDRESSES,
)

RESOLVE_DID = Endpoint[r.Input](
    name="resolve_did",
    method="GET",
    path="/1.0/identifiers/{did}",
    summary="The DID document of a did:new (DID Resolution, as the Universal Resolver has it)",
    media='application/ld+json;profile="https://w3id.org/did-resolution"',
    errors_as=ErrorForm.RESOLUTION,
    failures=(
        f.DID_INVALID,
        f.DID_NOT_FOUND,
        f.NOT_REPRESENTABLE,
        f.DID_DEACTIVATED,
        f.DID_METHOD_UNKNOWN,
        f.CHAIN_UNREACHABLE,
        f.TOO_MANY_REQUESTS,
        *_FAILING,
    ),
    client=False,
)
SERVICE_DID = Endpoint[r.Input](
    name="service_did",
    method="GET",
    path="/.well-known/did.json",
    summary="The DID document of the service's own did:web",
    refusals=(e.NOT_FOUND,),
    client=False,
)

ENDPOINTS: tuple[Endpoint[r.Input], ...] = tuple(value for value in globals().values() if isinstance(value, Endpoint))
