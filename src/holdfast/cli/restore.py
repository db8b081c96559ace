"""holdfast restore."""

from holdfast.cli.database import restore_app as app

__all__ = ["app"]
