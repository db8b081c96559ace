"""A host that hangs (its kernel accepts) or is cut off (it does not), and names that no name server resolves."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_ENOUGH_TO_FILL = 4


@contextlib.contextmanager
def hanging_host() -> Iterator[int]:
    """Yield a loopback port whose connections are accepted by the kernel and never answered."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@contextlib.contextmanager
def unreachable_host() -> Iterator[int]:
    """Yield a loopback port that drops every attempt to connect, because its queue of connections is full."""
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(_ENOUGH_TO_FILL):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (name && strstr(name, ".silent")) {
        int file = open(getenv("SILENT_NAMES"), O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (write(file, ".", 1) == 1) sleep(600);
        return EAI_AGAIN;
    }
    if (!real) real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(name, service, hints, found);
}
"""


def silent_names(folder: Path, waiting: Path) -> tuple[str, ...]:
    """Return the command with which another one is started so that these look-ups wait; `waiting` gets a byte for each."""
    source, library = folder / "silent_names.c", folder / "silent_names.so"
    source.write_text(_SOURCE)
    command = [sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source)]
    caches = {"ZIG_LOCAL_CACHE_DIR": str(folder / ".zig")}
    subprocess.run(command, check=True, timeout=400, env={**os.environ, **caches})
    return "env", f"LD_PRELOAD={library}", f"SILENT_NAMES={waiting}"
