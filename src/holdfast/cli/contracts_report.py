"""The output of `holdfast contracts`, for machines and for people: deployment plans and the results of verification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.chain.contracts.verification import ContractStatus
from holdfast.client.flows.amounts import wei_text
from holdfast.rules.chains import known_money_text

if TYPE_CHECKING:
    from holdfast.chain.contracts.deployment import Plan
    from holdfast.chain.contracts.verification import ContractFinding


def findings_value(chain_id: int, findings: list[ContractFinding], present: dict[str, bool]) -> dict[str, object]:
    """Return the JSON of `verify`. `present` says for each entry point's version whether it is deployed."""
    rows = {f.contract.name: {"address": f.contract.address, "status": f.status} for f in findings}
    exact = all(finding.status is ContractStatus.EXACT for finding in findings)
    return {"chainId": chain_id, "exact": exact, "contracts": rows, "entryPoints": present}


def findings_text(value: dict[str, Any]) -> str:
    """Return the facts as text for a person."""
    lines = [f"Chain {value['chainId']}"]
    lines += [f"  {row['status']:8} {name:14} {row['address']}" for name, row in value["contracts"].items()]
    lines += [f"  {'present' if there else 'missing':8} EntryPoint {v}" for v, there in value["entryPoints"].items()]
    lines.append("Exactly our code." if value["exact"] else "Not exactly our code.")
    missing = [version for version, there in value["entryPoints"].items() if not there]
    if missing:
        lines.append(f"Accounts on this chain cannot use EntryPoint {', '.join(missing)}.")
    return "\n".join(lines)


def plan_value(plan: Plan) -> dict[str, object]:
    """Return the JSON value of a plan. Amounts in wei are decimal strings, because parsers may round large numbers."""
    return {
        "chainId": plan.chain_id,
        "sender": plan.sender,
        "balanceWei": str(plan.balance),
        "present": plan.present,
        "missing": {step.contract.name: {"address": step.contract.address, "gas": step.gas} for step in plan.steps},
        "gas": plan.gas,
        "costWei": str(plan.cost),
        "maxCostWei": str(plan.max_cost),
    }


def plan_text(plan: Plan) -> str:
    """Return the facts as text for a person."""
    money = known_money_text(plan.chain_id)
    lines = [f"On {money}, paid by {plan.sender} ({wei_text(plan.balance)})"]
    lines += [f"  present  {name}" for name in plan.present]
    lines += [f"  deploy   {s.contract.name:14} {s.contract.address}  {s.gas:>9,} gas" for s in plan.steps]
    if plan.steps:
        lines.append(f"  in all {plan.gas:,} gas: {wei_text(plan.cost)}, at most {wei_text(plan.max_cost)}")
        lines.append("  (a rollup adds its fee for publishing the data)")
    return "\n".join(lines)
