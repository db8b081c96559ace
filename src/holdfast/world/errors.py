"""Errors of the local development environment. Each message is a single line that tells a person what to do."""

from __future__ import annotations


class WorldError(Exception):
    """The local development environment cannot start or continue."""


class NodeMissing(WorldError):
    """Node.js or npm is not installed."""


class NotALocalChain(WorldError):
    """Development keys were about to be used on a chain that is not a local development chain."""
