"""The chains that the service serves, with the endpoints that its settings name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.rules.chains import BALANCE_CHAIN_IDS, CHAINS
from holdfast.settings.chain_file import known_chains

if TYPE_CHECKING:
    from holdfast.rules.chains import Chain
    from holdfast.service.settings.values import Settings


@dataclass(frozen=True, slots=True)
class Served:
    """The chains of a service.

    Attributes:
        main: the chain of registrations, pages and /api/bundler.
        chains: by ID, the main chain first.
    """

    main: Chain
    chains: dict[int, Chain]


def served_chains(settings: Settings) -> Served:
    """Return the chain HOLDFAST_CHAIN, those whose balances every service reads, and those of the chain file.

    `public_rpc` of each may be published: it contains no key.
    """
    known = known_chains(settings.chain_file)
    others = [*BALANCE_CHAIN_IDS, *(settings.chain_file.chains if settings.chain_file else ())]
    chains = {chain_id: _of_settings(settings, known[chain_id]) for chain_id in (settings.chain, *others)}
    return Served(chains[settings.chain], chains)


def _of_settings(settings: Settings, chain: Chain) -> Chain:
    usdc = {84532: settings.usdc_84532, 8453: settings.usdc_8453}.get(chain.chain_id, chain.usdc)
    chain = replace(chain, usdc=usdc or None)
    if chain.chain_id == settings.chain:
        rpc, public, bundler = settings.rpc_url, settings.public_rpc_url, settings.bundler_url
        return replace(chain, rpc=rpc, public_rpc=public or _without_key(rpc), bundler=bundler)
    rpc = settings.rpc_url_8453 if chain.chain_id == 8453 else chain.rpc  # noqa: PLR2004 - a chain
    return replace(chain, rpc=rpc, public_rpc=chain.public_rpc or _without_key(rpc))


def _without_key(url: str) -> str:
    """Return an endpoint's URL without the parts that may contain an API key."""
    if url in {chain.rpc for chain in CHAINS.values()}:
        return url
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
