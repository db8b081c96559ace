"""The program in docs/local-world.md runs."""

import re
from pathlib import Path

from tests.support.availability import needs_chain

PAGE = (Path(__file__).parents[2] / "docs" / "local-world.md").read_text()


@needs_chain
async def test_the_example_registers(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    [program] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    exec(compile(program, "docs/local-world.md", "exec"), names)
    assert await names["register"]("reader") > 0


def test_every_option_is_documented():
    from typer.main import get_command

    from holdfast.cli.dev import app

    options = {name for parameter in get_command(app).params for name in parameter.opts if name.startswith("--")}
    assert {name for name in options if name not in PAGE} == set()
