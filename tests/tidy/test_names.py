"""No identifier is one of the words that once meant ten things each: names say of what (docs/glossary.md)."""

import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RETIRED = re.compile(r"\b_*(places?|asked|kept|told)_*\b", re.IGNORECASE)
WORD = r"(?:[pP]lace|[aA]sked|[kK]ept|[tT]old|KEPT|PLACE|ASKED)"
DECLARED = re.compile(
    rf"\b(?:const|let|var|class|function)\s+{WORD}\b"  # a variable, class or function
    rf"|#{WORD}\b"  # a private field or method
    rf"|(?:[({{,;]|^|\*/)\s*{WORD}\??: [\w{{(\[]"  # a parameter, or a member of a type
)


def test_no_name_of_python_is_a_retired_word():
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        if not RETIRED.search(path.read_text("utf-8")):
            continue  # no token has to be looked at
        with path.open("rb") as source:
            found += [
                f"{path.relative_to(ROOT)}:{token.start[0]}: {token.string}"
                for token in tokenize.tokenize(source.readline)
                if token.type == tokenize.NAME and RETIRED.fullmatch(token.string)
            ]
    assert not found, "\n".join(found)


def test_no_declaration_of_javascript_is_a_retired_word():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / "browser" / "src").rglob("*.ts"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if DECLARED.search(line)
    ]
    assert not found, "\n".join(found)
