"""One setting is one row; a table of rows and an environment give checked values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class SettingError(Exception):
    """A setting is missing, malformed or refused; the message names it and what to do, never its value."""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting.

    Attributes:
        name: environment variable.
        default: text, or what computes it from the settings read before, or None for "not set".
        parse: text to value; raises ValueError with a sentence that does not repeat the text.
        about: one line for people.
        secret: masked wherever it is shown.
    """

    name: str
    default: str | Callable[[Mapping[str, Any]], str] | None
    parse: Callable[[str], Any]
    about: str
    secret: bool = False

    @property
    def field(self) -> str:
        """The value's name in code."""
        return self.name.removeprefix("HOLDFAST_").lower()

    def default_of(self, values: Mapping[str, Any]) -> str | None:
        """The default's text, given what was read so far. Raises ValueError where it cannot be computed."""
        return self.default(values) if callable(self.default) else self.default

    def read(self, environment: Mapping[str, str], values: Mapping[str, Any]) -> Any:
        """The checked value; an empty variable counts as not set. Raises SettingError."""
        try:
            text = environment.get(self.name) or self.default_of(values)
            return None if text is None else self.parse(text)
        except ValueError as error:
            raise SettingError(f"{self.name}: {error}") from None


def read_rows(rows: Iterable[SettingRow], environment: Mapping[str, str]) -> dict[str, Any]:
    """Every row's value by its field, read in order. Raises SettingError for the first that cannot be read."""
    values: dict[str, Any] = {}
    for row in rows:
        values[row.field] = row.read(environment, values)
    return values
