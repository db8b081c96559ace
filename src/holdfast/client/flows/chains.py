"""What a client knows about a chain: its own facts about known chains, and the service's about any other."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.client.http.refusals import RequestRefused
from holdfast.rules.chains import CHAINS, known_money_text, money_text
from holdfast.wire.client_errors import ServiceError

if TYPE_CHECKING:
    from holdfast.client.async_service_client import AsyncServiceClient
    from holdfast.client.endpoint_methods import EndpointMethods
    from holdfast.wire.models import ServedChain


async def served_chain(client: AsyncServiceClient, chain_id: int) -> ServedChain | None:
    """Return the service's row for a chain; None if it does not serve the chain. Raises NetworkError."""
    return next((chain for chain in await served_chains(client) if chain.chain_id == chain_id), None)


async def served_chains(client: EndpointMethods) -> tuple[ServedChain, ...]:
    """Return the rows of the service's chains, none of an older service, which has one. Raises NetworkError."""
    with suppress(RequestRefused):
        return tuple((await client.chains()).chains)
    return ()


async def explorer_of(client: AsyncServiceClient, chain_id: int) -> str:
    """Return the URL of the chain's explorer; "" if none exists. The service is asked about unknown chains alone."""
    if chain_id in CHAINS:
        return CHAINS[chain_id].explorer
    with suppress(ServiceError):  # what was paid counts as paid, though its page is not known
        served = await served_chain(client, chain_id)
        if served is not None and served.explorer.startswith(("https://", "http://")):
            return served.explorer
    return ""


async def money_of(client: AsyncServiceClient, chain_id: int) -> str:
    """Return the chain's name, and that its money is test money if it is, for people to read next to an amount."""
    chain = None if chain_id in CHAINS else await served_chain(client, chain_id)
    return money_text(chain.name, chain_id, test_money=chain.test_money) if chain else known_money_text(chain_id)
