"""Checks in a sandbox whether a module may replace the bundled enclave.

The module must have the ABI version and all exports and functions of the bundled copy. Calls to two functions with
known results show that the module works and does not merely export the right names.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import wasmtime

MAGIC = b"\0asm\x01\0\0\0"  # a core module of version 1 (WebAssembly core specification, section 5.5.16)
MAX_MEMORY = 64 * 1024 * 1024
FUEL = 500_000_000  # instructions, roughly; the real module's self-test needs a fiftieth of that
# Addresses have 32 bits, and enclave_call packs an address and a length into 64 bits (enclave/ABI.md).
_ADDRESS_BITS = 32
_MASK = (1 << _ADDRESS_BITS) - 1
_MAX_ANSWER = 64 * 1024

# Known results: Keccak-256 of the empty string; RFC 6979, appendix A.2.5 (P-256, SHA-256, "sample"), s in its low form.
_P256 = {
    "public_key": "0x0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
    "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299",
    "digest": "0xaf2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf",
    "signature": "0xefd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
    "0834e36ad29a83bf2bc9385e491d6099c8fdf9d1ed67aa7ea5f51f93782857a9",
}
_WRONG = {**_P256, "digest": "0x" + "00" * 31 + "01"}
_EMPTY = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
KNOWN: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("keccak256", {"text": ""}, {"hash": _EMPTY}),
    ("verify_signature", _P256, {"valid": True}),
    ("verify_signature", _WRONG, {"valid": False}),
)


class Unusable(Exception):
    """The module cannot replace the bundled enclave. The message says why, but not where the module is stored."""


@dataclass(frozen=True, slots=True)
class ModuleContract:
    """What a module offers its host: exports, functions and ABI version.

    Attributes:
        abi: version of the calling convention.
        exports: name and type of each export, as text.
        functions: the names in its function table.
    """

    abi: int
    exports: Mapping[str, str]
    functions: frozenset[str]

    def require_all_of(self, measure: ModuleContract) -> None:
        """Raise Unusable if the contract lacks anything that `measure`, of the bundled module, contains."""
        if self.abi != measure.abi:
            raise Unusable(f"the published enclave speaks ABI {self.abi}, not {measure.abi}")
        lacking = [name for name, kind in measure.exports.items() if self.exports.get(name) != kind]
        lacking += sorted(measure.functions - self.functions)
        if lacking:
            raise Unusable(f"the published enclave lacks {', '.join(lacking)}")


def contract_of(body: bytes) -> ModuleContract:
    """Compile the module, run it and return its contract. Raises Unusable.

    Call this in a thread, since it takes CPU time.
    """
    if not body.startswith(MAGIC):  # wasmtime would also accept the text format and components
        raise Unusable("the published enclave is not a WebAssembly module")
    import wasmtime

    config = wasmtime.Config()
    config.parallel_compilation = False  # the other cores serve requests
    config.cranelift_opt_level = "none"
    config.consume_fuel = True
    engine = wasmtime.Engine(config)
    try:
        module = wasmtime.Module(engine, body)
    except wasmtime.WasmtimeError:
        raise Unusable("the published enclave does not compile") from None
    return _Sandbox(engine, module).contract()


class _Sandbox:
    """An instance of the module that has only its two imports, and whose memory and instructions are limited."""

    def __init__(self, engine: wasmtime.Engine, module: wasmtime.Module) -> None:
        import wasmtime

        self._store = wasmtime.Store(engine)
        self._store.set_limits(memory_size=MAX_MEMORY, instances=1, memories=1, tables=1)
        self._store.set_fuel(FUEL)
        self._kinds = {export.name: _kind(export.type) for export in module.exports}
        try:
            self._exports = _imports(engine).instantiate(self._store, module).exports(self._store)
        except (wasmtime.WasmtimeError, wasmtime.Trap):
            raise Unusable("the published enclave cannot be instantiated with the imports of the ABI") from None

    def contract(self) -> ModuleContract:
        """Return the instance's contract after checking the functions whose results are known. Raises Unusable."""
        self._run("_initialize")
        abi = self._run("enclave_abi")
        about = self._executed("version", {})
        names = about.get("functions")
        if type(abi) is not int or not isinstance(names, list) or about.get("abi") != abi:
            raise Unusable("the published enclave does not say which ABI it speaks")
        for name, given, known in KNOWN:
            if name in names and self._executed(name, given) != known:
                raise Unusable(f"the published enclave gives a wrong answer for {name}")
        return ModuleContract(abi, self._kinds, frozenset(map(str, names)))

    def _executed(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        function, text = name.encode(), json.dumps(given).encode()
        start = self._run("enclave_alloc", len(function) + len(text)) & _MASK
        if not start:
            raise Unusable("the published enclave gives no buffer")
        memory = self._memory()
        try:
            memory.write(self._store, function + text, start)
            packed = self._run("enclave_call", start, len(function), start + len(function), len(text))
            address, length = packed >> _ADDRESS_BITS & _MASK, packed & _MASK
            answer = json.loads(memory.read(self._store, address, address + min(length, _MAX_ANSWER)))
        except (ValueError, IndexError, RecursionError):
            answer = None
        if type(answer) is not dict:
            raise Unusable(f"the published enclave gives {name} no answer")
        return answer

    def _memory(self) -> wasmtime.Memory:
        import wasmtime

        memory = self._exports["memory"] if "memory" in self._kinds else None
        if not isinstance(memory, wasmtime.Memory):
            raise Unusable("the published enclave lacks memory")
        return memory

    def _run(self, name: str, *arguments: int) -> int:
        """Call an export. Raises Unusable if it is missing, has another type, or does not terminate."""
        import wasmtime

        function = self._exports[name] if name in self._kinds else None
        if not isinstance(function, wasmtime.Func):
            raise Unusable(f"the published enclave lacks {name}")
        try:
            result = function(self._store, *arguments)
        except (wasmtime.WasmtimeError, wasmtime.Trap, TypeError, ValueError, OverflowError):
            raise Unusable(f"the published enclave fails in {name}, or takes too long") from None
        return result if type(result) is int else 0


def _imports(engine: wasmtime.Engine) -> wasmtime.Linker:
    """Return the two host functions of enclave/ABI.md with no randomness and time 0: no check may depend on them."""
    import wasmtime

    i32, f64 = wasmtime.ValType.i32(), wasmtime.ValType.f64()
    linker = wasmtime.Linker(engine)
    linker.define_func("env", "host_random", wasmtime.FuncType([i32, i32], [i32]), lambda *_: 1)
    linker.define_func("env", "host_now_ms", wasmtime.FuncType([], [f64]), lambda: 0.0)
    return linker


def _kind(kind: Any) -> str:
    """Return an export's type as text.

    For memories, tables and globals the text is only the kind, because their sizes may differ.
    """
    if not hasattr(kind, "params"):
        return type(kind).__name__
    return f"({', '.join(map(str, kind.params))}) -> ({', '.join(map(str, kind.results))})"
