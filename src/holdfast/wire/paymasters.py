"""Who pays for a user operation, by its paymaster."""

from __future__ import annotations


def pays(paymaster: bytes | None) -> bool:
    """Return whether a paymaster pays.

    The zero address is not a paymaster: EntryPoint v0.7 then charges the account.

    Args:
        paymaster: the operation's paymaster, 20 bytes; None if it names none.
    """
    return paymaster is not None and any(paymaster)
