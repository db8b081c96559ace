"""The lists that the indexer serves, with their filters in SQL. Each combination of filters is built once and cached.

All SQL here consists of constants from this module. A caller's input is always passed as a bound value.
"""
# ruff: noqa: S608 - see above

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from holdfast.indexer.rows import AccountRow, DidRow, Event

_ALIAS_COLUMNS = "a.alias_hash, a.did_hash, a.active, a.block_number, a.log_index, d.controller"
_ALIAS_TABLES = "aliases a LEFT JOIN dids d ON d.did_hash = a.did_hash"
_CONTROLLER_OF_DID = "SELECT controller FROM dids WHERE did_hash = ?"
_DID_OF_ALIAS = "SELECT did_hash FROM aliases WHERE alias_hash = ?"
_CONTROLLER_OF_ALIAS = f"SELECT controller FROM dids WHERE did_hash IN ({_DID_OF_ALIAS})"
_DIDS_OF_CONTROLLER = "SELECT did_hash FROM dids WHERE controller = ?"
_ACCOUNTS_OF_OWNER = "SELECT account_address FROM accounts WHERE owner_address = ?"
_ACCOUNTS_OF_KEY = (
    "SELECT o.account_address FROM owners o CROSS JOIN accounts k"
    " ON k.account_address = o.account_address AND k.generation = o.generation WHERE o.key_owner = ?"
)


class ListSpec(NamedTuple):
    """A list that can be queried: its SELECT, its order, and the SQL condition of each filter."""

    select: str
    order: tuple[str, str]
    filters: dict[str, str]


LISTS: dict[str, ListSpec] = {
    "dids": ListSpec(
        f"SELECT {', '.join(DidRow._fields)} FROM dids",
        ("block_number", "log_index"),
        {
            "did": "did_hash = ?",
            "controller": "controller = ?",
            "alias": f"did_hash IN ({_DID_OF_ALIAS})",
            "owner": f"controller IN ({_ACCOUNTS_OF_OWNER})",
            "key_owner": f"controller IN ({_ACCOUNTS_OF_KEY})",
            "active": "active = ?",
        },
    ),
    "aliases": ListSpec(
        f"SELECT {_ALIAS_COLUMNS} FROM {_ALIAS_TABLES}",
        ("a.block_number", "a.log_index"),
        {
            "did": "a.did_hash = ?",
            "controller": f"a.did_hash IN ({_DIDS_OF_CONTROLLER})",
            "alias": "a.alias_hash = ?",
            "owner": f"a.did_hash IN (SELECT did_hash FROM dids WHERE controller IN ({_ACCOUNTS_OF_OWNER}))",
            "key_owner": f"a.did_hash IN (SELECT did_hash FROM dids WHERE controller IN ({_ACCOUNTS_OF_KEY}))",
            "active": "a.active = ?",
        },
    ),
    "accounts": ListSpec(
        f"SELECT {', '.join(AccountRow._fields)} FROM accounts",
        ("block_number", "log_index"),
        {
            "did": f"account_address IN ({_CONTROLLER_OF_DID})",
            "controller": "account_address = ?",
            "alias": f"account_address IN ({_CONTROLLER_OF_ALIAS})",
            "owner": "owner_address = ?",
            "key_owner": f"account_address IN ({_ACCOUNTS_OF_KEY})",
            # As the subquery is correlated, a page reads accounts in order instead of first collecting all active DIDs.
            "active": "EXISTS (SELECT 1 FROM dids d WHERE d.controller = account_address AND +d.active = ?)",
        },
    ),
    "events": ListSpec(
        f"SELECT {', '.join(Event._fields)} FROM events",
        ("block_number", "log_index"),
        {
            "did": "did_hash = ?",
            "controller": "controller = ?",
            "alias": "alias_hash = ?",
            "owner": "owner_address = ?",
            "key_owner": "key_owner = ?",
            "account": "account_address = ?",
            "kind": "kind = ?",
            "active": "active = ?",
        },
    ),
}

# Few DIDs are inactive, so a page that read the accounts in order would have to skip nearly all accounts.
_OF_INACTIVE = "account_address IN (SELECT controller FROM dids WHERE active = ?)"

# Filters that match many rows, least selective first. If a query has a more selective filter, that filter's index is
# better. SQLite's planner has no statistics that show this, so a unary plus disables the less selective filter's index.
_WEAK = ("active", "kind")

ALIAS_BY_HASH = f"{LISTS['aliases'].select} WHERE a.alias_hash = ?"
STATS = (
    "SELECT coalesce(t.dids, 0), coalesce(t.active_dids, 0), coalesce(t.aliases, 0), coalesce(t.accounts, 0),"
    " (SELECT max(number) FROM blocks) FROM (SELECT 1 AS one) AS o LEFT JOIN totals t ON true"
)

# What `active` is in all events of a kind. In those of _CHANGES_ACTIVE it differs, and those of other kinds have none.
_ACTIVE: dict[object, int] = {"DidRegistered": 1, "AliasRegistered": 1}
_CHANGES_ACTIVE = frozenset({"DidStatusChanged", "AliasStatusChanged"})

Value = bytes | int | str


class ListQuery(NamedTuple):
    """A request for a page of a list: filters with their values, block range, starting place and size."""

    name: str
    filters: tuple[tuple[str, Value], ...] = ()
    from_block: int | None = None
    to_block: int | None = None
    after: tuple[int, int] | None = None
    limit: int = 50

    def statement(self) -> tuple[str, list[Value]]:
        """Return the SQL text and its values."""
        bounds = (self.from_block is not None, self.to_block is not None, self.after is not None)
        inactive = self.name == "accounts" and ("active", 0) in self.filters
        text = _text(self.name, tuple(name for name, _ in self.filters), bounds, inactive)
        values = [value for _, value in self.filters]
        values += [bound for bound in (self.from_block, self.to_block) if bound is not None]
        return text, [*values, *(self.after or ()), self.limit]


def decided(query: ListQuery) -> ListQuery | None:
    """Return a query for events without a filter `active` that `kind` decides; None if no event passes both.

    Otherwise it would read all events of the kind, which can be as many as there are DIDs.
    """
    filters = dict(query.filters)
    kind, active = filters.get("kind"), filters.pop("active", None)
    if kind is None or active is None or kind in _CHANGES_ACTIVE:
        return query
    return query._replace(filters=tuple(filters.items())) if active == _ACTIVE.get(kind) else None


@cache
def _text(
    name: str,
    filters: tuple[str, ...],
    bounds: tuple[bool, bool, bool],
    inactive: bool,  # noqa: FBT001 - part of the cache's key
) -> str:
    spec = LISTS[name]
    block, index = spec.order
    conditions = [_OF_INACTIVE if inactive and key == "active" else _condition(spec, key, filters) for key in filters]
    ranges = (f"{block} >= ?", f"{block} <= ?", f"({block}, {index}) > (?, ?)")
    conditions += [text for text, wanted in zip(ranges, bounds, strict=True) if wanted]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"{spec.select}{where} ORDER BY {block}, {index} LIMIT ?"


def _condition(spec: ListSpec, key: str, filters: tuple[str, ...]) -> str:
    condition = spec.filters[key]
    if key not in _WEAK or condition.startswith("EXISTS"):
        return condition
    weaker = _WEAK[: _WEAK.index(key) + 1]
    return f"+{condition}" if any(other not in weaker for other in filters) else condition
