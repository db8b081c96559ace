"""Write rules/unicode_tables.py, the tables of confusables and scripts, from the ICU library in the package icu4py."""

from __future__ import annotations

import ctypes
import re
import sys
import textwrap
from importlib import metadata
from itertools import groupby
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "src/holdfast/rules/unicode_tables.py"
_SURROGATES = range(0xD800, 0xE000)
_EMPTY_PLANES = (*range(4, 14), 15, 16)  # no characters, or only private ones, which have neither script nor prototype
_CODE_POINTS = [
    point for point in range(sys.maxunicode + 1) if point not in _SURROGATES and point >> 16 not in _EMPTY_PLANES
]
_ROOM = 400  # UTF-16 code units; no result for a single character is longer
_SMALL_CAPITAL = re.compile(r"LATIN LETTER SMALL CAPITAL ([A-Z])")
_NO_SCRIPT = frozenset({"COMMON", "INHERITED", "UNKNOWN"})


class Icu:
    """Wraps the ICU functions that are needed, whose names end with ICU's major version."""

    def __init__(self) -> None:
        files = {file.name.partition("-")[0]: file for file in metadata.files("icu4py") or () if "libicu" in file.name}
        libraries = {
            name: ctypes.CDLL(str(files[name].locate()), ctypes.RTLD_GLOBAL)
            for name in ("libicudata", "libicuuc", "libicui18n")
        }
        found = re.search(r"(\d+)\.\d+$", files["libicuuc"].name)
        assert found
        self.version, self._major = found[0], found[1]
        self._common, self._i18n = libraries["libicuuc"], libraries["libicui18n"]
        self._checker = self._pointer(self._i18n, "uspoof_open")
        self._decomposer = self._pointer(self._common, "unorm2_getNFDInstance")

    def unicode_version(self) -> str:
        """Return the Unicode version, such as "17.0.0"."""
        parts = (ctypes.c_uint8 * 4)()
        self._function(self._common, "u_getUnicodeVersion")(parts)
        return ".".join(str(part) for part in parts[:3])

    def skeleton(self, text: str) -> str:
        """Return the text's skeleton, as defined in UTS #39, section 4."""
        return self._text(self._function(self._i18n, "uspoof_getSkeleton"), self._checker, text, 0)

    def decomposed(self, text: str) -> str:
        """Return the text in NFD."""
        return self._text(self._function(self._common, "unorm2_normalize"), self._decomposer, text)

    def script(self, point: int) -> str:
        """Return the long name of a code point's Script property, in upper case."""
        status = ctypes.c_int(0)
        code = self._function(self._common, "uscript_getScript")(point, ctypes.byref(status))
        name = self._function(self._common, "uscript_getName", ctypes.c_char_p)(code)
        return str(name.decode()).upper()

    def name(self, point: int) -> str:
        """Return a code point's name, which is empty for one without a name."""
        made, status = ctypes.create_string_buffer(_ROOM), ctypes.c_int(0)
        self._function(self._common, "u_charName")(point, 0, made, _ROOM, ctypes.byref(status))
        assert status.value <= 0, f"{point:x}: {status.value}"
        return made.value.decode("ascii")

    def _function(self, library: ctypes.CDLL, name: str, answers: Any = ctypes.c_int) -> Any:
        function = getattr(library, f"{name}_{self._major}")
        function.restype = answers
        return function

    def _pointer(self, library: ctypes.CDLL, name: str) -> ctypes.c_void_p:
        status = ctypes.c_int(0)
        pointer = ctypes.c_void_p(self._function(library, name, ctypes.c_void_p)(ctypes.byref(status)))
        assert status.value <= 0, f"{name}: {status.value}"
        return pointer

    @staticmethod
    def _text(function: Any, handle: ctypes.c_void_p, text: str, *first: int) -> str:
        given, made, status = text.encode("utf-16-le"), ctypes.create_string_buffer(2 * _ROOM), ctypes.c_int(0)
        length = function(handle, *first, given, len(given) // 2, made, _ROOM, ctypes.byref(status))
        assert status.value <= 0, f"{text!r}: {status.value}"
        return made.raw[: 2 * length].decode("utf-16-le")


def source(icu: Icu) -> str:
    """Return the module's text."""
    about = (
        f'"""Unicode {icu.unicode_version()}: confusables (TR39) and scripts (UAX 24).\n\n'
        f"Written by `tools/unicode_tables.py` from ICU {icu.version}; not edited by hand.\n"
        "Copyright 1991-2025 Unicode, Inc., under https://www.unicode.org/license.txt (Unicode-3.0).\n"
        '"""\n\nfrom __future__ import annotations\n\n'
    )
    prototypes = "# A character and its prototype, as hex code points; a character without one is ignored.\n" + _block(
        "PROTOTYPES", _prototypes(icu)
    )
    scripts = "# A script and its first and last code points in hex.\n" + _block("SCRIPTS", _scripts(icu))
    capitals = "# A Latin small capital and the letter that it is read as, as hex code points.\n" + _block(
        "SMALL_CAPITALS", _small_capitals(icu)
    )
    return about + prototypes + "\n" + scripts + "\n" + capitals


def _prototypes(icu: Icu) -> list[str]:
    """Return the prototypes of characters that NFD leaves unchanged; others are decomposed before the look-up."""
    pairs = ((point, icu.skeleton(chr(point))) for point in _CODE_POINTS if icu.decomposed(chr(point)) == chr(point))
    return [
        ":".join([f"{point:x}", *(f"{ord(c):x}" for c in skeleton)])
        for point, skeleton in pairs
        if skeleton != chr(point)
    ]


def _small_capitals(icu: Icu) -> list[str]:
    named = ((point, _SMALL_CAPITAL.fullmatch(icu.name(point))) for point in _CODE_POINTS)
    return [f"{point:x}:{ord(match[1].lower()):x}" for point, match in named if match]


def _scripts(icu: Icu) -> list[str]:
    rows = []
    for script, group in groupby(_CODE_POINTS, icu.script):
        points = list(group)
        if script not in _NO_SCRIPT:
            rows.append(f"{script}:{points[0]:x}:{points[-1]:x}")
    return rows


def _block(name: str, rows: list[str]) -> str:
    text = "\n".join(textwrap.wrap(" ".join(rows), 118, break_long_words=False, break_on_hyphens=False))
    return f'{name} = """\n{text}\n"""\n'


if __name__ == "__main__":
    from generated import run

    sys.exit(run(lambda: {FILE: source(Icu())}))
