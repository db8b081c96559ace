"""WebAssembly modules that stand in for the enclave and implement the part of the ABI that the update tests need."""

from __future__ import annotations

import wasmtime

ANSWER = '{"abi":1,"functions":["version"]}'


def standing_in(number: int = 1, *, abi: int = 1, answer: str = ANSWER, leave_out: str = "", call: str = "") -> bytes:
    """Return a module that runs `call` (WAT) and responds with `answer`; `number` makes otherwise equal modules differ."""
    text = answer.replace('"', '\\"')
    exports = {
        "memory": '(export "memory" (memory 0))',
        "_initialize": '(func (export "_initialize"))',
        "enclave_abi": f'(func (export "enclave_abi") (result i32) i32.const {abi})',
        "enclave_alloc": '(func (export "enclave_alloc") (param i32) (result i32) i32.const 4096)',
        "enclave_free": '(func (export "enclave_free") (param i32 i32))',
        "enclave_call": '(func (export "enclave_call") (param i32 i32 i32 i32) (result i64)'
        f" {call} i64.const {1024 << 32 | len(answer)})",
    }
    kept = " ".join(line for name, line in exports.items() if name != leave_out)
    data = f'(data (i32.const 1024) "{text}") (data (i32.const 0) "{number}")'
    return bytes(wasmtime.wat2wasm(f"(module (memory 1) {data} {kept})"))
