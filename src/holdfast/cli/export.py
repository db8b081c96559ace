"""holdfast export."""

from holdfast.cli.database import export_app as app

__all__ = ["app"]
