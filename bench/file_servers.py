"""Servers that serve the files of a folder: nginx, and granian with an almost empty application."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.places import ROOT, SCRIPTS, say
from bench.processes import serving
from holdfast.world.processes import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bench.processes import Server

_NGINX = """
daemon off; worker_processes {workers}; pid {own}/nginx.pid; error_log {own}/nginx-errors.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; default_type application/vnd.ipld.raw;
  client_body_temp_path {own}/body; proxy_temp_path {own}/proxy; fastcgi_temp_path {own}/fastcgi;
  uwsgi_temp_path {own}/uwsgi; scgi_temp_path {own}/scgi;
  server {{
    listen 127.0.0.1:{port}{reuse}; root {folder};
    location = /healthz {{ return 200; }}
    location /{cars}/ {{ root {own}; }}
  }}
}}
"""
CARS = "cars"  # the folder of CAR files in the data folder, and its path on nginx
FILE_READ = "granian, file read"
# Granian's best rates, and the application in bench/file_ceiling.py that measures each.
CEILINGS = {
    "granian, the same bytes": ("rsgi", "same"),
    FILE_READ: ("rsgi", "read"),
    "granian, pathsend": ("asgi", "path"),
}


@contextmanager
def nginx(own: Path, folder: Path, workers: int, on: frozenset[int]) -> Iterator[Server | None]:
    """Run nginx with as many workers as the service; None if it is not installed."""
    program = _program()
    if program is None:
        say("nginx is missing, so reading is not compared: python3 tools/programs.py fetches Debian's")
        yield None
        return
    port, config = free_port(), own / "nginx.conf"
    reuse = " reuseport" if workers > 1 else ""  # as with granian, the kernel distributes the connections evenly
    config.write_text(_NGINX.format(own=own, port=port, folder=folder, cars=CARS, workers=workers, reuse=reuse))
    own.chmod(0o711)  # nginx's worker may run as another user
    folder.chmod(0o711)
    command = [program, "-c", str(config), "-p", str(own), "-e", str(own / "nginx.log"), "-g", "user root;"]
    with serving("nginx", command, {}, port, own / "nginx.log", on=on) as server:
        yield server


def _program() -> str | None:
    """Return the installed nginx, or the one that tools/programs.py downloaded."""
    fetched = ROOT / ".setup" / "programs" / "root" / "usr" / "sbin"
    return shutil.which("nginx", path=f"/usr/sbin:/usr/local/sbin:/usr/bin:{fetched}") or shutil.which("nginx")


@contextmanager
def granian(own: Path, folder: Path, name: str, workers: int, on: frozenset[int]) -> Iterator[Server]:
    """Run one of the ceilings."""
    (interface, application), port = CEILINGS[name], free_port()
    command = [
        str(SCRIPTS / "granian"), "--interface", interface, "--host", "127.0.0.1", "--port", str(port), "--no-ws",
        "--workers", str(workers), "--loop", "uvloop", "--no-access-log", "--log-level", "warning",
        f"bench.file_ceiling:{application}",
    ]  # fmt: skip
    environment = {"BENCH_FOLDER": str(folder), "PYTHONPATH": str(ROOT)}
    with serving(name, command, environment, port, own / f"{application}.log", on=on) as server:
        yield server
