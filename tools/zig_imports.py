"""Checks the enclave's rules that `zig fmt` does not: imports, and lines of at most 120 characters.

No import may be circular, from a higher layer or unused. `tools/zig_imports.py` reads enclave/src and prints what
breaks these rules; it then exits with 1.
"""

from __future__ import annotations

import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCES = Path(__file__).resolve().parent.parent / "enclave" / "src"

# The folders of each layer, from the highest to the lowest. A file may import files from its own folder and from lower
# layers; folders in the same layer must not import each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    (".",),  # the compiler's roots: root.zig, enclave.zig, fast.zig, unit_test.zig
    ("entry",),
    ("functions",),
    ("actions",),
    ("vault",),
    ("chains",),
    ("call",),
    ("pairing", "storage", "ucan", "webauthn"),
    ("codec", "crypto"),
    ("platform",),
)
LEVELS = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
# Lines of a multiline string are data: a break would be part of it.
LONGEST = 120
LONG = re.compile(rf"(?! *\\\\).{{{LONGEST + 1},}}")
IMPORT = re.compile(r'(?:const (\w+) = )?@import\("([^"]+)"\)')

Graph = dict[str, dict[str, str | None]]


def main() -> int:
    """Print all violations of the rules, and return 0 if none exists."""
    found = violations(graph(SOURCES)) + unused(SOURCES) + long_lines(SOURCES)
    print("\n".join(found) or f"{len(graph(SOURCES))} files, no circle, no upward import")
    return 1 if found else 0


def graph(sources: Path) -> Graph:
    """Return the imports of each Zig file below `sources`: the imported files, with the names given to them."""
    return {file.relative_to(sources).as_posix(): imports(sources, file) for file in sorted(sources.rglob("*.zig"))}


def imports(sources: Path, file: Path) -> dict[str, str | None]:
    """Return the Zig files that one file imports, as paths below `sources`; `std` and other modules are omitted."""
    named = [(name or None, target) for name, target in IMPORT.findall(file.read_text()) if target.endswith(".zig")]
    base = sources.resolve()
    return {(file.parent / target).resolve().relative_to(base).as_posix(): name for name, target in named}


def violations(files: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Return messages about folders without a layer or, without any, about forbidden imports and a cycle."""
    rooms = sorted({room(file) for file in files} - LEVELS.keys())
    unknown = [f"{each}/ has no layer: add it to LAYERS in tools/zig_imports.py" for each in rooms]
    return unknown or [*_upward(files), *_circle(files)]


def room(file: str) -> str:
    """Return a file's folder, or `.` for a file directly in the sources."""
    return file.split("/", maxsplit=1)[0] if "/" in file else "."


def _upward(files: Mapping[str, Mapping[str, object]]) -> list[str]:
    pairs = [(file, target) for file, targets in files.items() for target in targets if room(file) != room(target)]
    return [f"{file} imports {target}, which is not lower" for file, target in pairs if not _lower(target, file)]


def _lower(target: str, file: str) -> bool:
    return LEVELS[room(target)] > LEVELS[room(file)]


def _circle(files: Mapping[str, Mapping[str, object]]) -> list[str]:
    try:
        TopologicalSorter(files).prepare()
    except CycleError as error:
        return ["a circle: " + " <- ".join(error.args[1])]
    return []


def unused(sources: Path) -> list[str]:
    """Return a message for each import whose name the rest of the file does not use; `pub` names count as used."""
    return [
        f"{file.relative_to(sources).as_posix()} imports {name} and does not use it"
        for file in sorted(sources.rglob("*.zig"))
        for name in _unused_names(file.read_text())
    ]


def long_lines(sources: Path) -> list[str]:
    """Return a message for each line of more than 120 characters, except in multiline strings."""
    return [
        f"{file.relative_to(sources).as_posix()}:{number} has more than {LONGEST} characters"
        for file in sorted(sources.rglob("*.zig"))
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if LONG.match(line)
    ]


def _unused_names(text: str) -> list[str]:
    names = re.findall(r'^const (\w+) = @import\("[^"]+"\)', text, re.MULTILINE)
    code = re.sub(r'//.*|"(?:[^"\\]|\\.)*"', "", text)
    return [name for name in names if len(re.findall(rf"\b{name}\b", code)) == 1]


if __name__ == "__main__":
    sys.exit(main())
