"""The check of the contracts' code in `holdfast check`, on every chain that the service serves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.chain.contracts.addresses import DEFAULT_CONTRACT_SET
from holdfast.chain.contracts.verification import ContractStatus, inspect
from holdfast.chain.errors import RpcError
from holdfast.service.diagnosis.upstreams import CHECK_WITHIN_S
from holdfast.service.store.findings import Finding

if TYPE_CHECKING:
    from holdfast.chain.contracts.verification import ContractFinding
    from holdfast.rules.chains import Chain
    from holdfast.service.settings.values import Settings
    from holdfast.service.upstreams.chain_rpc import ChainReader


async def see_contracts(settings: Settings, chain: Chain, reader: ChainReader, endpoint: Finding) -> Finding:
    """Compare the code at the contracts' addresses with this release's.

    A chain on which the service only reads balances needs no contracts. `endpoint` is the finding about the chain's
    endpoint, without which nothing can be compared.
    """
    main = chain.chain_id == settings.chain
    subject = "contracts" if main else f"contracts on {chain.chain_id}"
    if endpoint.state != "ok":
        return Finding(subject, "note", "not compared: the chain does not answer", "see the chain")
    if foreign := _foreign(settings):
        fix = "compare their code with your own; holdfast contracts verify knows this release's alone"
        return Finding(subject, "note", f"not compared: other addresses are set ({', '.join(foreign)})", fix)
    try:
        async with asyncio.timeout(CHECK_WITHIN_S):
            found, entry_point = await asyncio.gather(
                inspect(reader.client), reader.client.get_code(settings.contract_entry_point)
            )
    except (RpcError, TimeoutError):
        return Finding(subject, "error", "their code cannot be read", "use an endpoint that answers eth_getCode")
    needed = main or chain.bundler is not None
    return _judged(subject, found, has_entry_point=bool(entry_point), needed=needed)


def _foreign(settings: Settings) -> list[str]:
    """Return the settings that name other contracts than this release's."""
    named = {
        "HOLDFAST_CONTRACT_DID_REGISTRY": (settings.contract_did_registry, "didRegistry"),
        "HOLDFAST_CONTRACT_ACCOUNT_HELPER": (settings.contract_account_helper, "accountHelper"),
        "HOLDFAST_CONTRACT_SESSION_SBT": (settings.contract_session_sbt, "sessionSBT"),
        "HOLDFAST_CONTRACT_APP_FACTORY": (settings.contract_app_factory, "appFactory"),
    }
    return [name for name, (given, key) in named.items() if given.lower() != str(DEFAULT_CONTRACT_SET[key]).lower()]


def _judged(subject: str, found: list[ContractFinding], *, has_entry_point: bool, needed: bool) -> Finding:
    other = [each.contract.name for each in found if each.status is ContractStatus.OTHER]
    missing = [each.contract.name for each in found if each.status is ContractStatus.MISSING]
    if other:
        fix = "do not use this chain: only its operators can put other code there"
        return Finding(subject, "error", f"other code stands at the addresses of {', '.join(other)}", fix)
    if not needed:
        return Finding(subject, "ok", f"{len(found) - len(missing)} of {len(found)} there; none needed for balances")
    if not has_entry_point:
        fix = "HOLDFAST_CONTRACT_ENTRY_POINT must name an entry point that this chain has"
        return Finding(subject, "error", "the entry point is not there", fix)
    if missing:
        fix = "holdfast contracts deploy --rpc URL --key-file FILE"
        return Finding(subject, "error", f"missing: {', '.join(missing)}", fix)
    return Finding(subject, "ok", f"all {len(found)} there, exactly this release's code")
