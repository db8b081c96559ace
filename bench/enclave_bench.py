"""`python -m bench enclave`: the enclave's cost in wasmtime and in Node, compared with native libraries, interleaved.

Wasmtime, Node and the native libraries run interleaved on one machine, so the ratios are comparable. All figures are
the CPU time of all threads of a process, except for the warm start, which is elapsed time. `python -m
bench.enclave_bench --json FILE` writes the figures.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import cbor2
import coincurve
from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from bench.node import running
from bench.report import Report
from holdfast.enclave import Enclave
from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.node import Node
    from bench.options import Options

KEY = {"kind": "secret", "secret": base64.b64encode(hashlib.sha256(b"bench").digest()).decode()}
DIGEST = hashlib.sha256(b"message").digest()
SALT = bytes(16)
PREHASHED = ec.ECDSA(Prehashed(hashes.SHA256()))


@dataclass(frozen=True)
class Figure:
    """The best time on each platform in seconds; None if there is no native version (`native`) or no Node (`node`)."""

    what: str
    enclave: float
    node: float | None
    native: float | None
    native_name: str
    goal: str
    met: bool | None

    @property
    def ratio(self) -> float | None:
        """Return the enclave's speed in wasmtime divided by the native library's speed."""
        return self.native / self.enclave if self.native else None

    @property
    def node_ratio(self) -> float | None:
        """Return the enclave's speed in Node divided by the native library's or, if that is missing, by wasmtime's."""
        return (self.native or self.enclave) / self.node if self.node else None

    def row(self) -> list[str]:
        """Return the values for the columns listed in `HEAD`."""
        met = "" if self.met is None else (" met" if self.met else " MISSED")
        native = f"{_shown(self.native)} {self.native_name}".strip()
        times = [_shown(self.enclave), _shown(self.node), native]
        return [self.what, *times, _ratio(self.ratio), _ratio(self.node_ratio), f"{self.goal}{met}".strip()]


@dataclass(frozen=True)
class Sides:
    """Measures an operation in wasmtime, in Node and in native code, in turn."""

    turns: int
    node: Node | None

    def best(
        self, ours: Callable[[], object], node: str, theirs: Callable[[], object] | None = None, floor: float = 0.05
    ) -> tuple[float, float | None, float | None]:
        """Return the best time on each platform, or None for a missing platform."""
        times: list[list[float]] = [[], [], []]
        for _ in range(self.turns):
            times[0].append(_time(ours, floor))
            if self.node:
                times[1].append(self.node.time(node, floor))
            if theirs:
                times[2].append(_time(theirs, floor))
        own, *others = (min(side, default=None) for side in times)
        assert own is not None
        return own, others[0], others[1]


HEAD = ("operation", "wasmtime", "Node", "native", "wasmtime / native", "Node / native", "goal")


def main(arguments: list[str] | None = None) -> int:
    """Print the table. The exit code is 0 even if a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.enclave_bench", description=__doc__)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--json", type=Path)
    words = parser.parse_args(arguments)
    figures = list(measure(words.turns))
    Report().table(TITLE, HEAD, [figure.row() for figure in figures])
    if words.json:
        words.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=2))
    return 0


TITLE = "The enclave in wasmtime and in Node against native libraries (without a native side: Node / wasmtime)"


def run(options: Options, report: Report) -> None:
    """Run the scenario `enclave`."""
    figures = list(measure(options.alternations))
    report.table(TITLE, HEAD, [figure.row() for figure in figures])
    report.missed += sum(figure.met is False for figure in figures)


def measure(turns: int) -> Iterator[Figure]:
    """Measure the operations one after another."""
    with running(_credential()) as node:
        sides = Sides(turns, node)
        yield from _keys(sides)
        yield from _export(sides)
        yield from _storage(sides)
        start = _warm_start()
        yield Figure("warm start", start, node.start() if node else None, None, "", "≤ 20 ms", start <= 0.020)


def _keys(sides: Sides) -> Iterator[Figure]:
    p256, secp = _vault("P-256"), _vault("secp256k1")
    native_p256, native_secp = ec.generate_private_key(ec.SECP256R1()), coincurve.PrivateKey()
    block = bytes(1024)

    def make_key() -> None:
        p256.call("exec", filter="resource:enclaves action:create", args={"curve": "P-256"})

    times = sides.best(
        lambda: p256.call("sign", digest=DIGEST), "sign_p256", lambda: native_p256.sign(DIGEST, PREHASHED)
    )
    yield Figure("P-256 signature", *times, "cryptography", "≥ 1500/s", 1 / times[0] >= 1500)
    times = sides.best(
        lambda: secp.call("sign", digest=DIGEST),
        "sign_secp256k1",
        lambda: native_secp.sign_recoverable(DIGEST, hasher=None),
    )
    yield Figure("secp256k1 signature", *times, "coincurve", "", None)
    times = sides.best(make_key, "create_key", lambda: ec.generate_private_key(ec.SECP256R1()))
    yield Figure("P-256 key, split, sealed, stored", *times, "cryptography (key alone)", "", None)
    times = sides.best(lambda: p256.call("keccak256", data=block), "keccak", lambda: keccak256(block))
    yield Figure("Keccak-256 of 1 KiB", *times, "eth-hash", "", None)
    p256.close()
    secp.close()


def _export(sides: Sides) -> Iterator[Figure]:
    vault = _vault("P-256")

    def ours() -> None:
        vault.call("export", password="password")

    times = sides.best(ours, "export", lambda: _argon2(4), floor=0)
    yield Figure("export: Argon2id 64 MiB, t 3, p 4", *times, "argon2-cffi (4 threads, summed)", "", None)
    own, node, theirs = sides.best(ours, "export", lambda: _argon2(1), floor=0)
    assert theirs is not None
    met = theirs / own >= 0.75
    yield Figure("the same against one thread", own, node, theirs, "argon2-cffi (p 1)", "≥ 0.75", met)
    vault.close()


def _argon2(lanes: int) -> None:
    hash_secret_raw(b"password", SALT, 3, 65536, lanes, 32, Type.ID)


def _storage(sides: Sides) -> Iterator[Figure]:
    vault = _vault("P-256")
    while _size(vault) < 100 * 1024:
        vault.call("exec", filter="resource:services action:create", args={"type": "t" * 400, "endpoint": "e" * 400})
    image = bytes(100 * 1024)
    cipher = AESGCM(bytes(32))
    times = sides.best(lambda: vault.call("save"), "save", lambda: cipher.encrypt(bytes(12), image, None))
    what, native = f"save of {_size(vault) // 1024} KB", "cryptography (AES-GCM alone)"
    yield Figure(what, *times, native, "≤ 2.5 ms", times[0] <= 0.0025)
    vault.close()
    vault = _vault("P-256")
    for number in range(1000):
        args = {"address": f"0x{number:040x}", "chain_id": "1"}
        vault.call("exec", filter="resource:accounts action:create", args=args)
    database = vault.call("save")["database"]
    times = sides.best(lambda: vault.call("save"), "save_rows")
    yield Figure(f"save with 1,000 rows ({_size(vault) // 1024} KB)", *times, "", "", None)
    vault.close()

    def load() -> None:
        with Enclave() as fresh:
            fresh.call("load", database=database, key=KEY)

    yield Figure("load with 1,000 rows, instance included", *sides.best(load, "load_rows"), "", "", None)


def _size(vault: Enclave) -> int:
    return len(base64.b64decode(vault.call("save")["database"]))


def _time(work: Callable[[], object], floor: float) -> float:
    """Return the CPU seconds per call, averaged over at least `floor` seconds to reduce the influence of other load."""
    started, calls = time.process_time(), 0
    while True:
        work()
        calls += 1
        taken = time.process_time() - started
        if taken >= floor:
            return taken / calls


def _vault(curve: str) -> Enclave:
    enclave = Enclave()
    enclave.call("generate", credential=_credential(), key=KEY, curve=curve)
    return enclave


def _credential() -> bytes:
    numbers = ec.derive_private_key(7, ec.SECP256R1()).public_key().public_numbers()
    key = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}, canonical=True)
    data = bytes(32) + b"\x45" + bytes(4) + bytes(16) + (32).to_bytes(2) + DIGEST + key
    return cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data}, canonical=True)


def _warm_start() -> float:
    """Return the shortest time, in a few new processes, from the end of the imports to the enclave's first response."""
    script = (
        "import time, wasmtime\nfrom holdfast.enclave import Enclave\nstarted = time.perf_counter()\n"
        "Enclave().call('version')\nprint(time.perf_counter() - started)"
    )
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", script]
        return min(float(subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout) for _ in range(5))


def _shown(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e3:.2f} ms" if seconds >= 0.001 else f"{1 / seconds:,.0f}/s"


def _ratio(value: float | None) -> str:
    return f"{value:.3f}" if value else ""


if __name__ == "__main__":
    raise SystemExit(main())
