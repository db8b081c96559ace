"""What the OpenAPI document says of each operation; a test holds it equal to the route table."""

from __future__ import annotations

from holdfast.service.web.openapi import Operation
from holdfast.wire import errors as e
from holdfast.wire import models as m

_TEXT = ("string", True)
_MAYBE_TEXT = ("string", False)
_COMMON = (e.INTERNAL_ERROR, e.DATABASE_UNAVAILABLE)
_BODY = (e.BODY_TOO_LARGE, e.REQUEST_TIMEOUT, *_COMMON)
_IDENTIFIER = (e.INVALID_IDENTIFIER, e.INVALID_CHANNEL, e.INVALID_DID)
_PROOF = (
    e.ATTESTATION_REQUIRED,
    e.ATTESTATION_INVALID,
    e.ATTESTATION_MISMATCH,
    e.ATTESTATION_EXPIRED,
    e.ATTESTATION_USED,
)
_CLAIM = (e.IDENTIFIER_RESERVED, e.IDENTIFIER_TAKEN, e.IP_LIMIT_REACHED)
_HTML = "text/html"
_SCRIPT = "text/javascript"


OPERATIONS: dict[tuple[str, str], Operation] = {
    ("GET", "/enclave.wasm"): Operation("The enclave, a WebAssembly module", media="application/wasm"),
    ("GET", "/api/contracts"): Operation("The default contract set", (m.ContractSet,)),
    ("POST", "/api/bundler"): Operation(
        "One allowed JSON-RPC request to the bundler",
        body={"jsonrpc": _MAYBE_TEXT, "id": ("number", False), "method": _TEXT, "params": ("array", False)},
        errors=(
            e.INVALID_JSON_RPC,
            e.RPC_METHOD_NOT_ALLOWED,
            e.BUNDLER_NOT_CONFIGURED,
            e.RATE_LIMITED,
            e.BUNDLER_ERROR,
            *_BODY,
        ),
    ),
    ("GET", "/api/status"): Operation("Chain and database", (m.Status,), errors=_COMMON),
    ("GET", "/api/accounts/predict"): Operation(
        "The counterfactual address of a P-256 key",
        (m.PredictedAddress,),
        query={"pubKeyX": True, "pubKeyY": True, "salt": False},
        errors=(e.MISSING_PUBLIC_KEY, e.INVALID_PUBLIC_KEY, e.INVALID_SALT, e.RPC_ERROR, *_COMMON),
    ),
    ("GET", "/api/accounts/state"): Operation(
        "An account's state on the chain",
        (m.AccountState,),
        query={"account": True},
        errors=(e.MISSING_ACCOUNT, e.INVALID_ACCOUNT, e.RPC_ERROR, *_COMMON),
    ),
    ("GET", "/api/balance"): Operation(
        "ETH or USDC of an address",
        (m.Balance,),
        query={"account": True, "token": True, "chainId": True},
        errors=(
            e.MISSING_BALANCE_PARAMETERS,
            e.UNSUPPORTED_TOKEN,
            e.UNSUPPORTED_CHAIN,
            e.USDC_NOT_AVAILABLE,
            e.INVALID_ACCOUNT,
            e.RPC_ERROR,
            *_COMMON,
        ),
    ),
    ("GET", "/api/sessions/status"): Operation("Registration counters", (m.RegistrationCounters,), errors=_COMMON),
    ("GET", "/api/dids/lookup"): Operation(
        "The DID that a credential leads to",
        (m.DidRecord, m.DidNotFound),
        query={"credentialId": True},
        errors=(e.MISSING_CREDENTIAL_ID, e.INVALID_CREDENTIAL_ID, *_COMMON),
    ),
    ("GET", "/api/aliases/check"): Operation(
        "Whether an alias is free",
        (m.AliasAvailability,),
        query={"alias": True},
        errors=(e.MISSING_ALIAS, e.INVALID_IDENTIFIER, *_COMMON),
    ),
    ("POST", "/api/sessions"): Operation(
        "Open a registration session",
        (m.SessionCreated,),
        body={"identifier": _MAYBE_TEXT, "handle": _MAYBE_TEXT, "channel": _MAYBE_TEXT, "did": _TEXT},
        errors=(e.MISSING_SESSION_FIELDS, *_IDENTIFIER, *_CLAIM, *_BODY),
    ),
    ("GET", "/api/sessions/check"): Operation(
        "Whether an identifier is free",
        (m.Availability,),
        query={"identifier": False, "handle": False, "channel": False},
        errors=(e.MISSING_IDENTIFIER_PARAMETER, e.INVALID_IDENTIFIER, e.INVALID_CHANNEL, *_COMMON),
    ),
    ("POST", "/api/verify/send"): Operation(
        "Send a one-time code",
        (m.CodeSent,),
        body={"identifier": _TEXT, "channel": _TEXT},
        errors=(
            e.MISSING_SEND_FIELDS,
            e.INVALID_VERIFY_CHANNEL,
            e.INVALID_IDENTIFIER,
            e.UNSUPPORTED_COUNTRY,
            e.RATE_LIMITED,
            e.SMS_SEND_FAILED,
            e.EMAIL_SEND_FAILED,
            *_BODY,
        ),
    ),
    ("POST", "/api/verify/check"): Operation(
        "Check a one-time code",
        (m.CodeAccepted, m.CodeRefused),
        body={"identifier": _TEXT, "channel": _TEXT, "code": _TEXT},
        errors=(
            e.MISSING_CHECK_FIELDS,
            e.INVALID_VERIFY_CHANNEL,
            e.INVALID_IDENTIFIER,
            e.RATE_LIMITED,
            e.SMS_CHECK_FAILED,
            *_BODY,
        ),
    ),
    ("GET", "/api/verify/status"): Operation(
        "Whether an identifier was verified",
        (m.VerificationStatus,),
        query={"identifier": True, "channel": True},
        errors=(e.MISSING_STATUS_PARAMETERS, e.INVALID_VERIFY_CHANNEL, e.INVALID_IDENTIFIER, *_COMMON),
    ),
    ("POST", "/api/dids"): Operation(
        "Register a DID",
        (m.DidRegistered,),
        body={
            "credentialId": _TEXT,
            "identifier": _MAYBE_TEXT,
            "handle": _MAYBE_TEXT,
            "name": _MAYBE_TEXT,
            "channel": _TEXT,
            "did": _TEXT,
            "txHash": _TEXT,
            "blockNumber": ("number", False),
            "smartAccount": _MAYBE_TEXT,
            "attestation": ("object", False),
        },
        errors=(
            e.MISSING_DID_FIELDS,
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
    ),
    ("GET", "/api/indexer/{path}"): Operation(
        "An allowed path of the indexer",
        errors=(e.NOT_FOUND, e.INDEXER_NOT_CONFIGURED, e.INDEXER_ERROR, *_COMMON),
    ),
    ("GET", "/pay"): Operation("The payment method's own address", media=_HTML),
    ("GET", "/pay/sw.js"): Operation("The payment service worker", media=_SCRIPT),
    ("GET", "/pay/confirm"): Operation("The payment confirmation page", media=_HTML),
    ("GET", "/pay/confirm.js"): Operation("The confirmation page's script", media=_SCRIPT),
    ("GET", "/pay/confirm.css"): Operation("The confirmation page's style", media="text/css"),
    ("GET", "/pay/icon.svg"): Operation("The payment handler's icon", media="image/svg+xml"),
    ("GET", "/pay/manifest.json"): Operation("The payment handler's manifest"),
    ("GET", "/pay/payment-method.json"): Operation("The payment method manifest"),
    ("GET", "/.well-known/payment-method-manifest"): Operation("Leads to the payment method manifest", status=302),
    ("GET", "/api/workflow"): Operation("The workflow engine inspects", errors=(e.WORKFLOW_NOT_CONFIGURED,)),
    ("PUT", "/api/workflow"): Operation(
        "The workflow engine registers functions", errors=(e.WORKFLOW_NOT_CONFIGURED, *_BODY)
    ),
    ("POST", "/api/workflow"): Operation(
        "The workflow engine runs a function", errors=(e.WORKFLOW_NOT_CONFIGURED, *_BODY)
    ),
    ("GET", "/healthz"): Operation("The process answers"),
    ("GET", "/readyz"): Operation("The store can be reached", errors=(e.DATABASE_UNAVAILABLE,)),
    ("GET", "/openapi.json"): Operation("This document"),
    ("GET", "/docs"): Operation("This document as a page", media=_HTML),
}
