"""Where the contracts stand on every chain; written by tools/compile_contracts.py, checked by a test."""

from __future__ import annotations

from typing import Final

# The deterministic deployer that most chains carry: CREATE2 with the salt that the call data begins with.
DETERMINISTIC_DEPLOYER: Final = "0x4e59b44847b379578588920cA78FbF26c0B4956C"
# Keccak-256 of "holdfast.contracts.v1".
SALT: Final = bytes.fromhex("4df37cdcd581f7bb93b85d7d7af81e738532899231ca1cbd99852229b2ad4f7a")

ENTRY_POINT_V07: Final = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"
ENTRY_POINT_V08: Final = "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108"

# Account 9 of the public "test ... junk" mnemonic: whose signature DevPaymaster honours, on local chains only.
DEV_SPONSOR: Final = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"

DID_REGISTRY = "0x901594446d24ad20C1Dc486B07eF96655e89Df26"
VAULT_ACCOUNT = "0x0789B127d55ac8D632DB9aEc2146952faDcD6Ac8"
ACCOUNT_HELPER = "0x8B1073DcbDbE9dC8c59Dd2bFd94A9056CCf53321"
SESSION_SBT = "0x5bA863045C4Dc57C882767108B8c24dd0B59AbfF"
APP_FACTORY = "0xA883c3beABBd0d5278cf7F7a9ac5E3c1B0199348"
DEV_USDC = "0x8FDe1CA68Bc3fcee31a34ACE23fb6F1C4d973819"
DEV_PAYMASTER = "0xb771Cb00Bd58435bA5C5Ff2Ca16ab0850519de57"

ADDRESSES: Final[dict[str, str]] = {
    "DIDRegistry": DID_REGISTRY,
    "VaultAccount": VAULT_ACCOUNT,
    "AccountHelper": ACCOUNT_HELPER,
    "SessionSBT": SESSION_SBT,
    "AppFactory": APP_FACTORY,
    "DevUSDC": DEV_USDC,
    "DevPaymaster": DEV_PAYMASTER,
}

# Body of GET /api/contracts unless settings say otherwise (interface, "Default contract set").
DEFAULT_CONTRACT_SET: Final[dict[str, int | str]] = {
    "chainId": 84532,
    "entryPoint": ENTRY_POINT_V07,
    "didRegistry": DID_REGISTRY,
    "accountHelper": ACCOUNT_HELPER,
    "sessionSBT": SESSION_SBT,
    "appFactory": APP_FACTORY,
}
