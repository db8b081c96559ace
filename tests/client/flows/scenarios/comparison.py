"""Compares what a player reports with what a scenario expects."""

_LOOK = "bundler eth_getUserOperationReceipt"


def differences(scenario, played):
    """Return how the outcomes of a scenario's events differ from the expected ones, one sentence for each."""
    if not isinstance(played, list):
        return [f"the player failed: {played}"]
    expected = [event["expect"] for event in scenario["events"]] if "events" in scenario else [scenario["expect"]]
    if "kill" in scenario:
        expected = _with_a_kill(scenario, expected)
    if len(played) != len(expected):
        return [f"{len(played)} outcomes instead of {len(expected)}"]
    pairs = enumerate(zip(expected, played, strict=True), 1)
    return [f"event {at}: {told}" for at, (wanted, outcome) in pairs for told in _of_event(wanted, outcome)]


def _with_a_kill(scenario, expected):
    """Return what a scenario expects whose host is killed: the effects up to then, and the same end after a new start."""
    at, number = scenario["kill"]
    whole = expected[at]
    effect = whole["effects"][number - 1]
    again = {name: value for name, value in whole.items() if name not in {"effects", "message"}}
    again |= scenario.get("again", {}).get(effect, {})
    return [*expected[:at], {"effects": whole["effects"][:number], "error": "killed"}, again, *expected[at + 1 :]]


def _of_event(wanted, outcome):
    told = []
    for name, value in {"error": None, **wanted}.items():
        found = _effects(outcome["effects"]) if name == "effects" else outcome.get(name)
        if name in {"state", "result"} and isinstance(found, dict) and isinstance(value, dict):
            found = {field: found.get(field) for field in value}
        if found != value:
            told.append(f"{name} is {found!r} instead of {value!r}")
    return told


def _effects(effects):
    """Return the effects without the repeated requests for one receipt and the waiting times after them."""
    kept = []
    for effect in effects:
        last = kept[-1] if kept else ""
        if not (last.startswith(_LOOK) and (effect == last or effect.startswith("wait"))):
            kept.append(effect)
    return kept


def between_clients(here, there):
    """Return how the outcomes of the two clients differ, in all that both report."""
    if not isinstance(here, list) or not isinstance(there, list):
        return [f"a player failed: {here} / {there}"]
    told = []
    for at, (ours, theirs) in enumerate(zip(here, there, strict=True), 1):
        # Each platform says in its own words why a server could not be reached.
        unreached = {"message"} if ours.get("error") == theirs.get("error") == "NetworkError" else set()
        for name in (ours.keys() & theirs.keys()) - unreached:
            one, other = (_comparable(name, it[name]) for it in (ours, theirs))
            if isinstance(one, dict) and isinstance(other, dict):
                shared = one.keys() & other.keys()
                one, other = ({field: it[field] for field in shared} for it in (one, other))
            if one != other:
                told.append(f"event {at}: {name} is {one!r} in Python and {other!r} in JavaScript")
    return told


def _comparable(name, value):
    return _effects(value) if name == "effects" else value
