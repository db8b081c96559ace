"""The words of the OpenAPI document: a tag and a description for each endpoint."""

from __future__ import annotations

from typing import NamedTuple

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


class Text(NamedTuple):
    """The words about one endpoint: one of TAGS, and its description in Markdown."""

    tag: str
    about: str


TEXTS: dict[str, Text] = {
    "create_session": Text(
        "Registration",
        (
            "Reserves an identifier for a DID. `handle` alone implies the channel `handle`. A service that does not"
            " take everyone needs a code in the header `Holdfast-Invitation`."
        ),
    ),
    "check_session": Text(
        "Registration",
        "Says whether an identifier is free, taken or reserved. The channel is `handle` unless another is named.",
    ),
    "registration_counters": Text(
        "Registration", "Counts the sessions that the client's address has opened, for life, and all sessions."
    ),
    "send_code": Text(
        "Registration", "Sends a code to an e-mail address or a phone number. A new code invalidates an earlier one."
    ),
    "check_code": Text(
        "Registration",
        (
            "Returns an attestation for a correct code, which POST /api/dids accepts once within five minutes; for any"
            " other code, 200 with `verified: false` and the reason."
        ),
    ),
    "verification_status": Text("Registration", "Says whether and when an address or number was last verified."),
    "register_did": Text(
        "Registration",
        (
            "Registers a DID under an identifier. An e-mail address or number needs an attestation; the transaction is"
            " confirmed in the background."
        ),
    ),
    "lookup_did": Text("Registration", "Returns the registration of a WebAuthn credential, or only `found: false`."),
    "check_alias": Text(
        "Registration",
        "Says whether an alias is free, and if not, which DID holds it. A reserved alias belongs to the registrar.",
    ),
    "contracts": Text("Chain", "The addresses of the contracts that clients use by default."),
    "bundler": Text(
        "Chain",
        (
            "Forwards one JSON-RPC request to the bundler, if its method is allowed: eth_sendUserOperation,"
            " eth_getUserOperationReceipt, eth_estimateUserOperationGas, pm_sponsorUserOperation,"
            " eth_supportedEntryPoints."
        ),
    ),
    "predict_address": Text("Chain", "The address at which the factory will create the account of a P-256 key."),
    "account_state": Text(
        "Chain", "Nonce, DID, activity and key of an account, as the account helper contract reports them."
    ),
    "balance": Text("Chain", "What an address has of ETH or USDC. `balance` is in the token's smallest unit."),
    "chains": Text(
        "Chain",
        (
            "The main chain comes first; `payments` says whether the service has a bundler for the chain. Addresses of"
            " accounts and contracts are the same on every chain."
        ),
    ),
    "bundler_of_chain": Text(
        "Chain", "Like POST /api/bundler, which reaches the main chain's bundler, for any chain of GET /api/chains."
    ),
    "paymaster": Text(
        "Chain",
        "The service's own sponsor as a paymaster service (ERC-7677): pm_getPaymasterStubData and pm_getPaymasterData.",
    ),
    "account_state_on_chain": Text(
        "Chain", "Like GET /api/accounts/state, which reads the main chain, for any chain of GET /api/chains."
    ),
    "indexer": Text(
        "Chain", "Forwards api/dids, api/aliases, api/accounts, api/stats, api/events and health to the indexer."
    ),
    "status": Text("Service", "The chain, its public endpoint, and whether the database answers."),
    "enclave_wasm": Text("Service", "The WebAssembly module that keeps keys and signs in the client."),
    "healthz": Text("Service", "200 as long as the process responds, also without a database."),
    "readyz": Text("Service", "200 if the database reads and writes and the process is not stopping."),
    "openapi": Text("Service", "The document that describes these endpoints, in OpenAPI 3.1."),
    "docs": Text("Service", "A page about these endpoints, from which requests can be sent."),
    "docs_script": Text("Service", "The script of that page."),
    "resolve_did": Text(
        "Chain",
        (
            "`didDocumentMetadata.proven` says what the chain or the DID itself proves. A deactivated DID is 410."
            " `Accept: application/did+ld+json` asks for the document alone."
        ),
    ),
    "service_did": Text("Service", "404 unless the service's DID is `did:web:` and `HOLDFAST_PUBLIC_URL`'s host."),
    "security_txt": Text("Service", "404 unless the operator has set a contact."),
    "robots": Text("Service", "Search engines may read the start page alone."),
    "favicon": Text("Service", "The same file as the pages' logo."),
    "client_file": Text("Service", "Modules with a hash in their names never change."),
    "related_origins": Text("Service", "WebAuthn Level 3, section 5.11."),
    "payment_address": Text("Payments", "Its `Link` header leads browsers to the payment method's manifest."),
    "payment_worker": Text("Payments", "Answers payment requests of shops, within /pay/."),
    "payment_page": Text("Payments", "Shows payee and amount before anything is signed."),
    "payment_script": Text("Payments", "The script of the confirmation page."),
    "payment_style": Text("Payments", "The style of the confirmation page."),
    "payment_icon": Text("Payments", "Shops' pages may show it."),
    "payment_manifest": Text("Payments", "A web app manifest and a payment method manifest in one."),
    "payment_method": Text("Payments", "The payment method manifest, as the interface documents it."),
    "well_known_payment_method": Text("Payments", "Redirects to /pay/payment-method.json."),
    "start_page": Text("Pages", "404 if the operator has switched off the pages."),
    "vault_page": Text("Pages", "Where people open, send, back up and recover."),
    "move_page": Text("Pages", "Asks the new service, and is opened by the page of the one that the person leaves."),
    "connect_page": Text("Pages", "Opened by an app of another origin, which gets the answer as a message."),
    "pages_style": Text("Pages", "The style sheet of all pages."),
    "pages_theme": Text("Pages", "The operator's colour, for light and dark mode."),
    "pages_logo": Text("Pages", "An SVG or PNG file."),
    "workflow": Text("Workflow", "Without an engine, 503."),
    "register_workflow": Text("Workflow", "The engine signs the request that registers it."),
    "run_workflow": Text("Workflow", "The engine signs the request that runs a function."),
    "import_snapshot": Text("Snapshots", "Stores one snapshot, whose blocks are sealed, and pins it."),
    "list_pins": Text("Snapshots", "The pins of the DID that the token is from."),
    "add_pin": Text("Snapshots", "Pins a snapshot whose blocks the service has."),
    "get_pin": Text("Snapshots", "A pin with its status."),
    "replace_pin": Text("Snapshots", "A new pin in place of an old one, which is removed in the same step."),
    "remove_pin": Text("Snapshots", "Blocks that no pin needs are removed later."),
    "revoke_tokens": Text("Snapshots", "Ends one token by its CID, or all that were issued until now."),
    "name_of_snapshots": Text("Snapshots", "For passkeys whose user handle is not the name itself."),
    "recovery_terms": Text("Recovery", "Without a key (`guardian: null`) the service does not act as a guardian."),
    "ask_recovery": Text(
        "Recovery",
        (
            "The identifier must be registered for the account's DID, by a request that the DID's key signed, and the"
            " service must be a guardian of the account."
        ),
    ),
    "check_recovery": Text(
        "Recovery", "A correct code begins the waiting time, and all e-mail addresses of the DID are told."
    ),
    "sign_recovery": Text(
        "Recovery",
        "The service computes what it signs. 409 `recovery_waits` with `Retry-After` before the waiting time is over.",
    ),
    "stop_recovery": Text("Recovery", "The mail about the request contains its number."),
    "export_person": Text(
        "Person", "All rows about the token's DID, by kind. A DID of which nothing is stored gets empty lists."
    ),
    "remove_of_person": Text(
        "Person",
        (
            "The token's arguments name a `credentialId`, an `identifier` with its `channel`, or `everything: true`."
            " Nothing of another DID is removed. The same token again gets the first response and changes nothing."
        ),
    ),
    "add_address": Text(
        "Person",
        (
            "The token's argument is the `attestation` of POST /api/verify/check. The DID, which must be registered,"
            " then holds the address without a credential. The same token again gets the first response."
        ),
    ),
    "ipfs": Text("Snapshots", "`?format=car` returns the snapshot as a CAR file. Nothing is rendered."),
    "ipns": Text("Snapshots", "The signed record that leads from a name to its newest snapshot."),
    "routed_name": Text("Snapshots", "The same record, for clients of HTTP Routing V1."),
    "publish_name": Text(
        "Snapshots", "Takes a record that the key of its name signed, if it is newer than the stored one."
    ),
}
