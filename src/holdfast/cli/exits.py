"""The table of exit codes, which docs/operating.md and the man page also contain."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes, which are the same for all commands."""

    OK = 0
    FAILED = 1
    USAGE = 2
    CONFIGURATION = 3
    UNAVAILABLE = 4
    NOT_FOUND = 5
    INTERRUPTED = 130


MEANINGS = {
    Exit.OK: "done; the answer is yes",
    Exit.FAILED: "the answer is no, a check found an error, or the work failed",
    Exit.USAGE: "the command line was not understood, or there was no terminal to ask for a yes",
    Exit.CONFIGURATION: "a setting is missing, wrong or refused",
    Exit.UNAVAILABLE: "the database or an upstream cannot be reached, a disk is full, or the service is in the way",
    Exit.NOT_FOUND: "what was named does not exist",
    Exit.INTERRUPTED: "Ctrl-C ended the command",
}
