"""A provider's complaint about its setting names that setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

from holdfast.settings.rows import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


def named_setting(name: str, make: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Return what `make` returns. If `make` raises ValueError, raise SettingError with the setting's name."""
    try:
        return make(*arguments, **options)
    except ValueError as error:
        message = str(error)
        raise SettingError(message if message.startswith("HOLDFAST_") else f"{name}: {message}") from error
