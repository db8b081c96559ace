"""Gas that clients set or add without an estimate. `browser/src/generated/gas.ts` states the same figures.

An estimate with a raw placeholder signature covers the whole verification. Other placeholders need more
`verification_gas_limit` than the estimate, for the code that they do not reach. docs/contracts.md has what is used.
"""

from __future__ import annotations

# For an invalid signature the account does not look up the key: one slot of storage, and the primary key.
BY_NAME = 10_000
# After the first of two invalid signatures the account does not verify the second, which takes up to 300,000 gas
# without the precompile.
SECOND_P256 = 320_000
# A placeholder assertion fails the challenge check before the curve arithmetic.
WEBAUTHN_WITH_PRECOMPILE = 60_000
WEBAUTHN = 600_000

# Limits of an exit: the entry point verifies with at most this much for each key, without the precompile, and for a
# deployment.
VERIFICATION = 120_000
WITHOUT_PRECOMPILE = 300_000
DEPLOYMENT = 200_000
# What the entry point uses in addition to the account's code, and a transaction's start.
ENTRY_POINT = 120_000
# The most that one byte of call data costs (EIP-7623).
BYTE = 40
# Of an estimate.
PERCENT = 110
# What a call within an operation pays for sending coin to an address that does not exist yet. A transaction does not.
NEW_ADDRESS = 25_000
# The amount that is sent in the end has up to a dozen bytes more that are not zero than the one wei of the estimate.
MORE_CALL_DATA = 1_000
