"""What the supervisor starts: `python -m holdfast.service.http_server.worker LIFE SOCKET...`, all file descriptors."""

from __future__ import annotations

import os
import signal
import socket
import sys


def main(words: list[str]) -> None:
    """Serve on the inherited sockets until told to stop, or until the supervisor is gone."""
    # The supervisor passes SIGHUP on at any time; the imports below take longer than all that comes before them.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    from holdfast.service.http_server.process import run
    from holdfast.service.serve import STOP_WITHIN_S, application

    life, *numbers = map(int, words)
    for number in (life, *numbers):
        os.set_inheritable(number, False)  # noqa: FBT003 - the system's own signature
    run(application, [socket.socket(fileno=number) for number in numbers], STOP_WITHIN_S, life)


if __name__ == "__main__":
    main(sys.argv[1:])
