"""An idle vault is locked on time by a host timer, because the module checks the clock only when it is called."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.linear_memory import memory_of

from holdfast.enclave import AsyncEnclave, Enclave, PluginCallError, auto_lock, clock

DEVICE = "a name that stands in the database alone"


class Timers:
    """A clock that moves only when the test advances it, and the timers that wait for it."""

    def __init__(self):
        self.now = 1_700_000_000.0
        self.waiting = {}
        self._count = 0

    def after(self, seconds, work):
        self._count += 1
        number = self._count
        self.waiting[number] = (self.now + seconds, work)
        return lambda: self.waiting.pop(number, None) and None

    def pass_time(self, seconds):
        end = self.now + seconds
        while due := sorted((at, number) for number, (at, _) in self.waiting.items() if at <= end):
            self.now, number = due[0]
            self.waiting.pop(number)[1]()
        self.now = end


@pytest.fixture
def timers():
    return Timers()


@pytest.fixture
def vault(timers, credential, key):
    with Enclave(now=lambda: timers.now, after=timers.after) as enclave:
        enclave.call("generate", credential=credential, key=key, device_name=DEVICE)
        yield enclave


def is_open(vault):
    return DEVICE.encode() in memory_of(vault)


def test_the_memory_is_erased_on_time_without_a_call(vault, timers):
    timers.pass_time(899)
    assert is_open(vault)
    timers.pass_time(1.1)
    assert not is_open(vault)
    assert not timers.waiting  # nothing is left to watch


def test_a_clock_set_back_only_delays_and_looking_is_no_activity(vault, timers):
    timers.now -= 3600
    vault.call("status")
    timers.pass_time(3600)
    assert is_open(vault)
    for _ in range(5):
        timers.pass_time(181)  # the timer has checked each time, at least once a minute
    assert not is_open(vault)


def test_what_was_not_saved_is_sealed_first(vault, timers, key):
    row = {"id": "kept", "type": "t", "endpoint": "e"}
    vault.call("exec", filter="resource:services action:create", args=row)
    timers.pass_time(901)
    assert vault.call("unlock", key=key)["success"] is True
    assert vault.call("exec", filter="resource:services action:get", args={"id": "kept"})["result"]["type"] == "t"
    timers.pass_time(901)
    assert not is_open(vault)  # the unlocked vault is watched, too


def test_a_vault_that_never_locks_has_no_timer(vault, timers):
    vault.call("set_auto_lock", idle_seconds=0)
    assert not timers.waiting
    timers.pass_time(10 * 24 * 3600)
    assert is_open(vault)


@pytest.mark.parametrize("end", ["lock", "close", "drop"])
def test_no_timer_outlives_the_open_vault(timers, credential, key, end):
    enclave = Enclave(now=lambda: timers.now, after=timers.after)
    enclave.call("generate", credential=credential, key=key)
    if end == "lock":
        enclave.call("lock")
    elif end == "close":
        enclave.close()
        assert not timers.waiting
    else:
        dropped = weakref.ref(enclave)
        del enclave
        gc.collect()
        assert dropped() is None
    timers.pass_time(120)
    assert not timers.waiting


def test_a_locked_vault_is_not_watched(timers, vault):
    database = vault.call("lock")["database"]
    with Enclave(now=lambda: timers.now, after=timers.after) as second:
        timers.waiting.clear()
        second.call("load", database=database)
        assert not timers.waiting


def test_the_timer_after_a_trap_is_silent(vault, timers, monkeypatch):
    monkeypatch.setattr(clock, "ticks", lambda _seconds: 0)  # ends every call
    timers.pass_time(61)
    assert not timers.waiting
    with pytest.raises(PluginCallError, match="stopped"):
        vault.call("status")


def test_the_real_timer_runs_once_and_can_be_cancelled():
    ran = threading.Event()
    auto_lock.after(0.001, ran.set)
    assert ran.wait(60)
    cancelled = auto_lock.after(3600, ran.clear)
    cancelled()
    assert ran.is_set()


async def test_an_asynchronous_instance_is_watched_too(timers, credential, key):
    async with AsyncEnclave(Enclave(after=timers.after), ThreadPoolExecutor(1)) as enclave:
        await enclave.call("generate", credential=credential, key=key)
        assert timers.waiting
