"""Deploys our contracts to a chain: plans the deployment and its cost, sends the transactions, and checks each result.

Only missing contracts are deployed, all through the deterministic deployer, so their addresses are the same on all
chains.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain import values
from holdfast.chain.contracts.addresses import DETERMINISTIC_DEPLOYER
from holdfast.chain.contracts.artifacts import PRODUCTION, Contract
from holdfast.chain.contracts.verification import ContractFinding, ContractStatus, inspect
from holdfast.chain.errors import ChainError
from holdfast.chain.sent_transactions import MINED_WITHIN_S, mined, send_raw
from holdfast.chain.transactions import Transaction
from holdfast.wire.encoding import from_hex, to_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eth_keys.datatypes import PrivateKey

    from holdfast.chain.rpc import RpcClient

# The deterministic deployer's published code. Different code at the deployer's address would create our contracts at
# different addresses.
DEPLOYER_CODE = bytes.fromhex(
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182"
    "fd5b8082525050506014600cf3"
)
_GAS_MARGIN_PERCENT = 10


class DeploymentError(ChainError):
    """Our contracts cannot be deployed to this chain, or a contract is missing after its deployment.

    The message says why.
    """


class AnotherChain(DeploymentError):
    """The endpoint serves a chain other than the expected one."""


@dataclass(frozen=True, slots=True)
class DeploymentStep:
    """A contract to deploy, and the estimated gas of its deployment."""

    contract: Contract
    gas: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A planned deployment. Fees are in wei per unit of gas; costs are in wei."""

    chain_id: int
    sender: str
    balance: int
    base_fee: int
    priority_fee: int
    steps: list[DeploymentStep]
    present: list[str]

    @property
    def gas(self) -> int:
        """The estimated gas of all steps together."""
        return sum(step.gas for step in self.steps)

    @property
    def cost(self) -> int:
        """The cost of all steps in wei at the current fees.

        On a rollup, the fee for publishing the data is added.
        """
        return self.gas * (self.base_fee + self.priority_fee)

    @property
    def max_cost(self) -> int:
        """The most that the steps can cost."""
        return sum(with_margin(step.gas) for step in self.steps) * self.max_fee

    @property
    def max_fee(self) -> int:
        """The highest fee per unit of gas that the transactions offer.

        This fee is enough even if the base fee doubles in the meantime.
        """
        return 2 * self.base_fee + self.priority_fee


def with_margin(gas: int) -> int:
    """Return the gas limit for an estimate: the estimate plus ten percent."""
    return gas * (100 + _GAS_MARGIN_PERCENT) // 100


async def make_plan(
    rpc: RpcClient, sender: str, names: Sequence[str] = PRODUCTION, chain_id: int | None = None
) -> Plan:
    """Plan the deployment of the named contracts, for which `sender` pays. `chain_id` is the expected chain, if given.

    Raises AnotherChain, DeploymentError, RpcError.
    """
    served = await rpc.chain_id()
    if chain_id not in (None, served):
        raise AnotherChain(f"the endpoint serves chain {served}, not {chain_id}")
    if await rpc.get_code(DETERMINISTIC_DEPLOYER) != DEPLOYER_CODE:
        raise DeploymentError(f"this chain lacks the deterministic deployer at {DETERMINISTIC_DEPLOYER}")
    findings = await inspect(rpc, names)
    _refuse_other_code(findings)
    missing = [finding.contract for finding in findings if finding.status is ContractStatus.MISSING]
    gas = await asyncio.gather(*(_estimate(rpc, sender, contract) for contract in missing))
    base_fee, priority_fee = await _fees(rpc)
    return Plan(
        chain_id=served,
        sender=sender,
        balance=await rpc.get_balance(sender),
        base_fee=base_fee,
        priority_fee=priority_fee,
        steps=[DeploymentStep(contract, amount) for contract, amount in zip(missing, gas, strict=True)],
        present=[finding.contract.name for finding in findings if finding.status is ContractStatus.EXACT],
    )


async def carry_out(rpc: RpcClient, plan: Plan, key: PrivateKey, on_deployed: Callable[[str, str], None]) -> None:
    """Deploy the plan's steps in order. After each, call `on_deployed` with its name and transaction hash.

    Raises DeploymentError if the sender cannot pay or a contract is not there afterwards; RpcError.
    """
    if plan.balance < plan.max_cost:
        raise DeploymentError(f"{plan.sender} has {plan.balance} wei; this can take up to {plan.max_cost}")
    nonce = values.quantity(await rpc.call("eth_getTransactionCount", [plan.sender, "pending"]))
    for at, step in enumerate(plan.steps):
        sent = await send_raw(rpc, _transaction(plan, step, nonce + at).signed(key))
        await _wait(rpc, step.contract.name, sent)
        if await rpc.get_code(step.contract.address) != step.contract.runtime:
            raise DeploymentError(f"{step.contract.name} does not stand at its address after {sent}")
        on_deployed(step.contract.name, sent)


def _refuse_other_code(findings: list[ContractFinding]) -> None:
    other = [finding.contract.name for finding in findings if finding.status is ContractStatus.OTHER]
    if other:
        raise DeploymentError(f"other code stands at the addresses of {', '.join(other)}: this chain cannot be trusted")


async def _estimate(rpc: RpcClient, sender: str, contract: Contract) -> int:
    call = {"from": sender, "to": DETERMINISTIC_DEPLOYER, "data": to_hex(contract.deployment)}
    return values.quantity(await rpc.call("eth_estimateGas", [call]))


async def _fees(rpc: RpcClient) -> tuple[int, int]:
    block = await rpc.call("eth_getBlockByNumber", ["latest", False])
    if not isinstance(block, dict) or "baseFeePerGas" not in block:
        raise DeploymentError("this chain has no EIP-1559 fees")
    tip = await rpc.call("eth_maxPriorityFeePerGas")
    return values.quantity(block["baseFeePerGas"]), values.quantity(tip)


def _transaction(plan: Plan, step: DeploymentStep, nonce: int) -> Transaction:
    return Transaction(
        chain_id=plan.chain_id,
        nonce=nonce,
        max_priority_fee_per_gas=plan.priority_fee,
        max_fee_per_gas=plan.max_fee,
        gas=with_margin(step.gas),
        to=from_hex(DETERMINISTIC_DEPLOYER),
        data=step.contract.deployment,
    )


async def _wait(rpc: RpcClient, name: str, sent: str) -> None:
    try:
        receipt = await mined(rpc, sent, MINED_WITHIN_S)
    except TimeoutError:
        raise DeploymentError(f"{name}: transaction {sent} is not mined after {MINED_WITHIN_S:.0f} s") from None
    if not receipt.succeeded:
        raise DeploymentError(f"{name}: transaction {sent} failed")
