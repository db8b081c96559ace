"""Compiles contracts/ with the pinned solc-js into the package data of `holdfast.chain`.

Constructor arguments are addresses of contracts compiled earlier, so the sources determine all addresses.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.chain.contracts.create2 import predict_account
from holdfast.rules.chains import DEFAULT_CHAIN_ID
from holdfast.wire.keccak import checksum_address, keccak256

ROOT = Path(__file__).resolve().parent.parent
CONTRACTS = ROOT / "contracts"
DATA = "src/holdfast/chain/contracts"
ENCLAVE = "enclave/src/chains/contract_set.zig"
VECTORS = "vectors/accounts/addresses.json"
DEPLOYER = "0x4e59b44847b379578588920cA78FbF26c0B4956C"
SALT_TEXT = b"holdfast.contracts.v1"
# Account 9 of the public "test ... junk" mnemonic. Only VerifyingPaymaster uses this account, and only on local chains.
DEV_SPONSOR = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"
ENTRY_POINT_V07 = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"
ENTRY_POINT_V08 = "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108"
ENTRY_POINT_V09 = "0x433709009B8330FDa32311DF1C2AFA402eD8D009"

# The generator point of P-256, its double, and two pairs of coordinates that are not on the curve.
POINTS = (
    (
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    ),
    (
        0x7CF27B188D034F7E8A52380304B51AC3C08969E277F21B35A60B48FC47669978,
        0x07775510DB8ED040293D9AC69F7430DBBA7DADE63CE982299E04B79D227873D1,
    ),
    (0, 0),
    ((1 << 256) - 1, 7),
)
SALTS = (0, 1, 255, 1 << 64, 1 << 128, (1 << 256) - 1)


@dataclass(frozen=True)
class Row:
    """A contract's source file, and the address that the constructor takes as an argument, if any."""

    source: str
    argument: str | None = None  # the name of an earlier contract, or an address


ROWS = {
    "VaultAccount": Row("src/VaultAccount.sol"),
    "AppFactory": Row("src/AppFactory.sol", "VaultAccount"),
    "DIDRegistry": Row("src/DIDRegistry.sol", "AppFactory"),
    "AccountHelper": Row("src/AccountHelper.sol", "DIDRegistry"),
    "SessionSBT": Row("src/SessionSBT.sol"),
    "DevUSDC": Row("src/dev/DevUSDC.sol"),
    "VerifyingPaymaster": Row("src/VerifyingPaymaster.sol", DEV_SPONSOR),
}


@dataclass
class Built:
    """The contents of the generated files, by path from the root, and the contracts' addresses."""

    files: dict[str, str] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)


def build() -> Built:
    """Compile and return all files. Raises RuntimeError with solc's messages if the sources do not compile."""
    output = _compile()
    built = Built()
    for name, row in ROWS.items():
        compiled = output["contracts"][row.source][name]
        argument = _argument(row, built)
        init_code = bytes.fromhex(compiled["evm"]["bytecode"]["object"]) + argument
        built.addresses[name] = _address(init_code)
        built.files[f"{DATA}/{name}.json"] = _artifact(name, output["version"], compiled, init_code, argument)
    built.files[f"{DATA}/addresses.py"] = _addresses_module(built.addresses)
    built.files[ENCLAVE] = _enclave_module(built.addresses)
    built.files[VECTORS] = _vectors(built.addresses)
    return built


def _compile() -> dict[str, Any]:
    command = ["node", "compile.mjs"]
    done = subprocess.run(command, cwd=CONTRACTS, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"solc-js did not run (is contracts/node_modules installed?): {done.stderr}")
    output: dict[str, Any] = json.loads(done.stdout)
    if problems := output.get("errors"):  # warnings count as errors
        raise RuntimeError("\n".join(problem["formattedMessage"] for problem in problems))
    return output


def _argument(row: Row, built: Built) -> bytes:
    if row.argument is None:
        return b""
    address = built.addresses.get(row.argument, row.argument)
    return bytes(12) + bytes.fromhex(address.removeprefix("0x"))


def _artifact(name: str, version: str, compiled: dict[str, Any], init_code: bytes, argument: bytes) -> str:
    artifact = {
        "name": name,
        "compiler": version,
        "initCode": "0x" + init_code.hex(),
        "runtime": "0x" + _runtime(compiled["evm"]["deployedBytecode"], argument).hex(),
        "abi": compiled["abi"],
    }
    return json.dumps(artifact, indent=1) + "\n"


def _runtime(deployed: dict[str, Any], argument: bytes) -> bytes:
    """Return the deployed code, in which every immutable has the value of the only constructor argument."""
    code = bytearray.fromhex(deployed["object"])
    references = deployed["immutableReferences"]
    if len(references) != (1 if argument else 0):
        raise RuntimeError("a contract has other immutables than its one constructor argument")
    for place in (place for places in references.values() for place in places):
        code[place["start"] : place["start"] + place["length"]] = argument
    return bytes(code)


def _address(init_code: bytes) -> str:
    deployer = bytes.fromhex(DEPLOYER.removeprefix("0x"))
    return checksum_address(keccak256(b"\xff" + deployer + keccak256(SALT_TEXT) + keccak256(init_code))[12:])


def _vectors(addresses: dict[str, str]) -> str:
    """Return test vectors of account addresses, for implementations in other languages."""
    deployment = {"factory": addresses["AppFactory"], "implementation": addresses["VaultAccount"]}
    rows = [
        {"pubKeyX": hex(x), "pubKeyY": hex(y), "salt": str(salt), "address": predict_account(x, y, salt, **deployment)}
        for x, y in POINTS
        for salt in SALTS
    ]
    claim = "AppFactory.getAddress(pubKeyX, pubKeyY, salt) answers address; coordinates off the curve included"
    return json.dumps({"claim": claim, **deployment, "vectors": rows}, indent=1) + "\n"


def _addresses_module(addresses: dict[str, str]) -> str:
    named = {"VaultAccount": "VAULT_ACCOUNT", "AppFactory": "APP_FACTORY", "DIDRegistry": "DID_REGISTRY"}
    named |= {"AccountHelper": "ACCOUNT_HELPER", "SessionSBT": "SESSION_SBT", "DevUSDC": "DEV_USDC"}
    named |= {"VerifyingPaymaster": "DEV_PAYMASTER"}
    return _MODULE.format(
        deployer=DEPLOYER,
        salt=keccak256(SALT_TEXT).hex(),
        salt_text=SALT_TEXT.decode(),
        v07=ENTRY_POINT_V07,
        v08=ENTRY_POINT_V08,
        v09=ENTRY_POINT_V09,
        chain_id=DEFAULT_CHAIN_ID,
        sponsor=DEV_SPONSOR,
        constants="\n".join(f'{constant} = "{addresses[name]}"' for name, constant in named.items()),
        table="\n".join(f'    "{name}": {constant},' for name, constant in named.items()),
    )


_MODULE = '''"""The contracts' addresses, equal on every chain; tools/compile_contracts.py writes this file."""

from __future__ import annotations

from typing import Final

# The deterministic deployer that most chains carry: CREATE2 with the salt that the call data begins with.
DETERMINISTIC_DEPLOYER: Final = "{deployer}"
# Keccak-256 of "{salt_text}".
SALT: Final = bytes.fromhex("{salt}")

ENTRY_POINT_V07: Final = "{v07}"
ENTRY_POINT_V08: Final = "{v08}"
ENTRY_POINT_V09: Final = "{v09}"

# Account 9 of the public "test ... junk" mnemonic. VerifyingPaymaster accepts its signature, on local chains only.
DEV_SPONSOR: Final = "{sponsor}"

{constants}

ADDRESSES: Final[dict[str, str]] = {{
{table}
}}

# Body of GET /api/contracts unless settings say otherwise (interface, "Default contract set").
DEFAULT_CONTRACT_SET: Final[dict[str, int | str]] = {{
    "chainId": {chain_id},
    "entryPoint": ENTRY_POINT_V07,
    "didRegistry": DID_REGISTRY,
    "accountHelper": ACCOUNT_HELPER,
    "sessionSBT": SESSION_SBT,
    "appFactory": APP_FACTORY,
}}
'''


def _enclave_module(addresses: dict[str, str]) -> str:
    """Return the Zig module with the addresses, as raw bytes, for the enclave."""
    named = {"did_registry": addresses["DIDRegistry"], "app_factory": addresses["AppFactory"]}
    named |= {"vault_account": addresses["VaultAccount"], "entry_point_v07": ENTRY_POINT_V07}
    named |= {"entry_point_v08": ENTRY_POINT_V08, "entry_point_v09": ENTRY_POINT_V09}
    constants = "".join(_zig_address(name, address) for name, address in named.items())
    return f"{_ZIG_HEAD}\n{constants}pub const default_chain_id: u64 = {DEFAULT_CHAIN_ID};\n"


def _zig_address(name: str, address: str) -> str:
    """Return a Zig constant of 20 bytes, with a trailing comma, which makes Zig's formatter keep the row lengths."""
    code = [f"0x{byte:02x}" for byte in bytes.fromhex(address.removeprefix("0x"))]
    rows = "".join(f"    {', '.join(code[at : at + 10])},\n" for at in (0, 10))
    return f"/// {address}\npub const {name} = [20]u8{{\n{rows}}};\n"


_ZIG_HEAD = """//! The contracts' addresses, equal on every chain; tools/compile_contracts.py writes this file.
"""


if __name__ == "__main__":
    from generated import run

    sys.exit(run(lambda: {ROOT / name: text for name, text in build().files.items()}))
