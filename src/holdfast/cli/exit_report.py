"""What `holdfast vault exit` shows: the key that signs, the account's owners, what is moved, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from holdfast.chain.signers import kind_of
from holdfast.client.account.values import signer_text
from holdfast.client.flows.amounts import wei_text
from holdfast.rules.chains import known_money_text
from holdfast.wire.encoding import utc_text

if TYPE_CHECKING:
    from holdfast.chain.account_reads import Owner
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.flows.accounts import AccountKey
    from holdfast.client.leaving.moves import Holdings
    from holdfast.client.leaving.plan import Plan
    from holdfast.client.leaving.reading import Standing


class Known(TypedDict):
    """What is known without a node, with the names of its JSON form. A passkey that signs alone has no DID."""

    did: str | None
    key: str
    account: str
    openedBy: list[dict[str, str]]


def known_of(key: AccountKey, vault: Vault | None = None) -> Known:
    """Return the key and its account, and of a vault the DID and what opens it."""
    opened_by = [{"kind": wrap["kind"], "id": wrap["id"]} for wrap in vault.keys().wraps] if vault else []
    did = vault.query().did if vault else None
    return {"did": did, "key": signer_text(key.signer), "account": key.address, "openedBy": opened_by}


def known_text(value: Known) -> str:
    """Return the facts as text for a person."""
    ways = [f"opened by {wrap['kind']} {wrap['id']}" for wrap in value["openedBy"]]
    names = [value["did"], f"key {value['key']}"] if value["did"] else [f"passkey {value['key']}"]
    return "\n".join([*names, *ways, f"account {value['account']}"])


def standing_value(standing: Standing) -> dict[str, object]:
    """Return what the node says of the account."""
    account, held, owners = standing.account, standing.held, standing.owners
    return {
        "chainId": account.chain_id,
        "deployed": account.deployed,
        "obstacle": standing.obstacle,
        "owners": None if owners is None else [_owner_value(owner) for owner in owners],
        "coin": str(held.coin),
        "deposit": str(held.deposit),
        "tokens": [{"address": token.address, "balance": str(token.balance)} for token in held.tokens],
        "nfts": [{"contract": nft.contract, "id": str(nft.token_id)} for nft in held.nfts],
        "holdsDid": held.did_hash is not None,
    }


def standing_text(standing: Standing) -> str:
    """Return the facts as text for a person."""
    account, held = standing.account, standing.held
    state = "exists" if account.deployed else "does not exist yet: its first operation creates it"
    lines = [f"on {known_money_text(account.chain_id)}: the account {state}"]
    if standing.owners is None:
        lines.append("owners: the node does not show the account's history")
    own = "this passkey" if account.passkey else "this vault's key"
    lines += [_owner_text(owner, account.key.signer, own) for owner in standing.owners or ()]
    lines += [standing.obstacle] if standing.obstacle else []
    lines += [f"has {text}" for text in _held_texts(held)]
    return "\n".join(lines)


def _held_texts(held: Holdings) -> list[str]:
    return [
        *(token.text for token in held.tokens if token.balance),
        *(nft.text for nft in held.nfts),
        *(["a DID"] if held.did_hash else []),
        *([f"{wei_text(held.deposit)} deposited at the entry point"] if held.deposit else []),
        *([wei_text(held.coin)] if held.coin else []),
    ] or ["nothing"]


def plan_value(plan: Plan) -> dict[str, object]:
    """Return what is signed, and what it may cost."""
    return {
        "moves": [move.to_json() for move in plan.moves],
        "payer": plan.payer,
        "sender": plan.transaction.sender if plan.transaction else None,
        "maxCost": str(plan.max_cost),
        "userOpHash": "0x" + plan.hash.hex(),
    }


def plan_text(plan: Plan) -> str:
    """Return the facts as text for a person."""
    return "\n".join(
        ["in one operation, all or nothing:", *(f"  {move.text}" for move in plan.moves), _fees_text(plan)]
    )


def _fees_text(plan: Plan) -> str:
    if plan.payer == "paymaster":
        return "a paymaster pays the fees"
    if plan.transaction is not None:
        return f"fees: at most {wei_text(plan.max_cost)}, paid by {plan.transaction.sender}"
    rest = "what they leave stays at the entry point"
    return f"fees: at most {wei_text(plan.max_cost)}, paid by the account; {rest}"


def _owner_value(owner: Owner) -> dict[str, object]:
    signer = signer_text(owner.signer)
    return {"signer": signer, "kind": kind_of(owner.signer), "until": owner.expiry, "primary": owner.is_primary}


def _owner_text(owner: Owner, signer: bytes, own: str) -> str:
    facts = [
        *(["primary"] if owner.is_primary else []),
        *([own] if owner.signer == signer else []),
        *([f"until {utc_text(owner.expiry)}"] if owner.expiry else []),
    ]
    return f"owner {signer_text(owner.signer)}" + (f" ({', '.join(facts)})" if facts else "")
