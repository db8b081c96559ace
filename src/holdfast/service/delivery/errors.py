"""Errors from e-mail and SMS providers."""

from __future__ import annotations


class DeliveryError(Exception):
    """A provider failed to accept a message or to check a code.

    Attributes:
        kind: one of 'unreachable', 'timeout', 'refused', 'nonsense'. Never contains the recipient or the code.
        perhaps_sent: whether the message may have been sent despite the error. By default True after a timeout and
            after an unreadable response.
        of_recipient: whether others can get theirs.
    """

    def __init__(
        self, kind: str, detail: str = "", *, perhaps_sent: bool | None = None, of_recipient: bool = False
    ) -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        self.of_recipient = of_recipient
        self.perhaps_sent = kind in {"timeout", "nonsense"} if perhaps_sent is None else perhaps_sent
