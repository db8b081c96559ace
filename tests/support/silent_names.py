"""Makes look-ups of names below `.silent` wait, as if the domain's name servers did not respond."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
