"""Creates registration sessions for the stores' tests."""

from __future__ import annotations

from holdfast.rules.identifiers import Channel, Identifier
from holdfast.service.store.values import NewSession


def session(name: str) -> NewSession:
    return NewSession(identifier=Identifier(Channel.HANDLE, name, name), did="did:a:1", ip="192.0.2.1", now=1.0)


def admit(_facts: object) -> None:
    return None
