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

VAULT_ACCOUNT = "0x5271Bb5CF6309aE3116e00F318fD4B604984A2f4"
APP_FACTORY = "0x2aFA1621717665C626ca5660cf511746f7452937"
DID_REGISTRY = "0x43F704065009C3604428D331187DA0f13570053F"
ACCOUNT_HELPER = "0x21f1Caa27fE97D5186f2295D18ed1d45C03b2f6D"
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
