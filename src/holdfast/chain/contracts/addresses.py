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

# Account 9 of the public "test ... junk" mnemonic. VerifyingPaymaster accepts its signature, on local chains only.
DEV_SPONSOR: Final = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"

VAULT_ACCOUNT = "0xdA3A495ef2239A834cdE311B6973AC2A627c22e3"
APP_FACTORY = "0xAb73DfB925Dc0eA3d9E4bdA63b15267113eBf48B"
DID_REGISTRY = "0xFfD1fBA67a42D8ca259D2dB4dC9A352D438c0C10"
ACCOUNT_HELPER = "0x55Be6e46d217FC2EEd2A5DA162094684290051cd"
SESSION_SBT = "0x918AD6877b93F6A325Fb19082194eAE22CAf641C"
DEV_USDC = "0xcCF768E3F3bC50bdB67b78d5c3003E7Cd8282a3E"
DEV_PAYMASTER = "0x8dCC31528845C158799994667E61a402F3AA04f5"

ADDRESSES: Final[dict[str, str]] = {
    "VaultAccount": VAULT_ACCOUNT,
    "AppFactory": APP_FACTORY,
    "DIDRegistry": DID_REGISTRY,
    "AccountHelper": ACCOUNT_HELPER,
    "SessionSBT": SESSION_SBT,
    "DevUSDC": DEV_USDC,
    "VerifyingPaymaster": DEV_PAYMASTER,
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
