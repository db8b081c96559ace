"""The words of the OpenAPI document: a tag and a description for each endpoint, and examples of requests and responses.

A test sends each example, and compares the response's form with the example's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

INFO = (
    "Registration and identity vault for decentralized identifiers that belong to passkeys and smart accounts. An error"
    ' body is `{"error": text}`; the snapshots\' endpoints have the errors of the protocols that they implement.'
)
TAGS = {
    "Registration": "Sessions, one-time codes and registrations of DIDs.",
    "Chain": "What a client needs to know of the chain, and the way to the bundler.",
    "Recovery": "The service as a guardian of accounts.",
    "Snapshots": "Sealed snapshots of vaults: Kubo's RPC, the IPFS Pinning Service API, the trustless gateway, IPNS.",
    "Person": "What a person gets and takes back, by requests that the vault's key signs.",
    "Payments": "The files of the payment handler.",
    "Pages": "The pages for people, and their files.",
    "Service": "State, enclave, client modules and this document.",
    "Workflow": "The handler of a workflow engine.",
}
_DID = "did:new:0x" + "1c" * 32
_MAIL = "ann@example.com"
_ACCOUNT = "0x" + "00" * 19 + "01"
_KEY = ("0x" + "11" * 32, "0x" + "22" * 32)
_SIGNER = (
    "0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
)
_TIME, _LATER = "2026-11-23T12:00:00Z", "2026-11-23T12:05:00Z"


@dataclass(frozen=True, slots=True)
class Text:
    """The words about one endpoint.

    Attributes:
        tag: one of TAGS.
        about: its description, in Markdown.
        request: an example of the query's or the body's fields, by their names.
        response: an example of the response's body.
    """

    tag: str
    about: str
    request: Mapping[str, Any] = field(default_factory=dict)
    response: Any = None


def _registration(about: str, request: Mapping[str, Any], response: Any) -> Text:
    return Text("Registration", about, request, response)


def _chain(about: str, request: Mapping[str, Any], response: Any) -> Text:
    return Text("Chain", about, request, response)


def _recovery(about: str, request: dict[str, Any], response: Any = None) -> Text:
    return Text("Recovery", about, request, response)


def _of(tag: str, about: str, response: Any = None) -> Text:
    return Text(tag, about, {}, response)


TEXTS: dict[str, Text] = {
    "create_session": _registration(
        "Reserves an identifier for a DID. `handle` alone implies the channel `handle`. A service that does not take"
        " everyone needs a code in the header `Holdfast-Invitation`.",
        {"identifier": "ann", "channel": "handle", "did": _DID},
        {"ok": True, "identifier": "ann", "channel": "handle", "did": _DID},
    ),
    "check_session": _registration(
        "Says whether an identifier is free, taken or reserved. The channel is `handle` unless another is named.",
        {"identifier": "bob", "channel": "handle"},
        {"available": True, "reason": None},
    ),
    "registration_counters": _registration(
        "Counts the sessions that the client's address has opened, for life, and all sessions.",
        {},
        {"ip_registrations": 1, "ip_limit": 3, "total_registrations": 1},
    ),
    "send_code": _registration(
        "Sends a code to an e-mail address or a phone number. A new code invalidates an earlier one.",
        {"identifier": _MAIL, "channel": "email"},
        {"ok": True, "channel": "email"},
    ),
    "check_code": _registration(
        "Returns an attestation for a correct code, which POST /api/dids accepts once within five minutes; for any"
        " other code, 200 with `verified: false` and the reason.",
        {"identifier": _MAIL, "channel": "email", "code": "271828"},
        {
            "ok": True,
            "verified": True,
            "attestation": {
                "identifier": _MAIL,
                "channel": "email",
                "verified_at": _TIME,
                "expires_at": _LATER,
                "registrar": "did:web:vault.example",
                "signature": "0x" + "5a" * 32,
            },
        },
    ),
    "verification_status": _registration(
        "Says whether and when an address or number was last verified.",
        {"identifier": _MAIL, "channel": "email"},
        {"identifier": _MAIL, "channel": "email", "verified": True, "verifiedAt": _TIME},
    ),
    "register_did": _registration(
        "Registers a DID under an identifier. An e-mail address or number needs an attestation; the transaction is"
        " confirmed in the background.",
        {"credentialId": "Y3JlZA", "identifier": "ann", "channel": "handle", "did": _DID, "txHash": "0x" + "aa" * 32},
        {"ok": True, "identifier": "ann", "channel": "handle", "txHash": "0x" + "aa" * 32},
    ),
    "lookup_did": _registration(
        "Returns the registration of a WebAuthn credential, or only `found: false`.",
        {"credentialId": "Y3JlZA"},
        {
            "found": True,
            "identifier": "ann",
            "channel": "handle",
            "did": _DID,
            "txHash": "0x" + "aa" * 32,
            "blockNumber": None,
            "smartAccount": None,
            "createdAt": _TIME,
        },
    ),
    "check_alias": _registration(
        "Says whether an alias is free, and if not, which DID holds it. A reserved alias is the registrar's.",
        {"alias": "ann"},
        {"available": False, "did": _DID},
    ),
    "contracts": _chain(
        "The addresses of the contracts that clients use by default.",
        {},
        {
            "chainId": 84532,
            "entryPoint": _ACCOUNT,
            "didRegistry": _ACCOUNT,
            "accountHelper": _ACCOUNT,
            "sessionSBT": _ACCOUNT,
            "appFactory": _ACCOUNT,
        },
    ),
    "bundler": _chain(
        "Forwards one JSON-RPC request to the bundler, if its method is allowed: eth_sendUserOperation,"
        " eth_getUserOperationReceipt, eth_estimateUserOperationGas, pm_sponsorUserOperation,"
        " eth_supportedEntryPoints.",
        {"jsonrpc": "2.0", "id": 1, "method": "eth_supportedEntryPoints", "params": []},
        {"jsonrpc": "2.0", "id": 1, "result": [_ACCOUNT]},
    ),
    "predict_address": _chain(
        "The address at which the factory will create the account of a P-256 key.",
        {"pubKeyX": _KEY[0], "pubKeyY": _KEY[1], "salt": "0"},
        {"address": _ACCOUNT},
    ),
    "account_state": _chain(
        "Nonce, DID, activity and key of an account, as the account helper contract reports them.",
        {"account": _ACCOUNT},
        {"nonce": "0", "did": "0x" + "1c" * 32, "isActive": True, "pubKeyX": _KEY[0], "pubKeyY": _KEY[1]},
    ),
    "balance": _chain(
        "What an address has of ETH or USDC. `balance` is in the token's smallest unit.",
        {"account": _ACCOUNT, "token": "USDC", "chainId": "84532"},
        {"balance": "1500000", "decimals": 6, "symbol": "USDC", "formatted": "1.500000"},
    ),
    "chains": _chain(
        "The main chain comes first; `payments` says whether the service has a bundler for the chain. Addresses of"
        " accounts and contracts are the same on every chain.",
        {},
        {
            "chains": [
                {
                    "chainId": 84532,
                    "name": "Base Sepolia",
                    "main": True,
                    "testMoney": True,
                    "rpc": "https://sepolia.base.org",
                    "explorer": "https://base-sepolia.blockscout.com",
                    "usdc": _ACCOUNT,
                    "payments": True,
                }
            ]
        },
    ),
    "bundler_of_chain": _chain(
        "Like POST /api/bundler, which reaches the main chain's bundler, for any chain of GET /api/chains.",
        {"jsonrpc": "2.0", "id": 1, "method": "eth_supportedEntryPoints", "params": []},
        {"jsonrpc": "2.0", "id": 1, "result": [_ACCOUNT]},
    ),
    "paymaster": _chain(
        "The service's own sponsor as a paymaster service (ERC-7677): pm_getPaymasterStubData and pm_getPaymasterData.",
        {"jsonrpc": "2.0", "id": 1, "method": "pm_getPaymasterStubData", "params": []},
        {"jsonrpc": "2.0", "id": 1, "result": {"paymaster": _ACCOUNT, "paymasterData": "0x"}},
    ),
    "account_state_on_chain": _chain(
        "Like GET /api/accounts/state, which reads the main chain, for any chain of GET /api/chains.",
        {"account": _ACCOUNT},
        {"nonce": "0", "did": "0x" + "1c" * 32, "isActive": True, "pubKeyX": _KEY[0], "pubKeyY": _KEY[1]},
    ),
    "indexer": _of(
        "Chain", "Forwards api/dids, api/aliases, api/accounts, api/stats, api/events and health to the indexer."
    ),
    "status": _of(
        "Service",
        "The chain, its public endpoint, and whether the database answers.",
        {"chain": "Base Sepolia", "chainId": 84532, "rpc": "https://rpc.example", "database": "connected"},
    ),
    "enclave_wasm": _of("Service", "The WebAssembly module that keeps keys and signs in the client."),
    "healthz": _of("Service", "200 as long as the process responds, also without a database.", {"ok": True}),
    "readyz": _of("Service", "200 if the database reads and writes and the process is not stopping.", {"ok": True}),
    "openapi": _of("Service", "The document that describes these endpoints, in OpenAPI 3.1."),
    "docs": _of("Service", "A page about these endpoints, from which requests can be sent."),
    "docs_script": _of("Service", "The script of that page."),
    "resolve_did": _of(
        "Chain",
        "`didDocumentMetadata.proven` says what the chain or the DID itself proves. A deactivated DID is 410."
        " `Accept: application/did+ld+json` asks for the document alone.",
    ),
    "service_did": _of("Service", "404 if the service's DID is not a did:web of its own host."),
    "security_txt": _of("Service", "404 unless the operator has set a contact."),
    "robots": _of("Service", "Search engines may read the start page alone."),
    "favicon": _of("Service", "The same file as the pages' logo."),
    "client_file": _of("Service", "Modules with a hash in their names never change."),
    "related_origins": _of("Service", "WebAuthn Level 3, section 5.11.", {"origins": ["https://app.example"]}),
    "payment_address": _of("Payments", "Its `Link` header leads browsers to the payment method's manifest."),
    "payment_worker": _of("Payments", "Answers payment requests of shops, within /pay/."),
    "payment_page": _of("Payments", "Shows payee and amount before anything is signed."),
    "payment_script": _of("Payments", "The script of the confirmation page."),
    "payment_style": _of("Payments", "The style of the confirmation page."),
    "payment_icon": _of("Payments", "Shops' pages may show it."),
    "payment_manifest": _of("Payments", "A web app manifest and a payment method manifest in one."),
    "payment_method": _of(
        "Payments",
        "The payment method manifest, as the interface documents it.",
        {"default_applications": [{"platform": "webapp", "manifest_url": "/pay/manifest.json"}]},
    ),
    "well_known_payment_method": _of("Payments", "Redirects to /pay/payment-method.json."),
    "start_page": _of("Pages", "404 if the operator has switched off the pages."),
    "vault_page": _of("Pages", "Where people open, send, back up and recover."),
    "move_page": _of("Pages", "Asks the new service, and is opened by the page of the one that the person leaves."),
    "connect_page": _of("Pages", "Opened by an app of another origin, which gets the answer as a message."),
    "pages_style": _of("Pages", "The style sheet of all pages."),
    "pages_theme": _of("Pages", "The operator's colour, for light and dark mode."),
    "pages_logo": _of("Pages", "An SVG or PNG file."),
    "workflow": _of("Workflow", "Without an engine, 503."),
    "register_workflow": _of("Workflow", "The engine signs the request that registers it."),
    "run_workflow": _of("Workflow", "The engine signs the request that runs a function."),
    "import_snapshot": _of("Snapshots", "Stores one snapshot, whose blocks are sealed, and pins it."),
    "list_pins": _of("Snapshots", "The pins of the DID that the token is from."),
    "add_pin": _of("Snapshots", "Pins a snapshot whose blocks the service has."),
    "get_pin": _of("Snapshots", "A pin with its status."),
    "replace_pin": _of("Snapshots", "A new pin in place of an old one, which is removed in the same step."),
    "remove_pin": _of("Snapshots", "Blocks that no pin needs are removed later."),
    "revoke_tokens": _of(
        "Snapshots", "Ends one token by its CID, or all that were issued until now.", {"revoked": True, "cid": None}
    ),
    "name_of_snapshots": Text(
        "Snapshots",
        "For passkeys whose user handle is not the name itself.",
        {"credentialId": "Y3JlZA"},
        {"found": False},
    ),
    "recovery_terms": _recovery(
        "Without a key (`guardian: null`) the service does not act as a guardian.",
        {},
        {"guardian": _SIGNER, "guardians": [_SIGNER], "waitSeconds": 86400, "channels": ["email"]},
    ),
    "ask_recovery": _recovery(
        "The identifier must be registered for the account's DID, by a request that the DID's key signed, and the"
        " service must be a guardian of the account.",
        {"identifier": _MAIL, "channel": "email", "account": _ACCOUNT, "newOwners": [_SIGNER]},
    ),
    "check_recovery": _recovery(
        "A correct code begins the waiting time, and all e-mail addresses of the DID are told.",
        {"request": "5a" * 16, "code": "271828"},
    ),
    "sign_recovery": _recovery(
        "The service computes what it signs. 409 `recovery_waits` with `Retry-After` before the waiting time is over.",
        {"account": _ACCOUNT, "newOwners": [_SIGNER]},
    ),
    "stop_recovery": _recovery(
        "The mail about the request contains its number.", {"request": "5a" * 16}, {"stopped": False}
    ),
    "export_person": _of(
        "Person", "All rows about the token's DID, by kind. A DID of which nothing is stored gets empty lists."
    ),
    "remove_of_person": _of(
        "Person",
        "The token's arguments name a `credentialId`, an `identifier` with its `channel`, or `everything: true`."
        " Nothing of another DID is removed. The same token again gets the first response and changes nothing.",
    ),
    "add_address": _of(
        "Person",
        "The token's argument is the `attestation` of POST /api/verify/check. The DID, which must be registered, then"
        " holds the address without a credential. The same token again gets the first response.",
    ),
    "ipfs": _of("Snapshots", "`?format=car` returns the snapshot as a CAR file. Nothing is rendered."),
    "ipns": _of("Snapshots", "The signed record that leads from a name to its newest snapshot."),
    "routed_name": _of("Snapshots", "The same record, for clients of HTTP Routing V1."),
    "publish_name": _of(
        "Snapshots", "Takes a record that the key of its name signed, if it is newer than the stored one."
    ),
}
