/** Written by `tools/browser_client.py` from `interface/client_types.json`, `src/holdfast/wire/` and its error table; not edited by hand. */

/**
 * @typedef {object} GenerateInput
 * @property {string} credential
 * @property {string} [identifier]
 * @property {"email" | "sms"} [channel]
 * @property {string} [verification_proof]
 */

/**
 * @typedef {object} GenerateOutput
 * @property {string} did
 * @property {number[]} database
 * @property {string} enclave_id
 * @property {string} public_key
 * @property {string} [pubkey_x]
 * @property {string} [pubkey_y]
 * @property {AccountInfo[]} accounts
 */

/**
 * @typedef {object} GenerateOutputWithShares
 * @property {string} did
 * @property {number[]} database
 * @property {string} enclave_id
 * @property {string} public_key
 * @property {string} [pubkey_x]
 * @property {string} [pubkey_y]
 * @property {AccountInfo[]} accounts
 * @property {EncryptedShares} [encrypted_shares]
 * @property {string} [public_key_hex]
 */

/**
 * @typedef {object} GenerateResult
 * @property {boolean} success
 * @property {string} did
 * @property {string} address
 * @property {SharesOfEnclave} shares
 * @property {Record<string, any>} parsed_credential
 */

/**
 * @typedef {object} AccountInfo
 * @property {string} address
 * @property {string} chain_id
 */

/**
 * @typedef {object} Account
 * @property {string} address
 * @property {string} chain_id
 * @property {number} coin_type
 * @property {number} account_index
 * @property {number} address_index
 * @property {string} label
 * @property {boolean} is_default
 */

/**
 * @typedef {object} VerificationMethod
 * @property {string} id
 * @property {string} type
 * @property {string} controller
 * @property {string} public_key
 * @property {string} purpose
 */

/**
 * @typedef {object} Credential
 * @property {string} credential_id
 * @property {string} device_name
 * @property {"platform" | "cross-platform"} device_type
 * @property {string} authenticator
 * @property {string[]} transports
 * @property {string} created_at
 * @property {string} last_used
 */

/**
 * @typedef {object} CreateRegistrationInput
 * @property {string} sender
 * @property {string} alias
 * @property {string} [cid]
 * @property {string} [did]
 */

/**
 * @typedef {object} RegistrationResult
 * @property {UserOp | null} user_op
 * @property {string} did_hash
 * @property {string} alias_hash
 * @property {string} metadata_cid
 * @property {string} call_data
 * @property {string} entry_point
 * @property {string} registry_addr
 */

/**
 * @typedef {object} LoadInput
 * @property {number[] | BufferSource} database
 */

/**
 * @typedef {object} LoadOutput
 * @property {boolean} success
 * @property {string} [did]
 * @property {string} [error]
 */

/**
 * @typedef {object} LockOutput
 * @property {boolean} success
 * @property {number[]} [database]
 * @property {string} [error]
 */

/**
 * @typedef {object} UnlockInput
 * @property {number[] | BufferSource} database
 */

/**
 * @typedef {object} UnlockOutput
 * @property {boolean} success
 * @property {string} [did]
 * @property {string} [error]
 */

/**
 * @typedef {object} StatusOutput
 * @property {boolean} locked
 * @property {boolean} initialized
 * @property {string} [did]
 * @property {string} [last_activity]
 */

/**
 * @typedef {object} QueryInput
 * @property {string} did
 */

/**
 * @typedef {object} QueryOutput
 * @property {string} did
 * @property {string} controller
 * @property {VerificationMethod[]} verification_methods
 * @property {Account[]} accounts
 * @property {Credential[]} credentials
 */

/**
 * @typedef {object} ExecInput
 * @property {string} filter
 * @property {string} [token]
 */

/**
 * @template T
 * @typedef {object} ExecOutput
 * @property {boolean} success
 * @property {T} [result]
 * @property {string} [error]
 */

/**
 * @typedef {object} VaultExportOutput
 * @property {boolean} success
 * @property {number[]} [data]
 * @property {string} [did]
 * @property {string} [exported_at]
 * @property {string} [error]
 */

/**
 * @typedef {object} VaultImportOutput
 * @property {boolean} success
 * @property {string} [did]
 * @property {number} [accounts]
 * @property {number} [credentials]
 * @property {string} [error]
 */

/**
 * @typedef {object} VaultExportOptions
 * @property {string} password
 */

/**
 * @typedef {object} VaultImportOptions
 * @property {number[] | BufferSource} data
 * @property {string} password
 */

/**
 * @typedef {object} UserOp
 * @property {string} sender
 * @property {string} nonce
 * @property {string} callData
 * @property {string} callGasLimit
 * @property {string} verificationGasLimit
 * @property {string} preVerificationGas
 * @property {string} maxFeePerGas
 * @property {string} maxPriorityFeePerGas
 * @property {string} signature
 * @property {string | null} factory
 * @property {string | null} factoryData
 * @property {string | null} paymaster
 * @property {string | null} paymasterVerificationGasLimit
 * @property {string | null} paymasterPostOpGasLimit
 * @property {string | null} paymasterData
 */

/**
 * @typedef {object} SignUserOpResult
 * @property {string} signature
 * @property {string} user_op_hash
 * @property {string} enclave_id
 * @property {string} public_key
 */

/**
 * @typedef {object} GetSmartAccountAddressInput
 * @property {string} pubKeyX
 * @property {string} pubKeyY
 * @property {string | number | bigint} [salt=0]
 * @property {string} [vaultUrl]
 */

/**
 * @typedef {object} GetAccountStateInput
 * @property {string} account
 * @property {string} [vaultUrl]
 */

/**
 * @typedef {object} AccountState
 * @property {string} nonce
 * @property {string} did
 * @property {boolean} isActive
 * @property {string} pubKeyX
 * @property {string} pubKeyY
 */

/** @typedef {"accounts" | "credentials" | "sessions" | "grants" | "enclaves" | "delegations" | "ucans" | "verification_methods" | "services" | "service_configs" | "tokens" | "invocations" | "sync" | "oidc"} Resource */

/**
 * @typedef {object} DelegationOptions
 * @property {string} to
 * @property {string} command
 * @property {number} [expiration]
 * @property {Record<string, any>} [caveats]
 */

/**
 * @typedef {object} InvocationOptions
 * @property {string} command
 * @property {Record<string, any>} [args]
 * @property {string} [token]
 */

/**
 * @typedef {object} SyncInitResult
 * @property {boolean} success
 * @property {string} [session_id]
 * @property {string} [public_key]
 * @property {string} [expires_at]
 * @property {string} [error]
 */

/**
 * @typedef {object} SyncRespondResult
 * @property {boolean} success
 * @property {string} [session_id]
 * @property {string} [public_key]
 * @property {string} [encrypted_vault]
 * @property {string} [status]
 * @property {string} [error]
 */

/**
 * @typedef {object} SyncCompleteResult
 * @property {boolean} success
 * @property {string} [session_id]
 * @property {string} [did]
 * @property {string} [status]
 * @property {string} [error]
 */

/**
 * @typedef {object} PaymentParams
 * @property {string} to
 * @property {string} amount
 * @property {string} token
 * @property {number} chainId
 * @property {string} [ucan]
 * @property {string} [label]
 */

/**
 * @typedef {object} PaymentResult
 * @property {string} txHash
 * @property {string} userOpHash
 * @property {number} chain
 * @property {string} token
 * @property {string} explorerUrl
 */

/**
 * @typedef {object} PaymentHandlerOptions
 * @property {string} [swUrl="/pay/sw.js"]
 * @property {string} [scope="/pay/"]
 * @property {string} [methodUrl]
 */

/**
 * @typedef {object} PaymentHandlerRegistration
 * @property {boolean} success
 * @property {string} scope
 * @property {string} [error]
 */

/** @typedef {number[] | string} BinaryPayload */

/**
 * @typedef {object} EncryptedShares
 * @property {BinaryPayload} public_key
 * @property {string} [public_key_hex]
 * @property {BinaryPayload} val_share
 * @property {BinaryPayload} user_share
 * @property {BinaryPayload} nonce
 * @property {"P-256" | "secp256k1"} curve
 * @property {string} [pubkey_x]
 * @property {string} [pubkey_y]
 */

/**
 * @typedef {object} SignResult
 * @property {number[]} signature
 */

/**
 * @typedef {object} DeriveAddressResult
 * @property {string} address
 * @property {string} chain
 */

/**
 * @typedef {object} MintUcanResult
 * @property {number[]} signed_dag_cbor
 */

/**
 * @typedef {object} ParseWebAuthnResult
 * @property {Record<string, any>} parsed
 */

/** @typedef {(bytes: Uint8Array | number[] | string) => string} Keccak256Fn */

/**
 * @typedef {object} BootStatus
 * @property {boolean} enclave
 * @property {boolean} helia
 * @property {boolean} libp2p
 * @property {boolean} ready
 */

/**
 * @typedef {object} BootEvent
 * @property {"boot-progress"} type
 * @property {"enclave" | "helia" | "libp2p"} subsystem
 * @property {"booting" | "ready" | "failed"} status
 * @property {string} [error]
 */

/**
 * @typedef {object} CreatePasskeyResult
 * @property {string} credential
 * @property {string} credentialId
 */

/**
 * @typedef {object} CreatePasskeyOptions
 * @property {string} [rpName="Holdfast"]
 * @property {string} [rpId]
 * @property {number} [timeout=60000]
 * @property {CredentialDescriptor[]} [excludeCredentials]
 */

/**
 * @typedef {object} DeviceCapabilities
 * @property {boolean} webAuthnSupported
 * @property {boolean} platformAuthAvailable
 * @property {boolean} conditionalMediationAvailable
 */

/**
 * @typedef {object} VaultManifest
 * @property {string | null} rootCid
 * @property {string} did
 * @property {number} updatedAt
 * @property {string} wasmVersion
 * @property {1} schemaVersion
 */

/**
 * @typedef {object} VaultStoreConfig
 * @property {string} [dbName="holdfast-vault"]
 */

/**
 * @typedef {object} VaultSnapshotConfig
 * @property {string} [gatewayUrl]
 */

/** @typedef {"queued" | "pinning" | "pinned" | "failed"} PinStatus */

/**
 * @typedef {object} PinRequest
 * @property {string} cid
 * @property {string} [name]
 * @property {string[]} [origins]
 * @property {Record<string, string>} [meta]
 */

/**
 * @typedef {object} PinInfo
 * @property {string} requestId
 * @property {PinStatus} status
 * @property {string} created
 * @property {PinRequest} pin
 * @property {string[]} delegates
 */

/**
 * @typedef {object} IndexerAlias
 * @property {boolean} found
 * @property {string} [alias_hash]
 * @property {string} [did_hash]
 * @property {boolean} [active]
 * @property {string} [controller]
 */

/**
 * @typedef {object} IndexerDid
 * @property {boolean} found
 * @property {string} [did_hash]
 * @property {string} [controller]
 * @property {string} [metadata_cid]
 * @property {boolean} [active]
 * @property {string} [block_number]
 * @property {string} [tx_hash]
 */

/**
 * @typedef {object} IndexerAccount
 * @property {boolean} found
 * @property {string} [account_address]
 * @property {string} [owner_address]
 * @property {string} [block_number]
 * @property {string} [tx_hash]
 */

/**
 * @typedef {object} IndexerStats
 * @property {number} [total_dids]
 * @property {number} [active_dids]
 * @property {number} [total_aliases]
 * @property {number} [total_accounts]
 * @property {number} [last_block_number]
 */

/**
 * @typedef {object} IndexerHealth
 * @property {boolean} [ok]
 * @property {number} [chain]
 */

/**
 * @typedef {object} SharesOfEnclave
 * @property {BinaryPayload} public_key
 * @property {string} [public_key_hex]
 * @property {BinaryPayload} val_share
 * @property {BinaryPayload} user_share
 * @property {BinaryPayload} nonce
 * @property {"P-256" | "secp256k1"} curve
 * @property {string} [pubkey_x]
 * @property {string} [pubkey_y]
 * @property {string} enclave_id
 */

/**
 * @typedef {object} CredentialDescriptor
 * @property {number[] | BufferSource} id
 * @property {"public-key"} type
 * @property {string[]} [transports]
 */

/**
 * POST /api/bundler: one JSON-RPC 2.0 request.
 *
 * @typedef {object} CallBundler
 * @property {any} [jsonrpc]
 * @property {any} [id]
 * @property {string} method
 * @property {any} [params]
 */

/**
 * GET /api/accounts/predict.
 *
 * @typedef {object} PredictAddress
 * @property {string} pubKeyX
 * @property {string} pubKeyY
 * @property {string} [salt="0"]
 */

/**
 * GET /api/accounts/state.
 *
 * @typedef {object} ReadAccount
 * @property {string} account
 */

/**
 * GET /api/balance.
 *
 * @typedef {object} ReadBalance
 * @property {string} account
 * @property {string} token
 * @property {string} chainId
 */

/**
 * GET /api/dids/lookup.
 *
 * @typedef {object} LookUpDid
 * @property {string} credentialId
 */

/**
 * GET /api/aliases/check.
 *
 * @typedef {object} CheckAlias
 * @property {string} alias
 */

/**
 * POST /api/sessions. If only `handle` is given, the channel is "handle".
 *
 * @typedef {object} OpenSession
 * @property {string} identifier
 * @property {string} channel
 * @property {string} did
 */

/**
 * GET /api/sessions/check.
 *
 * @typedef {object} CheckSession
 * @property {string} identifier
 * @property {string} [channel="handle"]
 */

/**
 * POST /api/verify/send.
 *
 * @typedef {object} SendCode
 * @property {string} identifier
 * @property {string} channel
 */

/**
 * POST /api/verify/check.
 *
 * @typedef {object} CheckCode
 * @property {string} identifier
 * @property {string} channel
 * @property {string} code
 */

/**
 * GET /api/verify/status.
 *
 * @typedef {object} ReadVerification
 * @property {string} identifier
 * @property {string} channel
 */

/**
 * POST /api/recovery/send. Each new owner is a signer in 0x-hex; `account` is by default the DID's.
 *
 * @typedef {object} AskRecovery
 * @property {string} identifier
 * @property {string} channel
 * @property {string[]} newOwners
 * @property {string | null} [account]
 */

/**
 * POST /api/recovery/check.
 *
 * @typedef {object} CheckRecovery
 * @property {string} request
 * @property {string} code
 */

/**
 * POST /api/recovery/sign.
 *
 * @typedef {object} SignRecovery
 * @property {string} account
 * @property {string[]} newOwners
 */

/**
 * POST /api/recovery/stop.
 *
 * @typedef {object} StopRecovery
 * @property {string} request
 */

/**
 * POST /api/dids. A channel other than "handle" needs the attestation from POST /api/verify/check.
 *
 * @typedef {object} RegisterDid
 * @property {string} credentialId
 * @property {string} identifier
 * @property {string} channel
 * @property {string} did
 * @property {string} txHash
 * @property {number | null} [blockNumber]
 * @property {string | null} [smartAccount]
 * @property {any} [attestation]
 */

/**
 * GET /api/contracts.
 *
 * @typedef {object} ContractSet
 * @property {number} chainId
 * @property {string} entryPoint
 * @property {string} didRegistry
 * @property {string} accountHelper
 * @property {string} sessionSBT
 * @property {string} appFactory
 */

/**
 * GET /api/status.
 *
 * @typedef {object} Status
 * @property {string} chain
 * @property {number} chainId
 * @property {string} rpc
 * @property {string} database
 */

/**
 * GET /api/chains, the main chain first.
 *
 * @typedef {object} ServedChains
 * @property {ServedChain[]} chains
 */

/**
 * GET /api/accounts/predict.
 *
 * @typedef {object} PredictedAddress
 * @property {string} address
 */

/**
 * GET /api/balance.
 *
 * @typedef {object} Balance
 * @property {string} balance
 * @property {number} decimals
 * @property {string} symbol
 * @property {string} formatted
 */

/**
 * GET /api/sessions/status.
 *
 * @typedef {object} RegistrationCounters
 * @property {number} ip_registrations
 * @property {number} ip_limit
 * @property {number} total_registrations
 */

/**
 * GET /api/dids/lookup, found.
 *
 * @typedef {object} DidRecord
 * @property {boolean} found
 * @property {string} identifier
 * @property {string} channel
 * @property {string} did
 * @property {string} txHash
 * @property {number | null} blockNumber
 * @property {string | null} smartAccount
 * @property {string} createdAt
 */

/**
 * GET /api/dids/lookup, not found.
 *
 * @typedef {object} DidNotFound
 * @property {boolean} found
 */

/**
 * GET /api/aliases/check. `did` is present only if the alias is registered.
 *
 * @typedef {object} AliasAvailability
 * @property {boolean} available
 * @property {string} [did]
 */

/**
 * POST /api/sessions.
 *
 * @typedef {object} SessionCreated
 * @property {boolean} ok
 * @property {string} identifier
 * @property {string} channel
 * @property {string} did
 */

/**
 * GET /api/sessions/check. `message` is there only when the reason is "reserved".
 *
 * @typedef {object} Availability
 * @property {boolean} available
 * @property {string | null} reason
 * @property {string} [message]
 */

/**
 * POST /api/verify/send.
 *
 * @typedef {object} CodeSent
 * @property {boolean} ok
 * @property {string} channel
 */

/**
 * POST /api/verify/check, correct code.
 *
 * @typedef {object} CodeAccepted
 * @property {boolean} ok
 * @property {boolean} verified
 * @property {Attestation} attestation
 */

/**
 * POST /api/verify/check, any other code.
 *
 * @typedef {object} CodeRefused
 * @property {boolean} ok
 * @property {boolean} verified
 * @property {string} message
 */

/**
 * GET /api/verify/status.
 *
 * @typedef {object} VerificationStatus
 * @property {string} identifier
 * @property {string} channel
 * @property {boolean} verified
 * @property {string | null} verifiedAt
 */

/**
 * GET /api/recovery.
 *
 * @typedef {object} RecoveryTerms
 * @property {string | null} guardian
 * @property {string[]} guardians
 * @property {number} waitSeconds
 * @property {string[]} channels
 */

/**
 * POST /api/recovery/send. `request` identifies what the code confirms.
 *
 * @typedef {object} RecoveryCodeSent
 * @property {boolean} ok
 * @property {string} channel
 * @property {string} request
 */

/**
 * POST /api/recovery/check with a correct code. The service signs from `ready_at` on (ISO 8601).
 *
 * @typedef {object} RecoveryConfirmed
 * @property {boolean} ok
 * @property {boolean} verified
 * @property {string} account
 * @property {string} readyAt
 */

/**
 * POST /api/recovery/sign: the service's signature as a guardian, in 0x-hex, for the recovery of this number.
 *
 * @typedef {object} RecoverySigned
 * @property {number} nonce
 * @property {string} signer
 * @property {string} signature
 */

/**
 * POST /api/recovery/stop. `stopped` is false if there was nothing to stop.
 *
 * @typedef {object} RecoveryStopped
 * @property {boolean} stopped
 */

/**
 * POST /api/dids.
 *
 * @typedef {object} DidRegistered
 * @property {boolean} ok
 * @property {string} identifier
 * @property {string} channel
 * @property {string} txHash
 */

/**
 * The attestation that POST /api/verify/check returns and POST /api/dids accepts.
 *
 * @typedef {object} Attestation
 * @property {string} identifier
 * @property {string} channel
 * @property {string} verified_at
 * @property {string} expires_at
 * @property {string} registrar
 * @property {string} signature
 */

/**
 * Every error body.
 *
 * @typedef {object} ErrorBody
 * @property {string} error
 */

/**
 * A chain in the response of GET /api/chains.
 *
 * @typedef {object} ServedChain
 * @property {number} chainId
 * @property {string} name
 * @property {boolean} main
 * @property {boolean} testMoney
 * @property {string} rpc
 * @property {string} explorer
 * @property {string | null} usdc
 * @property {boolean} payments
 */

/** @typedef {"Invalid Idempotency-Key. Must be 1 to 128 visible ASCII characters" | "Invalid JSON-RPC request" | "Invalid account: expected 20-byte hex address" | "Invalid channel. Must be \"handle\", \"email\" or \"sms\"" | "Invalid channel. Must be \"sms\" or \"email\"" | "Invalid credentialId" | "Invalid did" | "Invalid identifier" | "Invalid newOwners: expected 1 to 16 different signers in hex" | "Invalid pubKeyX or pubKeyY: expected uint256 hex string" | "Invalid salt: expected uint256 decimal or hex string" | "Invalid txHash" | "Missing query parameter: account" | "Missing query parameter: alias" | "Missing query parameter: credentialId" | "Missing query parameter: identifier" | "Missing query parameters: account, token, chainId" | "Missing query parameters: identifier, channel" | "Missing query parameters: pubKeyX, pubKeyY" | "Missing required field: request" | "Missing required fields: account, newOwners" | "Missing required fields: credentialId, identifier, channel, did, txHash" | "Missing required fields: identifier, channel" | "Missing required fields: identifier, channel, code" | "Missing required fields: identifier, channel, did" | "Missing required fields: identifier, channel, newOwners" | "Missing required fields: request, code" | "USDC not available on this chain" | "Unsupported chainId" | "Unsupported country" | "Unsupported token. Supported: ETH, USDC" | "ambiguous_request" | "attestation_expired" | "attestation_invalid" | "attestation_mismatch" | "attestation_required" | "attestation_used" | "body_too_large" | "bundler_error" | "bundler_not_configured" | "credential_already_registered" | "credential_limit_reached" | "database_unavailable" | "email_send_failed" | "foreign_page" | "guardian_not_configured" | "idempotency_key_in_use" | "idempotency_key_reused" | "identifier_reserved" | "identifier_taken" | "indexer_error" | "indexer_not_configured" | "internal_error" | "invitation_invalid" | "invitation_required" | "ip_limit_reached" | "method_not_allowed" | "not_found" | "rate_limited" | "recovery_not_found" | "recovery_not_possible" | "recovery_waits" | "registration_closed" | "registration_unproven" | "request_timeout" | "rpc_error" | "rpc_method_not_allowed" | "service_busy" | "sms_check_failed" | "sms_send_failed" | "too_many_responses" | "workflow_not_configured"} ErrorCode the service's error texts */

/**
 * One request's form.
 *
 * @typedef {{method: string, path: string, reads: "json" | "text" | "bytes", keyed?: boolean, form?: string}} Endpoint
 *   keyed: the request is sent with an `Idempotency-Key`, because the service stores its response; form: which of
 *   generated/forms.js the response must have
 */

export {};
