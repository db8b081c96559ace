"""The Python host is thread-safe, limits each call's time and memory, starts fast, and loads no damaged cache entry."""

import asyncio
import contextlib
import errno
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import wasmtime
from tests.support.enclave_calls import refused
from tests.support.linear_memory import memory_of
from tests.support.modules import standing_in

from holdfast.enclave import AsyncEnclave, Enclave, PluginCallError, WasmLoadError, clock, instance, module, sources
from holdfast.wire.client_errors import ServiceError


@pytest.fixture
def fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path / "cache"))
    module.load.cache_clear()
    return tmp_path / "cache"


@pytest.fixture
def small(tmp_path):
    """A module that compiles at once; the enclave's own takes seconds."""
    file = tmp_path / "small.wasm"
    file.write_bytes(standing_in())
    return file


@pytest.fixture
def compiled(monkeypatch):
    """Counts the modules that the runtime compiles."""
    made, original = [], wasmtime.Module.__init__
    monkeypatch.setattr(wasmtime.Module, "__init__", lambda *given: made.append(1) or original(*given))
    return made


def test_errors_carry_name_function_and_code(enclave):
    with pytest.raises(PluginCallError) as refused:
        enclave.call("keccak256")
    assert str(refused.value) == "keccak256: a required field is absent: data"
    assert (refused.value.name, refused.value.function_name, refused.value.code) == (
        "PluginCallError",
        "keccak256",
        "missing_field",
    )
    assert isinstance(refused.value, ServiceError)


def test_a_missing_or_broken_module(tmp_path, fresh_cache):
    with pytest.raises(WasmLoadError, match=r"^WASM load failed: "):
        Enclave(tmp_path / "none.wasm")
    broken = tmp_path / "broken.wasm"
    broken.write_bytes(b"\0asm but no more")
    with pytest.raises(WasmLoadError, match=r"^WASM load failed: "):
        Enclave(broken)
    assert fresh_cache.exists()


def test_the_cache_is_private_and_keyed_by_module_and_runtime(fresh_cache, small):
    Enclave(small).close()
    directory = fresh_cache / "compiled"
    assert directory.stat().st_mode & 0o777 == 0o700
    (file,) = directory.iterdir()
    digest = hashlib.sha256(small.read_bytes()).hexdigest()
    from importlib.metadata import version

    assert file.name == f"{digest}-wasmtime-{version('wasmtime')}.cwasm"
    before = file.stat().st_mtime_ns
    module.load.cache_clear()
    Enclave(small).close()
    assert file.stat().st_mtime_ns == before


def test_machine_code_that_others_could_have_written_is_not_run(fresh_cache, small, compiled):
    Enclave(small).close()
    directory = fresh_cache / "compiled"
    (file,) = directory.iterdir()

    def start():
        compiled.clear()
        module.load.cache_clear()
        Enclave(small).close()
        return not compiled

    assert start()
    directory.chmod(0o770)
    assert not start()
    directory.chmod(0o700)
    file.chmod(0o666)
    assert not start()
    assert start(), "the file was not written anew"
    elsewhere = fresh_cache / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert not start()


def test_a_foreign_owner_is_refused(fresh_cache, small, monkeypatch):
    fresh_cache.mkdir()
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.raises(PermissionError):
        module.cache_directory()
    Enclave(small).close()  # compiles in memory instead


def test_a_damaged_cache_is_compiled_again(fresh_cache, small, monkeypatch):
    Enclave(small).close()
    (file,) = (fresh_cache / "compiled").iterdir()
    sound = file.read_bytes()
    middle = len(sound) // 2
    flipped = sound[:middle] + bytes([sound[middle] ^ 1]) + sound[middle + 1 :]
    given = []
    for load in ("deserialize", "deserialize_file"):
        monkeypatch.setattr(wasmtime.Module, load, lambda *_: given.append(1))
    for damaged in (b"not machine code", b"", sound[:-1], flipped):
        file.write_bytes(damaged)
        file.chmod(0o600)
        module.load.cache_clear()
        with Enclave(small) as enclave:
            assert enclave.call("version")["abi"] == 1
        assert not given, "the runtime was given damaged machine code"
        assert len(file.read_bytes()) == len(sound)


def test_a_full_disk_costs_no_second_compilation(fresh_cache, small, compiled, monkeypatch):
    def full(_self, _data):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    Enclave(small).close()
    assert compiled == [1]
    assert list((fresh_cache / "compiled").iterdir()) == []


def test_calls_from_many_threads_take_turns(vault):
    def work(number):
        digest = hashlib.sha256(b"%d" % number).digest()
        signature = vault.call("sign", digest=digest)["signature"]
        point = vault.call("exec", filter="resource:enclaves action:list")["result"][0]["public_key"]
        checked = vault.call("verify_signature", public_key=point, digest=digest, signature=signature)
        return bool(checked["valid"])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))


async def test_the_event_loop_goes_on_during_a_call(credential, key):
    async with await AsyncEnclave.start() as enclave:
        await enclave.call("generate", credential=credential, key=key)
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.001)
                ticks += 1

        ticking = asyncio.create_task(tick())
        await enclave.call("export", password="takes a quarter of a second")
        ticking.cancel()
        assert ticks >= 10
        answers = await asyncio.gather(*(enclave.call("sign", digest=bytes([n]) * 32) for n in range(20)))
        assert len({answer["signature"] for answer in answers}) == 20
    await enclave.aclose()
    with pytest.raises(PluginCallError, match="closed"):
        await enclave.call("version")


def test_after_close_nothing_runs(enclave):
    enclave.close()
    enclave.close()
    with pytest.raises(PluginCallError, match="closed"):
        enclave.call("version")


# Run in a process of its own, in which no other test's instance is alive.
LAST_INSTANCE = """
import gc, threading, time
from holdfast.enclave import Enclave, clock

def ticking():
    return any(thread.name == "enclave-epoch" for thread in threading.enumerate())

clock.TICK_SECONDS = 0.01
enclave = Enclave()
assert ticking(), "the test looks for the wrong thread"
enclave.close()
del enclave
gc.collect()
deadline = time.monotonic() + 60
while ticking():
    assert time.monotonic() < deadline, "the thread goes on"
    time.sleep(0.05)
"""


def test_the_ticking_stops_with_the_last_instance():
    done = subprocess.run([sys.executable, "-c", LAST_INSTANCE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_call_that_would_not_end_is_stopped_and_leaves_nothing_in_memory(monkeypatch, vault):
    monkeypatch.setattr(clock, "ticks", lambda _seconds: 0)
    with pytest.raises(PluginCallError, match="discarded"):
        vault.call("export", password="longer than no time at all")
    assert not any(memory_of(vault))
    with pytest.raises(PluginCallError, match="stopped"):
        vault.call("version")


def test_memory_is_bounded(monkeypatch, credential, key):
    monkeypatch.setattr(instance, "MAX_MEMORY", 32 * 1024 * 1024)
    with Enclave() as enclave:
        enclave.call("generate", credential=credential, key=key)
        answer = enclave.call_raw("export", b'{"password":"needs 64 MiB"}')
        assert b"out_of_memory" in answer
        assert enclave.call("sign", digest=bytes(32))["signature"]  # the instance remains usable


def raising(error):
    def random(_size):
        raise error

    return random


def too_short(size):
    return os.urandom(size - 1)


@pytest.mark.parametrize("random", [raising(OSError("no entropy")), raising(ValueError()), too_short])
def test_without_randomness_nothing_is_made(random, credential, key):
    with Enclave(random=random) as enclave:
        assert refused(enclave, "generate", credential=credential, key=key) == "entropy_unavailable"


def test_answers_are_decoded_as_asked(enclave):
    import msgspec

    class Hash(msgspec.Struct):
        hash: str

    class Wrong(msgspec.Struct):
        digest: str

    assert enclave.call_as(Hash, "keccak256", data=b"").hash.startswith("0xc5d2")
    with pytest.raises(PluginCallError, match="unexpected answer"):
        enclave.call_as(Wrong, "keccak256", data=b"")


def test_large_inputs_and_their_limit(enclave):
    data = bytes(1 << 20)
    assert enclave.call("keccak256", data=data)["hash"].startswith("0x")
    assert refused(enclave, "keccak256", data=bytes(9 << 20)) == "value_too_large"
    assert refused(enclave, "keccak256", data=bytes(40 << 20)) == "input_too_large"


@pytest.mark.parametrize("fields", [{"data": b"x" * 32}, {"data": b"\xd3\x16\x9b"}, {"data": b"y" * 500_000}])
def test_the_encoded_call_is_overwritten_whatever_comes_of_it(enclave, monkeypatch, fields):
    """The second value's base64 form looks like hex, so the host encodes this value again in a different form."""
    lain = []

    def watched(size):
        lain.append(bytearray(size))
        return lain[-1]

    monkeypatch.setattr(sources, "bytearray", watched, raising=False)
    for function in ("keccak256", "no_such_function"):
        with contextlib.suppress(PluginCallError):
            enclave.call(function, **fields)
    enclave.close()
    with contextlib.suppress(PluginCallError):
        enclave.call("keccak256", **fields)
    assert len(lain) >= 3
    assert not any(any(text) for text in lain)


def test_raw_arguments_are_the_callers(enclave):
    arguments = bytearray(b'{"text":"kept"}')
    assert enclave.call_raw("keccak256", arguments) == enclave.call_raw("keccak256", bytes(arguments))
    assert arguments == b'{"text":"kept"}'


_HOLDER = """
import gc, sys
from holdfast.enclave import Enclave
words = "".join(reversed(sys.stdin.readline().strip()))
enclave = Enclave()
for function in ("import", "unlock", "export"):
    try:
        enclave.call(function, data=b"d" * 100_000, key={"kind": "password", "password": words}, password=words)
    except Exception: pass
enclave.close()
gc.collect()
print("ready", flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's /proc")
def test_the_process_holds_no_encoded_password_after_the_calls():
    """The bytes passed to the enclave are erased; only the password's string remains, as Python cannot overwrite it."""
    words = "correct-horse-battery-staple-7141"
    holder = subprocess.Popen([sys.executable, "-c", _HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdin
    assert holder.stdout
    try:
        holder.stdin.write(words[::-1] + "\n")
        holder.stdin.flush()
        assert holder.stdout.readline() == "ready\n"
        memory = memory_of_process(holder.pid)
    finally:
        holder.stdin.write("\n")
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()
    assert memory.count(words.encode()) > 0  # proves that the right memory was searched
    assert memory.count(b'"password":"' + words.encode()) == 0


def memory_of_process(pid):
    """Return the contents of all memory to which a process can write."""
    found = []
    with Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, rights = line.split()[:2]
            start, end = (int(part, 16) for part in span.split("-"))
            if rights.startswith("rw") and end - start < 1 << 30:
                memory.seek(start)
                with contextlib.suppress(OSError):
                    found.append(memory.read(end - start))
    return b"".join(found)
