"""Variables that look like settings but are none are named, and the list of names is complete."""

import re
from pathlib import Path

from holdfast.indexer.settings import ROWS as INDEXER_ROWS
from holdfast.service.settings.rows import ROWS
from holdfast.service.settings.unknown import KNOWN, OTHERS, unknown_settings

SOURCE = Path(__file__).resolve().parents[3] / "src" / "holdfast"


def test_every_variable_that_the_package_reads_is_known():
    found = {
        name
        for file in SOURCE.rglob("*.py")
        for name in re.findall(r'"(HOLDFAST_[A-Z0-9_]*[A-Z0-9])"', file.read_text("utf-8"))
    }
    assert found - KNOWN == set()
    assert {row.name for row in INDEXER_ROWS} <= OTHERS
    assert OTHERS - {row.name for row in INDEXER_ROWS} <= found
    assert not OTHERS & {row.name for row in ROWS}


def test_an_unknown_name_is_told_without_its_value():
    given = {"HOLDFAST_PROT": "hunter2", "HOLDFAST_ZZZZ": "hunter2", "HOLDFAST_PORT": "1", "HOLDFAST_VAULT_DIR": "/x"}
    near, far = unknown_settings(given | {"OTHER": "1"})
    assert near == "HOLDFAST_PROT: no setting has this name, so it has no effect; did you mean HOLDFAST_PORT?"
    assert far == "HOLDFAST_ZZZZ: no setting has this name, so it has no effect"


def test_an_unprintable_name_is_escaped():
    [told] = unknown_settings({"HOLDFAST_\x1b[2J": ""})
    assert "\x1b" not in told
