"""The examples in docs/client.md run unchanged on a real chain."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/client.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def test_every_example_runs(chain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, block in enumerate(BLOCKS):
        text = block.replace("http://localhost:8787", chain.base_url.replace("127.0.0.1", "localhost"))
        exec(compile(text.replace(USDC, chain.usdc), f"docs/client.md, example {number + 1}", "exec"), names)
        if "client.register(handle" in block:
            chain.give(names["registration"].smart_account, 1_000_000)
    assert chain.usdc_of(PAYEE) == 250_000 + 100


USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
PAYEE = "0x00000000000000000000000000000000000000A1"
