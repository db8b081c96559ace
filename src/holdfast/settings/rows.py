"""The rows that describe settings, and the function that reads an environment into checked values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class SettingError(Exception):
    """A setting is missing, malformed or refused.

    The message contains the setting's name and the remedy, but never the value.
    """


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting.

    Attributes:
        name: environment variable.
        default: text, or a function of the settings read before, or None for "not set".
        parse: converts text to value; raises ValueError with a sentence that does not quote the text.
        fits: raises ValueError unless the value goes with the settings read before.
        about: one line for people.
        secret: whether it is masked when shown.
    """

    name: str
    default: str | Callable[[Mapping[str, Any]], str | None] | None
    parse: Callable[[str], Any]
    about: str
    secret: bool = False
    fits: Callable[[Any, Mapping[str, Any]], None] | None = None

    @property
    def field(self) -> str:
        """The name of the field that contains the value."""
        return self.name.removeprefix("HOLDFAST_").lower()

    def default_of(self, values: Mapping[str, object]) -> str | None:
        """Return the default as text; it may depend on the values read so far.

        Raises ValueError if it cannot be computed.
        """
        return self.default(values) if callable(self.default) else self.default

    def read(self, environment: Mapping[str, str], values: Mapping[str, object]) -> object:
        """Return the checked value. An empty variable counts as not set. Raises SettingError."""
        try:
            text = bare(environment.get(self.name, "")) or self.default_of(values)
            value = None if text is None else self.parse(text)
            if self.fits is not None:
                self.fits(value, values)
        except ValueError as error:
            raise SettingError(f"{self.name}: {error}") from None
        return value


def bare(text: str) -> str:
    """Return the text. Raises ValueError if white space or quotation marks stand around it.

    Containers leave in the value what is written around it in their env files and secrets.
    """
    if text != text.strip():
        raise ValueError("remove the white space before or after the value")
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        raise ValueError("remove the quotation marks around the value")
    return text


def read_rows(rows: Iterable[SettingRow], environment: Mapping[str, str]) -> dict[str, Any]:
    """Read the rows in order and return the values by field name. Raises SettingError for the first invalid setting."""
    values: dict[str, Any] = {}
    for row in rows:
        values[row.field] = row.read(environment, values)
    return values
