"""The Python host with no free memory, a stuck random generator, a broken clock, a fork, or an unsuitable module."""

import asyncio
import base64
import math
import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import wasmtime
from Crypto.Hash import keccak
from tests.support.enclave_calls import refused
from tests.support.linear_memory import allocate, free, limit_growth, memory_of
from tests.support.soak import amount

from holdfast.enclave import AsyncEnclave, Enclave, PluginCallError, WasmLoadError, clock

BLOCKS = (16 << 20, 1 << 20, 1 << 16, 1 << 12, 256, 16, 1)


def exhaust(enclave):
    limit_growth(enclave)
    for size in BLOCKS:
        while allocate(enclave, size):
            pass


def test_the_answer_to_no_memory_survives_being_overwritten(enclave):
    exhaust(enclave)
    for _ in range(3):  # the host overwrites each response, and this one is not rebuilt for each call
        assert refused(enclave, "version") == "out_of_memory"


def test_an_opening_call_without_memory_says_so(enclave, credential, key):
    exhaust(enclave)  # `status`, which the host calls next, has no memory either
    assert refused(enclave, "generate", credential=credential, key=key) == "out_of_memory"


def fill_up(enclave, seed):
    """Leave only a little memory free, in places that depend on the seed; return the allocated blocks."""
    limit_growth(enclave, seed % 4 << 16)
    chance = random.Random(seed)
    sizes = [size for size in (65536, 30000, 8192, 4096, 1024, 256, 64, 16) for _ in range(chance.randrange(40))]
    taken = [(allocate(enclave, size), size) for size in sizes]
    return [block for block in taken if block[0]]


def test_a_vault_works_again_once_there_is_memory(credential, key):
    """Memory may run out at any point of an action; without memory, even rolling back the transaction fails."""
    refused = 0
    for seed in range(amount(20, 60)):
        with Enclave() as vault:
            vault.call("generate", credential=credential, key=key)
            taken = fill_up(vault, seed)
            refused += b"out_of_memory" in vault.call_raw("exec", b'{"filter":"resource:enclaves action:refresh"}')
            limit_growth(vault, 256 << 20)
            for address, size in taken:
                free(vault, address, size)
            again = vault.call(
                "exec", filter="resource:services action:create", args={"id": "s", "type": "t", "endpoint": "e"}
            )
            assert again.get("error") is None, seed
            assert vault.call("save")["revision"] == 2
    assert refused > 3


@pytest.mark.parametrize("curve", ["P-256", "secp256k1"])
def test_a_stuck_generator_is_no_endless_loop(credential, key, curve):
    with Enclave(random=bytes) as enclave, pytest.raises(PluginCallError) as refused:
        enclave.call("generate", credential=credential, key=key, curve=curve)
    assert refused.value.code == "entropy_unavailable"


@pytest.mark.parametrize("now", [math.nan, math.inf, -math.inf, 1e300, -1.0])
def test_a_clock_that_answers_nonsense_reads_as_1970(credential, key, now):
    with Enclave(now=lambda: now, after=lambda _seconds, _work: lambda: None) as enclave:
        enclave.call("generate", credential=credential, key=key)
        (account,) = enclave.call("exec", filter="resource:accounts action:list")["result"]
        assert account["created_at"] == "1970-01-01T00:00:00.000Z"
        assert enclave.call("export", password="pw")["exported_at"] == "1970-01-01T00:00:00.000Z"


def test_a_clock_that_raises_ends_the_instance(credential, key):
    times = [1.7e9] * 100

    with Enclave(now=times.pop) as enclave:
        enclave.call("generate", credential=credential, key=key)
        times.clear()
        with pytest.raises(PluginCallError, match="discarded"):
            enclave.call("sign", digest=bytes(32))
        assert not any(memory_of(enclave))


def test_an_interrupt_in_a_callback_leaves_the_vault_sound(credential, key):
    interrupts = [False]

    def entropy(size):
        if interrupts[0]:
            raise KeyboardInterrupt
        return os.urandom(size)

    with Enclave(random=entropy) as enclave:
        enclave.call("generate", credential=credential, key=key)
        interrupts[0] = True
        with pytest.raises(KeyboardInterrupt):
            enclave.call("sign", digest=bytes(32))
        interrupts[0] = False
        assert enclave.call("sign", digest=bytes(32))["signature"]


def test_a_vault_that_rested_takes_a_large_input(vault):
    vault.instance.store.set_epoch_deadline(1)  # as it is half a minute after the last call
    time.sleep(2.5 * clock.TICK_SECONDS)
    assert vault.call("keccak256", data=bytes(200_000))["hash"].startswith("0x")


@pytest.mark.parametrize("text", ["0xab", "0XAB", "0xabcdef", "0x++", "AAAA"])
def test_bytes_whose_base64_looks_like_hex_stay_bytes(vault, text):
    data = base64.b64decode(text + "=" * (-len(text) % 4))
    wanted = "0x" + keccak.new(data=data, digest_bits=256).hexdigest()
    for given in (data, bytearray(data)):
        assert vault.call("keccak256", data=given)["hash"] == wanted
    args = {"name": "x", "cid": "y", "transports": [], "credential_id": "nested", "public_key": data}
    made = vault.call("exec", filter="resource:credentials action:create", args=args)
    assert base64.b64decode(made["result"]["public_key"]) == data


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_gets_no_vault_but_may_make_one(credential, key):
    calling, forked = threading.Event(), threading.Event()

    def entropy(size):
        calling.set()
        forked.wait()
        return os.urandom(size)

    with Enclave(random=entropy) as vault, ThreadPoolExecutor(1) as other:
        making = other.submit(vault.call, "generate", credential=credential, key=key)
        calling.wait()  # another thread of the parent is in a call
        child = os.fork()
        if child == 0:
            signal.alarm(120)  # a lock that the parent's other thread holds would never be free
            try:
                _use_enclaves_in_a_child(vault)
                os._exit(0)
            finally:
                os._exit(1)
        forked.set()
        assert os.waitpid(child, 0)[1] == 0
        making.result()
        assert vault.call("sign", digest=bytes(32))["signature"]


def _use_enclaves_in_a_child(vault):
    with pytest.raises(PluginCallError, match="left to the process"):
        vault.call("status")
    assert not any(memory_of(vault))
    Enclave().call("version")
    assert is_ticking()


def is_ticking():
    return any(thread.name == "enclave-epoch" for thread in threading.enumerate())


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_a_closed_vault_gives_its_memory_back(credential, key):
    closed, before = [], 0
    for number in range(4):
        enclave = Enclave()
        enclave.call("generate", credential=credential, key=key)
        enclave.call("export", password="takes 64 MiB")
        enclave.close()
        enclave.close()
        closed.append(enclave)
        before = before or (resident() if number == 0 else 0)
    assert resident() < before + (64 << 20)
    assert memory_of(closed[0]) == b""


STRANGE = '(memory (export "memory") 2) (func (export "_initialize")) (func (export "enclave_free") (param i32 i32))'
ABI = '(func (export "enclave_abi") (result i32) i32.const 1)'
ALLOC = '(func (export "enclave_alloc") (param i32) (result i32) i32.const {})'
CALL = '(func (export "enclave_call") (param i32 i32 i32 i32) (result i64) i64.const {})'


def strange(folder, *parts):
    file = folder / "strange.wasm"
    file.write_bytes(wasmtime.wat2wasm(f"(module {STRANGE} {' '.join(parts)})"))
    return file


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (ABI, ALLOC.format(0), CALL.format(0)),
        (ABI, '(func (export "enclave_alloc") (param i32))', CALL.format(0)),
        ('(func (export "enclave_abi"))', ALLOC.format(8), CALL.format(0)),
        (ABI, ALLOC.format(8)),
    ],
)
def test_a_module_that_is_none_is_not_loaded(tmp_path, parts):
    with pytest.raises(WasmLoadError, match=r"^WASM load failed: "):
        Enclave(strange(tmp_path, *parts))


@pytest.mark.parametrize(
    ("alloc", "packed"), [(-16, 0), (8, -1), (8, 0x7FFFFFFF), (8, 0x0001FFFF_00000002), (8, 0), (8, 0x8_00000001)]
)
def test_a_module_names_no_memory_outside_its_own(tmp_path, alloc, packed):
    module = strange(tmp_path, ABI, ALLOC.format(alloc), CALL.format(packed))
    with pytest.raises(PluginCallError):
        Enclave(module).call("version")


async def test_a_cancelled_call_is_finished_and_the_next_waits_its_turn(credential, key):
    async with await AsyncEnclave.start() as enclave:
        await enclave.call("generate", credential=credential, key=key)
        exporting = asyncio.create_task(enclave.call("export", password="takes a fifth of a second"))
        await asyncio.sleep(0.02)
        exporting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await exporting
        assert (await enclave.call("sign", digest=bytes(32)))["signature"]
