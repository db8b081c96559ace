"""Checks a service before a person moves there. Nothing of the vault is sent to it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from holdfast.client.http.endpoint_calls import as_json
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.moving.values import MoveRefused
from holdfast.client.snapshots.tokens import did_of_service
from holdfast.wire import endpoints
from holdfast.wire.hosts import is_this_machine

if TYPE_CHECKING:
    from holdfast.client.async_service_client import AsyncServiceClient


async def check_target(old: AsyncServiceClient, new: AsyncServiceClient) -> None:
    """Refuse a service to which DID and account could not go. Raises MoveRefused, NetworkError.

    It must be a Holdfast that knows itself by the address that the person named, with the same chain and contracts.
    """
    address, did = new.base_url, did_of_service(new.base_url)
    if did == did_of_service(old.base_url):
        raise MoveRefused("same_service", f"{address} is the service that the vault is at")
    if not _is_safe(address):
        raise MoveRefused("insecure_service", f"{address} must begin with https://")
    if (said := await _own_did(new)) != did:
        raise MoveRefused("other_service", f"{address} says that it is {said or 'no Holdfast service'}, not {did}")
    here, there = await old.contracts(), await new.contracts()
    if here.chain_id != there.chain_id:
        raise MoveRefused("other_chain", f"{address} is on chain {there.chain_id}, and the DID on {here.chain_id}")
    if _addresses(here) != _addresses(there):
        raise MoveRefused("other_contracts", f"{address} has other contracts, where the DID and the account are not")


async def check_free(new: AsyncServiceClient, identifier: str, channel: str, did: str) -> None:
    """Refuse a handle that another DID has at the new service. Raises MoveRefused, NetworkError.

    Whose an e-mail address or number is, the code sent to it decides at the registration.
    """
    if channel != "handle":
        return
    found = await new.check_session(identifier)
    if found.available or (await new.check_alias(identifier)).did == did:
        return
    raise MoveRefused("name_taken", f"{identifier} is {found.reason or 'not available'} at {new.base_url}")


def address_of(text: str) -> str:
    """Return the origin of a service that a person names.

    Raises ValueError for text that could show another host than the one that is asked: with user information, a path,
    or letters outside ASCII, which may look like others.
    """
    parts = urlsplit(text.rstrip("/"))
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("the new service's address must begin with https:// and name a host")
    if "@" in parts.netloc or parts.path or parts.query or parts.fragment or not text.isascii():
        raise ValueError("the new service's address is https:// and a host in ASCII, with nothing before or after it")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def host_of(address: str) -> str:
    """Return the host of a service, as a person types it to confirm the move: with the port, if there is one."""
    return urlsplit(address).netloc


def _is_safe(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "https" or is_this_machine(parts.hostname or "")


async def _own_did(service: AsyncServiceClient) -> str | None:
    """Return the DID that the service states as its own."""
    try:
        document = await service._call(endpoints.SERVICE_DID, as_json)  # noqa: SLF001 - no method has this document
    except RequestRefused:
        return None
    return str(document["id"]) if isinstance(document, dict) and "id" in document else None


def _addresses(contracts: msgspec.Struct) -> dict[str, str]:
    return {name: str(value).lower() for name, value in msgspec.structs.asdict(contracts).items()}
