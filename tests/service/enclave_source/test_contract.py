"""What a published module must export before it is served instead of the bundled enclave."""

import pytest
import wasmtime
from tests.support.modules import ANSWER, standing_in

from holdfast.enclave.module import bundled
from holdfast.service.enclave_source import contract
from holdfast.service.enclave_source.contract import Unusable, contract_of

MEASURE = contract_of(standing_in())
EMPTY = b"\0asm\x01\0\0\0"
LOOP = "(loop br 0)"
LIES = ANSWER.replace('"version"', '"version","keccak256"')


@pytest.fixture(scope="module")
def real():
    return bundled().read_bytes()


@pytest.mark.parametrize(("body", "words"), [
    (EMPTY, "lacks _initialize"),
    (bytes(wasmtime.wat2wasm('(module (import "env" "fetch" (func)))')), "imports of the ABI"),
    (bytes(wasmtime.wat2wasm("(module (memory 2000))")), "instantiated"),
    (bytes(wasmtime.wat2wasm('(module (func (export "_initialize") (param i32)))')), "fails in _initialize"),
    *((standing_in(leave_out=name), f"lacks {name}") for name in MEASURE.exports),
    (standing_in(abi=2), "does not say which ABI"),
    (standing_in(abi=2, answer=ANSWER.replace("1", "2")), "speaks ABI 2, not 1"),
    (standing_in(answer="{}"), "does not say which ABI"),
    (standing_in(answer="[" * 9), "no answer"),
    (standing_in(answer=ANSWER.replace("version", "lock")), "lacks version"),
    (standing_in(answer=LIES), "gives a wrong answer for keccak256"),
    (standing_in(call=LOOP), "takes too long"),
    (standing_in(call="unreachable"), "fails in enclave_call"),
])  # fmt: skip
def test_a_module_that_is_no_enclave_is_refused(body, words):
    with pytest.raises(Unusable, match=words):
        contract_of(body).require_all_of(MEASURE)


def test_memory_is_bounded():
    """`memory.grow` beyond the limit returns -1, as on a machine without free memory, and the module stops."""
    greedy = standing_in(call="(if (i32.eq (memory.grow (i32.const 1100)) (i32.const -1)) (then unreachable))")
    with pytest.raises(Unusable, match="fails in enclave_call"):
        contract_of(greedy)


def test_the_real_enclave_passes_and_computes(real):
    found = contract_of(real)
    found.require_all_of(found)
    assert {name for name, _, _ in contract.KNOWN} <= found.functions
