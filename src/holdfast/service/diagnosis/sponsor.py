"""The check of the service's own sponsor in `holdfast check`: its paymaster and its deposit on each chain."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.chain.errors import RpcError
from holdfast.rules.sponsoring import GWEI, in_ether
from holdfast.service.diagnosis.upstreams import CHECK_WITHIN_S
from holdfast.service.store.findings import Finding

if TYPE_CHECKING:
    from holdfast.service.operations.sponsor import Sponsor
    from holdfast.service.operations.sponsor_settlement import SponsorSettlement


async def see_sponsors(sponsors: SponsorSettlement) -> list[Finding]:
    """Return a finding for each chain on which the service pays."""
    return list(await asyncio.gather(*map(_see, sponsors.sponsors.values())))


async def _see(sponsor: Sponsor) -> Finding:
    subject = f"sponsor {sponsor.chain_id}"
    try:
        async with asyncio.timeout(CHECK_WITHIN_S):
            return await _looked(sponsor, subject)
    except (RpcError, TimeoutError):
        return Finding(subject, "error", "its deposit cannot be read", "see the chain")


async def _looked(sponsor: Sponsor, subject: str) -> Finding:
    # Imported here, because only a service with a sponsor has the packages.
    from holdfast.chain.contracts.paymasters import paymaster_of
    from holdfast.service.operations.sponsor_settlement import funds_of

    contract = paymaster_of(sponsor.approver.address)
    if await sponsor.connect().get_code(contract.address) != contract.runtime:
        return Finding(subject, "error", f"no paymaster at {contract.address}", "holdfast sponsor deploy")
    funds = await funds_of(sponsor)
    found = f"deposit {in_ether(funds.deposit // GWEI)}, address {in_ether(funds.coin // GWEI)}"
    if funds.deposit < sponsor.limits.low * GWEI:
        return Finding(subject, "error", f"{found}: low (HOLDFAST_SPONSOR_LOW)", "holdfast sponsor deposit ETH")
    if funds.coin == 0:
        fix = f"send some ETH to {sponsor.approver.address}"
        return Finding(subject, "note", f"{found}: registrations with a handle take two operations", fix)
    return Finding(subject, "ok", found)
