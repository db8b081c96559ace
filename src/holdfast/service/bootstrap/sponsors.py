"""Builds the service's own sponsor for each chain on which it pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.pseudonyms import Pseudonyms
from holdfast.rules.sponsoring import SponsorLimits
from holdfast.service.bootstrap.upstreams import bundler_client
from holdfast.service.settings.chains import served_chains
from holdfast.service.settings.sponsor import REGISTRY, USDC
from holdfast.settings.rows import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.rules.chains import Chain
    from holdfast.service.clock import Clock
    from holdfast.service.operations.sponsor import Sponsor
    from holdfast.service.settings.secrets import Secrets
    from holdfast.service.settings.values import Settings
    from holdfast.service.store.port import Store
    from holdfast.service.upstreams.chain_rpc import ChainReader
    from holdfast.service.upstreams.pool import ConnectionPools


def sponsors_of(
    settings: Settings,
    secrets: Secrets,
    store: Store,
    readers: Mapping[int, ChainReader],
    pools: ConnectionPools,
    clock: Clock,
) -> dict[int, Sponsor]:
    """Return the sponsors by chain ID, none without a key. Raises SettingError for a chain that cannot have one."""
    if settings.sponsor_key is None:
        return {}
    served = served_chains(settings)
    found = {}
    for chain_id in settings.sponsor_chains:
        chain = served.chains.get(chain_id)
        if chain is None or chain.bundler is None:
            remedy = "name one (HOLDFAST_BUNDLER_URL, or HOLDFAST_CHAIN_FILE for another chain), or leave the chain out"
            raise SettingError(f"HOLDFAST_SPONSOR_CHAINS: the service has no bundler on chain {chain_id}; {remedy}")
        found[chain_id] = _sponsor(settings, secrets, store, chain, readers[chain_id], pools, clock)
    return found


def _sponsor(
    settings: Settings,
    secrets: Secrets,
    store: Store,
    chain: Chain,
    reader: ChainReader,
    pools: ConnectionPools,
    clock: Clock,
) -> Sponsor:
    # Imported here, because only a service with a sponsor has the packages.
    from eth_keys.datatypes import PrivateKey

    from holdfast.chain.approvals import Approver
    from holdfast.chain.contracts.public_keys import PUBLIC_ADDRESSES
    from holdfast.service.operations.commitment_transactions import CommitmentTransactions
    from holdfast.service.operations.sponsor import Sponsor

    assert settings.sponsor_key is not None
    key, limits = PrivateKey(settings.sponsor_key.secret), sponsor_limits(settings, chain)
    approver = Approver(key, chain.chain_id)
    if approver.address in PUBLIC_ADDRESSES and not chain.test_money:
        raise SettingError("HOLDFAST_SPONSOR_KEY: this development key is public; anyone could take the deposit")
    return Sponsor(
        store=store.sponsorships,
        approver=approver,
        chain_id=chain.chain_id,
        entry_point=settings.contract_entry_point,
        limits=limits,
        connect=lambda: reader.client,
        bundler=bundler_client(settings, chain, pools),
        commitments=CommitmentTransactions(store, key, chain.chain_id, lambda: reader.client, clock, limits.max_fee),
        names=Pseudonyms(secrets.pseudonym_key),
        clock=clock,
    )


def sponsor_limits(settings: Settings, chain: Chain) -> SponsorLimits:
    """Return the limits on one chain; a contract without a budget has that of the day."""
    addresses = {REGISTRY: settings.contract_did_registry, USDC: chain.usdc}
    contracts = {
        (addresses.get(name, name) or "").lower(): settings.sponsor_day if gwei is None else gwei
        for name, gwei in settings.sponsor_contracts.items()
    }
    return SponsorLimits(
        did_day=settings.sponsor_did_day,
        day=settings.sponsor_day,
        contracts={name: gwei for name, gwei in contracts.items() if name},
        max_fee=settings.sponsor_max_fee,
        low=settings.sponsor_low,
    )
