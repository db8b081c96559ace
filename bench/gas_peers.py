"""The peers of `gas`: Safe with its passkey module, OpenZeppelin's and Solady's accounts."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from bench.account_keys import FIELDS
from bench.gas_accounts import NOBODY, Kind, encoded
from bench.gas_chain import compiled, safe_artifact
from holdfast.chain import calls
from holdfast.chain.abi import call_data, encode
from holdfast.chain.entry_points import V07, V09
from holdfast.chain.packed_operations import pack
from holdfast.wire.encoding import from_hex
from holdfast.world.tools import find_node

if TYPE_CHECKING:
    from bench.account_keys import Key
    from bench.gas_chain import GasChain
    from holdfast.chain.entry_points import EntryPoint
    from holdfast.chain.user_operations import UserOperation

_PACKED = "(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)"
_BATCH = b"\x01" + bytes(31)  # ERC-7821: one batch, all calls or none
_PRECOMPILE = 0x100
_ALWAYS = bytes(12)  # Safe's operations may have an earliest and a latest time


@dataclass
class Compiled(Kind):
    """A peer's account, compiled with its factory from bench/peers/accounts/src."""

    def creation(self, key: Key) -> tuple[str, tuple[object, ...]]:
        return "createAccount(bytes32,bytes32)", key.words

    async def prepare(self, chain: GasChain) -> None:
        self.factory = await chain.deploy(compiled(find_node())[f"{type(self).__name__}Factory"])


@dataclass
class Solady(Compiled):
    """Solady's ERC4337, with its WebAuthn library in the place of an owner's address."""

    def execution(self, call: calls.Call) -> bytes:
        return calls.execute(call)

    def signature(self, key: Key, digest: bytes) -> bytes:
        one = key.asserts(digest)
        head = len(one.authenticator_data).to_bytes(2) + one.authenticator_data + one.client_data
        places = one.challenge_index.to_bytes(2) + one.type_index.to_bytes(2)
        return head + places + one.r.to_bytes(32) + one.s.to_bytes(32)


@dataclass
class OpenZeppelin(Compiled):
    """OpenZeppelin's Account with SignerWebAuthn, ERC7739 and ERC7821."""

    def execution(self, call: calls.Call) -> bytes:
        return call_data("execute(bytes32,bytes)", _BATCH, encode(["(address,uint256,bytes)[]"], [[call]]))

    def signature(self, key: Key, digest: bytes) -> bytes:
        return encoded(key.asserts(digest))


@dataclass
class Safe(Kind):
    """Safe with its ERC-4337 module. The owner is the signer that all Safes share, and which keeps the key in them."""

    singleton: str = NOBODY
    module: str = NOBODY
    setup: str = NOBODY
    multi_send: str = NOBODY
    signer: str = NOBODY
    verifiers: int = 0

    async def prepare(self, chain: GasChain) -> None:
        self.singleton = await chain.deploy(safe_artifact("safe-contracts", "Safe"))
        self.factory = await chain.deploy(safe_artifact("safe-contracts", "proxies/SafeProxyFactory"))
        self.multi_send = await chain.deploy(safe_artifact("safe-contracts", "libraries/MultiSend"))
        self.module = await chain.deploy(safe_artifact("safe-4337", "Safe4337Module"), V07.address)
        self.setup = await chain.deploy(safe_artifact("safe-4337", "SafeModuleSetup"))
        self.signer = await chain.deploy(safe_artifact("safe-passkey", "4337/SafeWebAuthnSharedSigner"))
        otherwise = await chain.deploy(safe_artifact("safe-passkey", "verifiers/FCLP256Verifier"))
        self.verifiers = _PRECOMPILE << 160 | int.from_bytes(from_hex(otherwise))

    def creation(self, key: Key) -> tuple[str, tuple[object, ...]]:
        settings = ([self.signer], 1, self.multi_send, self._settings(key), self.module, NOBODY, 0, NOBODY)
        setup = call_data("setup(address[],uint256,address,bytes,address,address,uint256,address)", *settings)
        return "createProxyWithNonce(address,bytes,uint256)", (self.singleton, setup, 0)

    def _settings(self, key: Key) -> bytes:
        """Return the two calls, made in the Safe's name, that enable the module and set the key."""
        enable = call_data("enableModules(address[])", [self.module])
        configure = call_data("configure((uint256,uint256,uint176))", (*key.point, self.verifiers))
        return call_data("multiSend(bytes)", _delegated(self.setup, enable) + _delegated(self.signer, configure))

    def execution(self, call: calls.Call) -> bytes:
        return call_data("executeUserOp(address,uint256,bytes,uint8)", *call, 0)

    async def digest(self, chain: GasChain, operation: UserOperation, entry_point: EntryPoint) -> bytes:  # noqa: ARG002
        packed = astuple(pack(replace(operation, signature=_ALWAYS)))
        return await chain.ask(self.module, f"getOperationHash({_PACKED})", packed)

    def signature(self, key: Key, digest: bytes) -> bytes:
        one = key.asserts(digest)
        parts = (one.authenticator_data, FIELDS.encode(), one.r, one.s)
        signature = encode(("bytes", "bytes", "uint256", "uint256"), parts)
        owner = bytes(12) + from_hex(self.signer) + (65).to_bytes(32) + b"\0"  # a contract's, which follows at 65
        return _ALWAYS + owner + len(signature).to_bytes(32) + signature


def _delegated(to: str, data: bytes) -> bytes:
    return b"\1" + from_hex(to) + bytes(32) + len(data).to_bytes(32) + data


def peers() -> list[Kind]:
    """Return the peers, each with its own version of the entry point."""
    return [
        Safe("Safe, passkey", (V07,)),
        OpenZeppelin("OpenZeppelin, passkey", (V09,)),
        Solady("Solady, passkey", (V07,)),
    ]
