"""The contracts' addresses, equal on every chain; tools/compile_contracts.py writes this file."""

from __future__ import annotations

from typing import Final

# The deterministic deployer that most chains carry: CREATE2 with the salt that the call data begins with.
DETERMINISTIC_DEPLOYER: Final = "0x4e59b44847b379578588920cA78FbF26c0B4956C"
# Keccak-256 of "holdfast.contracts.v1".
SALT: Final = bytes.fromhex("4df37cdcd581f7bb93b85d7d7af81e738532899231ca1cbd99852229b2ad4f7a")

ENTRY_POINT_V07: Final = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"
ENTRY_POINT_V08: Final = "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108"
ENTRY_POINT_V09: Final = "0x433709009B8330FDa32311DF1C2AFA402eD8D009"

# Account 9 of the public "test ... junk" mnemonic. DevPaymaster accepts its signature, on local chains only.
DEV_SPONSOR: Final = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"

VAULT_ACCOUNT = "0x762Be0939e7083bEfDb2ef4b74Ad14088431c467"
APP_FACTORY = "0x88faC706E3a29f4DF41155BDBFAbb1D23dA904aE"
DID_REGISTRY = "0xe72Ee81cbd004a3C31dC6C7150116f8eA7aC1272"
ACCOUNT_HELPER = "0x5324709f4C0a2bd5EAE6607eC06522b7ecb4D6c2"
SESSION_SBT = "0x5bA863045C4Dc57C882767108B8c24dd0B59AbfF"
DEV_USDC = "0x8FDe1CA68Bc3fcee31a34ACE23fb6F1C4d973819"
DEV_PAYMASTER = "0xbC2C8dB1665F4a45FE6A4Bcb61E5d7382633fF3F"

ADDRESSES: Final[dict[str, str]] = {
    "VaultAccount": VAULT_ACCOUNT,
    "AppFactory": APP_FACTORY,
    "DIDRegistry": DID_REGISTRY,
    "AccountHelper": ACCOUNT_HELPER,
    "SessionSBT": SESSION_SBT,
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
