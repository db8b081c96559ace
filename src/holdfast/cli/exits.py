"""The table of exit codes, which docs/operating.md also contains."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes, which are the same for all commands."""

    OK = 0
    FAILED = 1  # the checked condition is false, or the work failed
    USAGE = 2  # the command line was not understood
    CONFIGURATION = 3  # a setting is missing, wrong or refused
    UNAVAILABLE = 4  # the store or an upstream cannot be reached
    NOT_FOUND = 5  # the thing that was named does not exist
