"""Types for the boot status: interface section "Client-side types", Boot / worker."""

from __future__ import annotations

from typing import Literal

from holdfast.client.types.base import Record

Subsystem = Literal["enclave", "helia", "libp2p"]
SubsystemStatus = Literal["booting", "ready", "failed"]


class BootStatus(Record, frozen=True, kw_only=True):
    """Which subsystems are ready; `ready` is True if all three are.

    Only the enclave is needed to work with a vault. `enclave`: the module runs. `helia`: snapshots can be written
    and read back, in the vault's store and at the configured server, and the last upload did not fail. `libp2p`: the
    packages for pairing are installed, and no libp2p host failed to start.
    """

    enclave: bool
    helia: bool
    libp2p: bool
    ready: bool


class BootEvent(Record, frozen=True, kw_only=True):
    """A change of a subsystem's status."""

    type: Literal["boot-progress"]
    subsystem: Subsystem
    status: SubsystemStatus
    error: str | None = None
